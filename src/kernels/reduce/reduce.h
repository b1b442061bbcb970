// reduce: y[o, i] = sum, mean or max over l of x[o, l, i]: one axis of a dense tensor. Sums are added pairwise. An
// empty axis gives 0 (sum), NaN (mean) or -inf (max).
#pragma once

#include <atb/ops.h>

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"

namespace atb {

struct ReduceArgs {
  const float* x;  ///< [outer][length][inner]
  int64_t length, inner;
  float* y;  ///< [outer][inner]
  ReduceKind kind;
};
/// Outputs [begin, end) of outer * inner.
using ReduceFn = void (*)(const ReduceArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant, best first.
std::span<const Kernel<ReduceFn>> reduce_kernels();

}  // namespace atb
