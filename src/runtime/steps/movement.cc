// Operators that move no arithmetic: views become strides; concat and repeat copy.
#include "runtime/lowering.h"

namespace atb {
namespace {

size_t axis_of(int64_t axis, size_t rank) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(rank) : axis);
}

/// The input of a view as a strided tensor.
TensorRef view_source(Lowering& lowering, const Node& node) {
  TensorRef t = lowering.tensor(node.inputs[0]);
  if (t.scores)
    lowering.fail("scores cannot be viewed differently", "only softmax, values and pointwise operators take them");
  return t;
}

Extents result_shape(const Lowering& lowering, const Node& node) {
  return extents_of(lowering.value(node.output).shape);
}

}  // namespace

void lower_reshape(Lowering& lowering, const Node& node) {
  TensorRef t = view_source(lowering, node);
  if (!is_dense(t)) {
    const TensorRef dense = lowering.new_tensor(t.shape);
    emit_copy(lowering, t, dense);
    t = dense;
  }
  t.shape = result_shape(lowering, node);
  t.strides = dense_strides(t.shape);
  lowering.define(node.output, std::move(t));
}

void lower_transpose(Lowering& lowering, const Node& node) {
  const TensorRef source = view_source(lowering, node);
  const auto& permutation = std::get<TransposeAttrs>(node.attrs).permutation;
  TensorRef t = source;
  for (size_t i = 0; i < permutation.size(); ++i) {
    const size_t from = axis_of(permutation[i], permutation.size());
    t.shape[i] = source.shape[from];
    t.strides[i] = source.strides[from];
  }
  lowering.define(node.output, std::move(t));
}

void lower_slice(Lowering& lowering, const Node& node) {
  const auto& attrs = std::get<SliceAttrs>(node.attrs);
  TensorRef t = view_source(lowering, node);
  const size_t axis = axis_of(attrs.axis, t.shape.size());
  const int64_t size = t.shape[axis].constant;
  const int64_t start = attrs.start < 0 ? attrs.start + size : attrs.start;
  t.offset = t.offset + t.strides[axis] * start;
  t.strides[axis] = t.strides[axis] * attrs.step;
  t.shape = result_shape(lowering, node);
  lowering.define(node.output, std::move(t));
}

void lower_concat(Lowering& lowering, const Node& node) {
  std::vector<TensorRef> parts;
  for (ValueId id : node.inputs) parts.push_back(lowering.tensor(id));
  const TensorRef out = lowering.new_tensor(result_shape(lowering, node));
  if (out.scores) lowering.fail("scores cannot be joined", "join tensors [tokens, features]");
  const size_t axis = axis_of(std::get<ConcatAttrs>(node.attrs).axis, out.shape.size());
  TensorRef target = out;
  for (const TensorRef& part : parts) {
    target.shape[axis] = part.shape[axis];
    emit_copy(lowering, part, target);
    if (!part.shape[axis].is_fixed()) lowering.fail("concat along an axis that depends on the batch", "join features");
    target.offset = target.offset + out.strides[axis] * part.shape[axis].constant;
  }
  lowering.define(node.output, out);
}

void lower_repeat(Lowering& lowering, const Node& node) {
  const auto& attrs = std::get<RepeatAttrs>(node.attrs);
  TensorRef source = view_source(lowering, node);
  const TensorRef out = lowering.new_tensor(result_shape(lowering, node));
  const size_t axis = axis_of(attrs.axis, source.shape.size());
  // [.., n, ..] as [.., n, times, ..]: the source does not move along the new dimension.
  TensorRef target = out;
  const auto after = static_cast<std::ptrdiff_t>(axis) + 1;
  target.shape[axis] = source.shape[axis];
  target.strides[axis] = out.strides[axis] * attrs.times;
  target.shape.insert(target.shape.begin() + after, Extent::fixed(attrs.times));
  target.strides.insert(target.strides.begin() + after, out.strides[axis]);
  source.shape.insert(source.shape.begin() + after, Extent::fixed(attrs.times));
  source.strides.insert(source.strides.begin() + after, Extent::fixed(0));
  emit_copy(lowering, source, target);
  lowering.define(node.output, out);
}

}  // namespace atb
