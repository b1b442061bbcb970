// Pointwise operators over strided operands: y[i] = f(a[i], b[i], c[i]) with NumPy's broadcasting. One kernel per
// function (functions.inc) serves add, mul, binary, unary, activation, cast and where; `copy` also serves whatever only
// moves data: slice, transpose, repeat, concat.
// Everything is fp32: values of f16 and bf16 tensors are held in fp32 (a cast rounds them), booleans are 0 and 1.
#pragma once

#include <atb/ops.h>

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"

namespace atb {

/// kAdd, kMul, ..., kCopy: the functions of functions.inc.
enum class PointwiseFunction : uint8_t {
#define ATB_POINTWISE(id, name, arity) k##id,
#include "kernels/pointwise/functions.inc"
#undef ATB_POINTWISE
};

/// The function of a pointwise node (add, mul, unary, binary, activation, cast, where); kCopy for operators that only
/// move data.
PointwiseFunction pointwise_function(Op op, const Attrs& attrs);
int pointwise_arity(PointwiseFunction function) noexcept;

inline constexpr int kMaxDims = 8;
inline constexpr int kMaxOperands = 3;

/// A loop nest over the output, outermost dimension first. Strides count floats; 0 repeats.
struct PointwiseArgs {
  int dims = 0;
  int64_t size[kMaxDims] = {};
  const float* in[kMaxOperands] = {};
  int64_t in_stride[kMaxOperands][kMaxDims] = {};
  float* out = nullptr;
  int64_t out_stride[kMaxDims] = {};

  int64_t elements() const noexcept;
};
/// Elements [begin, end) in row-major order of the loop nest. `out` may be an input with the same strides.
using PointwiseFn = void (*)(const PointwiseArgs& args, int64_t begin, int64_t end) noexcept;

/// An input as an operand: fp32 data with one stride per dimension.
struct StridedInput {
  const float* data;
  std::span<const int64_t> shape, strides;
};
/// The loop nest of out = f(in...): inputs broadcast to the output's shape (aligned at the last dimension), dimensions
/// merged where every operand allows it, so that equal dense shapes become one long row.
PointwiseArgs pointwise_loop(float* out, std::span<const int64_t> shape, std::span<const int64_t> strides,
                             std::span<const StridedInput> in);

/// Every variant of one function, best first.
std::span<const Kernel<PointwiseFn>> pointwise_kernels(PointwiseFunction function);

}  // namespace atb
