// layer_norm: y[r, c] = (x[r, c] - mean_r) / sqrt(var_r + eps) * w[c] + b[c]   (Ba et al. 2016)
// Statistics in fp32 by the corrected two-pass algorithm (Chan, Golub & LeVeque 1983): the second pass also sums the
// deviations from the rounded mean and takes their mean off again. A row whose squares overflow is scaled down first.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"

namespace atb {

struct LayerNormArgs {
  const float* x;  ///< [rows][ldx]
  int64_t ldx;
  const float* weight;  ///< [columns]
  const float* bias;    ///< [columns] or nullptr
  float* y;             ///< [rows][ldy]; may be x itself with the same stride
  int64_t ldy;
  int64_t columns;
  float eps;
};
/// Rows [begin, end).
using LayerNormFn = void (*)(const LayerNormArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant, best first.
std::span<const Kernel<LayerNormFn>> layer_norm_kernels();

}  // namespace atb
