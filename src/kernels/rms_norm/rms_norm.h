// rms_norm: y[r, c] = x[r, c] / sqrt(mean_c(x[r, c]^2) + eps) * w[c]   (Zhang & Sennrich 2019)
// Statistics in fp32, added pairwise over SIMD lanes; a row whose squares overflow is scaled down first. A row's result
// does not depend on the rows around it.
#pragma once

#include <atb/dtype.h>

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"

namespace atb {

struct RmsNormArgs {
  const float* x;  ///< [rows][ldx]
  int64_t ldx;
  const float* weight;  ///< [columns]
  float* y;             ///< [rows][ldy]; may be x itself with the same stride
  int64_t ldy;
  int64_t columns;
  float eps;
  bool one_plus_weight;          ///< times (1 + w), added in fp32
  DType round_to = DType::kF32;  ///< kF16, kBF16: x / rms is rounded to it before the weight
};
/// Rows [begin, end).
using RmsNormFn = void (*)(const RmsNormArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant, best first.
std::span<const Kernel<RmsNormFn>> rms_norm_kernels();

}  // namespace atb
