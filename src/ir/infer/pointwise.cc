// Element by element, with broadcasting.
#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {
namespace {

// A constant takes the dtype of the other operand; two other values need the same dtype.
DType common_dtype(const Value& a, const Value& b) {
  if (a.kind == ValueKind::kConstant) return b.dtype;
  if (b.kind != ValueKind::kConstant) need_same_dtype(a, b);
  return a.dtype;
}

void need_number(const Value& value) {
  if (dtype_info(value.dtype).quantized || value.dtype == DType::kBool)
    refuse("cannot compute with " + describe(value), "insert a cast");
}

Inferred binary(const Value& a, const Value& b) {
  need_number(a);
  need_number(b);
  return {common_dtype(a, b), broadcast(a, b)};
}

Inferred same_floating(const Value& x) {
  need_floating(x, "x");
  return {x.dtype, x.shape};
}

}  // namespace

Inferred inferAdd(const NoAttrs&, Operands in) { return binary(*in[0], *in[1]); }
Inferred inferMul(const NoAttrs&, Operands in) { return binary(*in[0], *in[1]); }
Inferred inferBinary(const BinaryAttrs&, Operands in) { return binary(*in[0], *in[1]); }
Inferred inferUnary(const UnaryAttrs&, Operands in) { return same_floating(*in[0]); }
Inferred inferActivation(const ActivationAttrs&, Operands in) { return same_floating(*in[0]); }

Inferred inferCast(const CastAttrs& attrs, Operands in) {
  if (dtype_info(attrs.dtype).quantized) refuse("the target must be a plain dtype");
  return {attrs.dtype, in[0]->shape};
}

Inferred inferWhere(const NoAttrs&, Operands in) {
  const Value &condition = *in[0], &a = *in[1], &b = *in[2];
  if (condition.dtype != DType::kBool) refuse("condition is " + describe(condition) + ", expected bool");
  Value chosen = a;
  chosen.dtype = common_dtype(a, b);
  if (dtype_info(chosen.dtype).quantized) refuse("cannot choose from block formats", "insert a cast");
  chosen.shape = broadcast(a, b);
  return {chosen.dtype, broadcast(condition, chosen)};
}

}  // namespace atb::infer_rules
