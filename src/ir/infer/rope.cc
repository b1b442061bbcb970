#include <cmath>

#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

bool positive(double value) { return std::isfinite(value) && value > 0; }

void check_scaling(const RopeAttrs& a) {
  need(positive(a.theta), "theta must be a number > 0");
  need(a.attention_factor >= 0 && std::isfinite(a.attention_factor), "attention_factor must be a number >= 0");
  if (a.scaling == RopeScaling::kNone) return;
  need(positive(a.factor), "factor must be a number > 0");
  if (a.scaling == RopeScaling::kLinear) return;
  need(a.original_context > 0, "this scaling needs original_context > 0");
  if (a.scaling == RopeScaling::kLlama3) {
    need(positive(a.low_freq_factor) && positive(a.high_freq_factor) && a.low_freq_factor != a.high_freq_factor,
         "low_freq_factor and high_freq_factor must be different numbers > 0");
  } else {
    need(positive(a.beta_fast) && positive(a.beta_slow), "beta_fast and beta_slow must be numbers > 0");
    need(a.theta > 1, "YaRN needs theta > 1");
  }
}

void check_head(const RopeAttrs& a, const Value& x) {
  need(a.head_dim > 0, "head_dim must be > 0");
  if (a.rotary_dim <= 0 || a.rotary_dim > a.head_dim || a.rotary_dim % 2 != 0)
    refuse("rotary_dim = " + std::to_string(a.rotary_dim), "it must be even, > 0 and <= head_dim");
  if (!x.shape.back().is_constant() || x.shape.back().constant() % a.head_dim != 0)
    refuse("the features of " + describe(x) + " are no multiple of head_dim = " + std::to_string(a.head_dim));
}

// cos and sin: one row of rotary_dim numbers for each row of x.
void check_tables(const RopeAttrs& attrs, Operands in) {
  need(in.size() == 3, "tables = true needs cos and sin");
  Shape rows = leading(*in[0], 1);
  rows.emplace_back(attrs.rotary_dim);
  for (const Value* table : in.subspan(1)) {
    need_floating(*table, "cos or sin");
    if (table->shape.size() < 2 || table->shape.back() != rows.back() || !broadcasts_to(table->shape, rows))
      refuse("the table " + describe(*table) + " does not broadcast to " + to_string(rows));
  }
}

}  // namespace

Inferred inferRope(const RopeAttrs& attrs, Operands in) {
  const Value &x = *in[0], &positions = *in[1];
  need_floating(x, "x");
  need_rank(x, "x", 2);
  check_head(attrs, x);
  if (attrs.tables) {
    check_tables(attrs, in);
    return {x.dtype, x.shape};
  }
  need_integer(positions, "positions");
  check_scaling(attrs);
  const Shape rows = leading(x, 1);
  if (positions.shape != rows && positions.shape != Shape{rows.back()})
    refuse("positions " + describe(positions) + " do not fit the rows of " + describe(x));
  if (in.size() > 2) {
    need_floating(*in[2], "frequency divisors");
    if (in[2]->shape != Shape{attrs.rotary_dim / 2})
      refuse("frequency divisors " + describe(*in[2]) + " are not [rotary_dim/2]");
  }
  return {x.dtype, x.shape};
}

}  // namespace atb::infer_rules
