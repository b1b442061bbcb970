#include "kernels/reference_ops.h"

namespace atb::reference {

// y[b, m, n] = sum_k x[b, m, k] W[b, n, k] (kOutIn) or W[b, k, n] (kInOut); W without b is shared by all.
RefTensor referenceMatMul(const MatMulAttrs& attrs, const RefInputs& in) {
  const RefTensor &x = *in[0], &w = *in[1];
  const size_t rank = w.shape.size();
  const bool out_in = attrs.layout == WeightLayout::kOutIn;
  const int64_t n = w.shape[out_in ? rank - 2 : rank - 1], k = x.shape.back();
  const int64_t n_stride = out_in ? k : 1, k_stride = out_in ? 1 : n;
  Sizes shape = x.shape;
  shape.back() = n;
  RefTensor y = zeros(std::move(shape), x);
  const int64_t rows = product(x.shape, 0, x.shape.size() - 1);
  const int64_t rows_per_weight = rank > 2 ? x.shape[x.shape.size() - 2] : rows;
  for (int64_t row = 0; row < rows; ++row) {
    const double* xr = x.data.data() + row * k;
    const double* wb = w.data.data() + row / rows_per_weight * n * k;
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t i = 0; i < k; ++i) sum += xr[i] * wb[j * n_stride + i * k_stride];
      y.data[static_cast<size_t>(row * n + j)] = sum;
    }
  }
  return y;
}

}  // namespace atb::reference
