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
  kF32,   ///< rows as they are: nothing to prepare
  kBf16,  ///< rounded to bfloat16 (denormals to zero), rows padded to row_bytes with zeros
  kInt8   ///< symmetric int8 per group: q = round(x / s), s = max|x| / 127
};

/// Activations per scale where the weights are nibbles: half of the weights' group. With 32 the default model's logits
/// had a cosine of 0.9985 to fp32 on the worst of five prompts, with 16 it is above 0.999; a decode step costs the
/// same.
inline constexpr int kNibbleActivations = 16;

/// What follows the int8 values of a group: all that its outputs need besides the dot products.
struct GroupStats {
  float scale;       ///< s
  float scaled_sum;  ///< s * sum(q), the factor of the weights' mins
  int32_t start_q4;  ///< -8 * sum(q): where the dot product with unsigned nibbles starts to count as nibble - 8
  int32_t start_q8;  ///< -128 * sum(q), the same for bytes with offset 128
};
static_assert(sizeof(GroupStats) == 16);

/// Prepared activations of M rows. kInt8: per group `group` int8 values, then its GroupStats; K is a multiple of group.
/// A group of zeros, or of values all below 2^-100, counts as zeros. One Inf or NaN in a group makes its scale NaN, and
/// so every output of that row.
struct ActivationLayout {
  ActivationFormat format;
  int group;  ///< kInt8: k per scale
  int64_t k;
  size_t row_bytes() const noexcept;  ///< distance of two rows; a multiple of 64
  bool operator==(const ActivationLayout&) const = default;
};

/// Prepares rows [begin, end) of x (fp32, row stride ldx floats) into out (64-byte aligned rows of layout.row_bytes(),
/// row 0 first).
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
  PrepareFn prepare;  ///< nullptr for kF32
  MatMulFn run;
};

/// Every variant, best first (kernels.inc).
std::span<const MatMulKernel> matmul_kernels();
/// The best allowed kernel for weights of this kind.
const MatMulKernel& select_matmul(PackKind kind, const IsaSet& isas);

/// What `kernel` wants for weights [., k] of this format. Two matmuls whose layouts (and prepare functions) are equal
/// share one preparation.
ActivationLayout activation_layout(const MatMulKernel& kernel, const PackedFormat& format, int64_t k) noexcept;

}  // namespace atb
