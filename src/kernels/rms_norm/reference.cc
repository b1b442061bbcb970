#include <cmath>

#include "kernels/reference_ops.h"

namespace atb::reference {

// y = x / sqrt(mean(x²) + eps) * w (Zhang & Sennrich 2019), w plus one for Gemma.
RefTensor referenceRmsNorm(const RmsNormAttrs& attrs, const RefInputs& in) {
  const RefTensor& w = *in[1];
  const double one = attrs.one_plus_weight ? 1 : 0;
  RefTensor normed = for_each_row(*in[0], [&](const double* x, double* y, size_t size) {
    const double scale = 1 / std::sqrt(mean_square(x, size, 0) + attrs.eps);
    for (size_t i = 0; i < size; ++i) y[i] = x[i] * scale;
  });
  if (attrs.round_before_weight) round_to(in[0]->dtype, normed);
  return for_each_row(normed, [&](const double* x, double* y, size_t size) {
    for (size_t i = 0; i < size; ++i) y[i] = x[i] * (one + weight_at(w, i));
  });
}

}  // namespace atb::reference
