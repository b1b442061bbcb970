// rope: rotary position embedding (Su et al. 2021). Pair i of a head at position p turns by the angle p * f[i]:
//   kHalf         (x[i], x[i + n])       n = rotary_dim / 2, i < n
//   kInterleaved  (x[2i], x[2i + 1])
//   (a, b) -> (a cos - b sin, b cos + a sin);  components from rotary_dim on pass unchanged
// Angles depend on the positions alone: a step computes them once (rope_angles) for all layers, queries and keys.
#pragma once

#include <atb/ops.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel_table.h"

namespace atb {

/// What rope's attributes mean in numbers; computed once, at plan time.
struct RopeFrequencies {
  std::vector<double> inverse;  ///< [rotary_dim / 2]: radians per position, scaled as the attributes say
  double magnitude = 1.0;       ///< cos and sin are multiplied by it (YaRN's attention factor)
};
/// `factors` is the optional third input of rope, [rotary_dim / 2] or empty: pair i turns by 1 / factors[i].
RopeFrequencies rope_frequencies(const RopeAttrs& attrs, std::span<const float> factors);

/// Writes rows [begin, end) of the table: row t is cos[rotary_dim / 2], then sin[rotary_dim / 2], at positions[t].
/// Computed in fp64, so that positions up to 2^31 are right to fp32's last bits.
void rope_angles(const RopeFrequencies& frequencies, const int32_t* positions, int64_t begin, int64_t end,
                 float* table) noexcept;

struct RopeArgs {
  const float* x;  ///< [rows][ldx], heads * head_dim features
  int64_t ldx;
  const float* angles;  ///< [rows][rotary_dim] as rope_angles writes it
  float* y;             ///< [rows][ldy]; may be x itself with the same stride
  int64_t ldy;
  int64_t heads, head_dim, rotary_dim;
  RopePairing pairing;
};
/// Rows [begin, end).
using RopeFn = void (*)(const RopeArgs& args, int64_t begin, int64_t end) noexcept;

/// Every variant, best first.
std::span<const Kernel<RopeFn>> rope_kernels();

}  // namespace atb
