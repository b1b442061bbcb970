#include <cmath>

#include "kernels/reference_ops.h"

namespace atb::reference {
namespace {

double combine(ReduceKind kind, double a, double b) {
  if (kind != ReduceKind::kMax) return a + b;
  return std::isnan(a) || a > b ? a : b;
}

}  // namespace

// Sum, mean or maximum along one axis, which stays as 1. Of nothing: 0, NaN, -inf.
RefTensor referenceReduce(const ReduceAttrs& attrs, const RefInputs& in) {
  const RefTensor& x = *in[0];
  const size_t axis = axis_of(x, attrs.axis);
  const int64_t length = x.shape[axis], inner = product(x.shape, axis + 1, x.shape.size());
  Sizes shape = x.shape;
  shape[axis] = 1;
  RefTensor y = zeros(std::move(shape), x);
  for (int64_t at = 0; at < y.elements(); ++at) {
    double total = attrs.kind == ReduceKind::kMax ? -HUGE_VAL : 0.0;
    const double* first = x.data.data() + at / inner * length * inner + at % inner;
    for (int64_t i = 0; i < length; ++i) total = combine(attrs.kind, total, first[i * inner]);
    y.data[static_cast<size_t>(at)] = attrs.kind == ReduceKind::kMean ? total / static_cast<double>(length) : total;
  }
  return y;
}

}  // namespace atb::reference
