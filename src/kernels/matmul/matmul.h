// matmul: c[m, n] = sum_k a[m, k] * w[n, k], accumulated in fp32 (block formats: integer dot products per group, groups
// added in fp32 in ascending k). The order of additions of one output never depends on the number of rows, so a row
// alone and a row in a batch give the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/kernel_table.h"
#include "kernels/matmul/packed.h"

namespace atb {

/// What a kernel wants its activations to be; prepared once per matmul from fp32 rows.
enum class ActivationFormat : uint8_t {
  kF32,   ///< rows as they are
  kBf16,  ///< rounded to bfloat16, rows of K (padded to even)
  kInt8   ///< symmetric int8 per group of 32 (or the weight's group): q = round(x / s), s = max|x| / 127
};

/// Prepared activations of M rows. kInt8: int8 values [M][k], then per row and group float scale and float scale *
/// sum(q).
struct ActivationLayout {
  ActivationFormat format;
  int group;  ///< kInt8: k per scale
  int64_t k;
  size_t row_bytes() const noexcept;  ///< distance of two rows; a multiple of 64
};

/// Prepares rows [begin, end) of x (fp32, row stride ldx floats) into out (64-byte aligned rows of layout.row_bytes()).
using PrepareFn = void (*)(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin,
                           int64_t end) noexcept;

struct MatMulArgs {
  const std::byte* a;  ///< prepared activations (kF32: the rows themselves)
  int64_t a_row_bytes;
  const std::byte* w;  ///< packed panels
  float* c;
  int64_t ldc;  ///< floats between two rows of c
  int64_t m, n, k;
  PackedFormat format;
};
/// Computes rows [0, m) of outputs [panel_begin*16, min(panel_end*16, n)).
using MatMulFn = void (*)(const MatMulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept;

struct MatMulKernel {
  const char* name;  ///< "matmul_q4/avx512_vnni"
  Isa isa;
  PackKind kind;
  ActivationFormat activations;
  PrepareFn prepare;
  MatMulFn run;
};

/// Every variant, best first (kernels.inc).
std::span<const MatMulKernel> matmul_kernels();
/// The best allowed kernel for weights of this kind.
const MatMulKernel& select_matmul(PackKind kind, const IsaSet& isas);

}  // namespace atb
