#include "ir/infer.h"

#include "ir/infer/rules.h"

namespace atb {
namespace {

using infer_rules::Operands;
using InferFn = Inferred (*)(const Attrs&, Operands);

template <class A, Inferred (*F)(const A&, Operands)>
Inferred call(const Attrs& attrs, Operands operands) {
  const A* typed = std::get_if<A>(&attrs);
  infer_rules::need(typed, "the attributes are another operator's");
  return F(*typed, operands);
}

constexpr InferFn kInfer[] = {
#define ATB_OP(id, name, attrs, min_inputs, max_inputs, kind) call<attrs, infer_rules::infer##id>,
#include <atb/ops.inc>
#undef ATB_OP
};

void check_arity(const OpInfo& info, size_t found) {
  const auto count = static_cast<int>(found);
  if (count >= info.min_inputs && (info.max_inputs < 0 || count <= info.max_inputs)) return;
  std::string expected = std::to_string(info.min_inputs);
  if (info.max_inputs < 0) expected += " or more";
  if (info.max_inputs > info.min_inputs) expected += " to " + std::to_string(info.max_inputs);
  infer_rules::refuse("has " + std::to_string(count) + " inputs, expected " + expected);
}

}  // namespace

Inferred infer(Op op, const Attrs& attrs, std::span<const Value* const> inputs) {
  check_arity(op_info(op), inputs.size());
  return kInfer[static_cast<size_t>(op)](attrs, inputs);
}

}  // namespace atb
