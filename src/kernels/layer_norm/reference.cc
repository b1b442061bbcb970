#include <cmath>
#include <numeric>

#include "kernels/reference_ops.h"

namespace atb::reference {

// y = (x - mean) / sqrt(mean((x - mean)²) + eps) * w + b (Ba et al. 2016). Two passes: never E[x²] - E[x]².
RefTensor referenceLayerNorm(const LayerNormAttrs& attrs, const RefInputs& in) {
  const RefTensor& w = *in[1];
  const RefTensor* b = in.size() > 2 ? in[2] : nullptr;
  return for_each_row(*in[0], [&](const double* x, double* y, size_t size) {
    const double mean = std::accumulate(x, x + size, 0.0) / static_cast<double>(size);
    const double scale = 1 / std::sqrt(mean_square(x, size, mean) + attrs.eps);
    for (size_t i = 0; i < size; ++i) y[i] = (x[i] - mean) * scale * weight_at(w, i) + (b ? weight_at(*b, i) : 0.0);
  });
}

}  // namespace atb::reference
