// Rows picked by number, and the KV cache.
#include "ir/infer/rules.h"
#include "ir/value_rules.h"

namespace atb::infer_rules {

Inferred inferEmbedding(const NoAttrs&, Operands in) {
  const Value &table = *in[0], &ids = *in[1];
  const bool blocks = dtype_info(table.dtype).quantized;
  if (!blocks) need_floating(table, "table");
  need(table.shape.size() == 2, "table is " + describe(table) + ", expected a matrix");
  need_integer(ids, "ids");
  Shape shape = ids.shape;
  shape.push_back(table.shape[1]);
  return {blocks ? DType::kF32 : table.dtype, shape};
}

Inferred inferTakeRows(const NoAttrs&, Operands in) {
  const Value &x = *in[0], &indices = *in[1];
  need(!dtype_info(x.dtype).quantized, "x is " + describe(x) + "; rows of a block format are taken by embedding");
  need_rank(x, "x", 2);
  need_integer(indices, "indices");
  need(indices.shape.size() == 1, "indices are " + describe(indices) + ", expected one dimension");
  Shape shape = x.shape;
  shape[shape.size() - 2] = indices.shape[0];
  return {x.dtype, shape};
}

Inferred inferKvAppend(const NoAttrs&, Operands in) {
  const Value &state = *in[0], &x = *in[1];
  if (state.kind != ValueKind::kState) refuse("the first input is " + describe(state) + ", expected a state");
  need_floating(state, "state");
  need_floating(x, "x");
  need_rank(x, "x", 1);
  const Shape state_row(state.shape.begin() + 1, state.shape.end()), row(x.shape.begin() + 1, x.shape.end());
  if (state_row != row) refuse("rows differ: " + describe(state) + ", " + describe(x));
  Shape shape = state.shape;
  shape[0] = shape[0] + x.shape[0];
  return {state.dtype, shape};
}

}  // namespace atb::infer_rules
