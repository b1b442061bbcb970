// Row-wise operators: the result has the shape and dtype of x.
#include <cmath>

#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

// A norm must not grow x: only the last axis of a weight may be longer than 1, and then it is the last axis of x.
void check_weight(const Value& weight, const Value& x, const char* role) {
  need_floating(weight, role);
  Shape row(x.shape.size(), 1);
  row.back() = x.shape.back();
  if (!broadcasts_to(weight.shape, row))
    refuse(std::string(role) + " " + describe(weight) + " does not fit the last axis of " + describe(x));
}

Inferred norm(float eps, Operands in) {
  const Value& x = *in[0];
  need_floating(x, "x");
  need_rank(x, "x", 1);
  need(std::isfinite(eps) && eps >= 0, "eps must be a number >= 0");
  check_weight(*in[1], x, "weight");
  if (in.size() > 2) check_weight(*in[2], x, "bias");
  return {x.dtype, x.shape};
}

}  // namespace

Inferred inferLayerNorm(const LayerNormAttrs& attrs, Operands in) { return norm(attrs.eps, in); }

Inferred inferRmsNorm(const RmsNormAttrs& attrs, Operands in) { return norm(attrs.eps, in); }

Inferred inferSoftmax(const NoAttrs&, Operands in) {
  need_floating(*in[0], "x");
  need_rank(*in[0], "x", 1);
  return {in[0]->dtype, in[0]->shape};
}

Inferred inferQuantize(const QuantizeAttrs& attrs, Operands in) {
  const Value& x = *in[0];
  need_floating(x, "x");
  need_rank(x, "x", 1);
  need(attrs.group >= 0, "group must be >= 0");
  const Dim& row = x.shape.back();
  const bool whole = attrs.group == 0 || (row.is_constant() && row.constant() % attrs.group == 0);
  if (!whole) refuse("the rows of " + describe(x) + " are no whole number of groups of " + std::to_string(attrs.group));
  return {x.dtype, x.shape};
}

}  // namespace atb::infer_rules
