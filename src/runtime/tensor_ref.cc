#include "runtime/tensor_ref.h"

#include <atb/error.h>

namespace atb {

Extents dense_strides(const Extents& shape) {
  Extents strides(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) strides[i] = product(shape.data() + i + 1, shape.data() + shape.size());
  return strides;
}

bool is_dense(const TensorRef& tensor) {
  if (tensor.scores) return false;
  const Extents dense = dense_strides(tensor.shape);
  for (size_t i = 0; i < dense.size(); ++i)
    if (tensor.shape[i] != Extent::fixed(1) && tensor.strides[i] != dense[i]) return false;
  return true;
}

bool collapse_rows(const TensorRef& tensor, RowsRef& rows) {
  if (tensor.scores || tensor.shape.empty()) return false;
  const Extent one = Extent::fixed(1), &width = tensor.shape.back();
  if (!width.is_fixed() || (width != one && tensor.strides.back() != one)) return false;
  // The row stride is that of the innermost leading dimension; each one further out must continue it.
  Extent count = one, stride = width;
  bool first = true;
  for (size_t i = tensor.shape.size() - 1; i-- > 0;) {
    if (tensor.shape[i] == one) continue;
    if (first) stride = tensor.strides[i];
    if (!stride.is_fixed()) return false;
    if (!first && tensor.strides[i] != count * stride.constant) return false;
    first = false;
    const Extent factors[] = {count, tensor.shape[i]};
    count = product(factors, factors + 2);
  }
  rows = {tensor.buffer, tensor.fixed, tensor.offset, count, width.constant, stride.constant};
  return true;
}

Partition partition_of(const Extent& rows) {
  using Kind = Partition::Kind;
  if (rows.is_fixed()) return {Kind::kFixed, rows.constant};
  if (rows == Extent{0, rows.tokens, 0, 0}) return {Kind::kTokens, rows.tokens};
  if (rows == Extent{0, 0, rows.outputs, 0}) return {Kind::kOutputs, rows.outputs};
  throw Error(ErrorCode::kModel, "the number of rows is neither a multiple of tokens nor of outputs", "shape",
              "give every tensor [tokens, ...] or [outputs, ...]");
}

}  // namespace atb
