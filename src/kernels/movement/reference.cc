// Views and data movement: no arithmetic.
#include "kernels/reference_ops.h"

namespace atb::reference {

RefTensor referenceReshape(const ReshapeAttrs& attrs, const RefInputs& in) {
  RefTensor y = *in[0];
  y.shape = attrs.shape;
  for (size_t i = 0; i < y.shape.size(); ++i)
    if (y.shape[i] == -1) y.shape[i] = in[0]->shape[i];
  return y;
}

RefTensor referenceTranspose(const TransposeAttrs& attrs, const RefInputs& in) {
  const Sizes own = strides_of(in[0]->shape);
  Sizes shape, strides;
  for (const int64_t axis : attrs.permutation) {
    shape.push_back(in[0]->shape[static_cast<size_t>(axis)]);
    strides.push_back(own[static_cast<size_t>(axis)]);
  }
  return strided_copy(*in[0], shape, strides);
}

RefTensor referenceSlice(const SliceAttrs& attrs, const RefInputs& in) {
  const size_t axis = axis_of(*in[0], attrs.axis);
  Sizes shape = in[0]->shape, strides = strides_of(shape);
  const int64_t length = attrs.end - attrs.start, offset = attrs.start * strides[axis];
  shape[axis] = length / attrs.step + (length % attrs.step != 0);
  strides[axis] *= attrs.step;
  return strided_copy(*in[0], shape, strides, offset);
}

RefTensor referenceConcat(const ConcatAttrs& attrs, const RefInputs& in) {
  const size_t axis = axis_of(*in[0], attrs.axis);
  RefTensor y{in[0]->shape, {}, in[0]->dtype};
  y.shape[axis] = 0;
  for (const RefTensor* x : in) y.shape[axis] += x->shape[axis];
  for (int64_t outer = 0; outer < product(y.shape, 0, axis); ++outer) {
    for (const RefTensor* x : in) {
      const int64_t run = product(x->shape, axis, x->shape.size());
      y.data.insert(y.data.end(), x->data.begin() + outer * run, x->data.begin() + (outer + 1) * run);
    }
  }
  return y;
}

// A repeated axis is a second one of stride 0 beside it.
RefTensor referenceRepeat(const RepeatAttrs& attrs, const RefInputs& in) {
  const auto axis = static_cast<std::ptrdiff_t>(axis_of(*in[0], attrs.axis));
  Sizes shape = in[0]->shape, strides = strides_of(shape);
  shape.insert(shape.begin() + axis + 1, attrs.times);
  strides.insert(strides.begin() + axis + 1, 0);
  RefTensor y = strided_copy(*in[0], shape, strides);
  y.shape = in[0]->shape;
  y.shape[static_cast<size_t>(axis)] *= attrs.times;
  return y;
}

}  // namespace atb::reference
