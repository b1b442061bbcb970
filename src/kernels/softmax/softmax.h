// softmax: y[r, c] = exp(x[r, c] - max_r) / sum_c exp(x[r, c] - max_r)
// A row of -inf alone (every key masked) gives zeros.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"

namespace atb {

struct SoftmaxArgs {
  const float* x;  ///< [rows][ldx]
  int64_t ldx;
  float* y;  ///< [rows][ldy]; may be x itself with the same stride
  int64_t ldy;
  int64_t columns;  ///< of each row that count; what lies behind them is neither read nor written
};
/// Rows [begin, end).
using SoftmaxFn = void (*)(const SoftmaxArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant, best first.
std::span<const Kernel<SoftmaxFn>> softmax_kernels();

}  // namespace atb
