// Layouts of the GGUF block formats, as they lie in the file: little-endian, without padding. A block encodes
// consecutive elements of one row. `d` and `m` are fp16; elements are numbered e = 0, 1, ... within the block.
// Source: the public description of GGML's quantised types (ggml-common.h names them block_*).
#pragma once

#include <cstddef>
#include <cstdint>

namespace atb {

/// x[e] = d * (q[e] - 8); q[e] is the low nibble of qs[e], q[e + 16] the high nibble.
struct BlockQ4_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qs[16];
};

/// x[e] = d * q[e] + m; nibbles as in Q4_0.
struct BlockQ4_1 {
  static constexpr int kElements = 32;
  uint16_t d, m;
  uint8_t qs[16];
};

/// x[e] = d * (q[e] - 16); q[e] is the nibble of Q4_0 plus 16 times bit e of the little-endian word qh.
struct BlockQ5_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  uint8_t qh[4];
  uint8_t qs[16];
};

/// x[e] = d * q[e] + m; bits as in Q5_0.
struct BlockQ5_1 {
  static constexpr int kElements = 32;
  uint16_t d, m;
  uint8_t qh[4];
  uint8_t qs[16];
};

/// x[e] = d * qs[e].
struct BlockQ8_0 {
  static constexpr int kElements = 32;
  uint16_t d;
  int8_t qs[32];
};

/// Eight sub-blocks s of 32: x[32 s + i] = d * scale[s] * q - dmin * min[s]. q is the low (s even) or high (s odd)
/// nibble of qs[32 (s / 2) + i]; see k_scale_min for the 6-bit scales and mins.
struct BlockQ4_K {
  static constexpr int kElements = 256;
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};

/// As Q4_K, where q has a fifth bit: bit s of qh[i].
struct BlockQ5_K {
  static constexpr int kElements = 256;
  uint16_t d, dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};

/// Sixteen sub-blocks of 16: x[e] = d * scales[e / 16] * (q[e] - 32). With e = 128 h + 32 k + i (h < 2, k < 4, i < 32)
/// the low four bits of q[e] are the low (k < 2) or high (k >= 2) nibble of ql[64 h + 32 (k % 2) + i], the high two
/// bits are bits 2k and 2k + 1 of qh[32 h + i].
struct BlockQ6_K {
  static constexpr int kElements = 256;
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};

static_assert(sizeof(BlockQ4_0) == 18 && offsetof(BlockQ4_0, qs) == 2);
static_assert(sizeof(BlockQ4_1) == 20 && offsetof(BlockQ4_1, qs) == 4);
static_assert(sizeof(BlockQ5_0) == 22 && offsetof(BlockQ5_0, qh) == 2 && offsetof(BlockQ5_0, qs) == 6);
static_assert(sizeof(BlockQ5_1) == 24 && offsetof(BlockQ5_1, qh) == 4 && offsetof(BlockQ5_1, qs) == 8);
static_assert(sizeof(BlockQ8_0) == 34 && offsetof(BlockQ8_0, qs) == 2);
static_assert(sizeof(BlockQ4_K) == 144 && offsetof(BlockQ4_K, scales) == 4 && offsetof(BlockQ4_K, qs) == 16);
static_assert(sizeof(BlockQ5_K) == 176 && offsetof(BlockQ5_K, qh) == 16 && offsetof(BlockQ5_K, qs) == 48);
static_assert(sizeof(BlockQ6_K) == 210 && offsetof(BlockQ6_K, qh) == 128 && offsetof(BlockQ6_K, scales) == 192 &&
              offsetof(BlockQ6_K, d) == 208);

struct KScaleMin {
  uint8_t scale, min;
};

/// Scale and min of sub-block s < 8 of Q4_K and Q5_K. Bytes 0-3 hold the scales and bytes 4-7 the mins of sub-blocks
/// 0-3 in their low six bits; bytes 8-11 hold the low nibbles of sub-blocks 4-7 (scale low, min high), whose top two
/// bits are the top bits of bytes 0-3 and 4-7.
inline KScaleMin k_scale_min(const uint8_t scales[12], int s) noexcept {
  if (s < 4) return {static_cast<uint8_t>(scales[s] & 63), static_cast<uint8_t>(scales[s + 4] & 63)};
  const int low = scales[s + 4];
  return {static_cast<uint8_t>((low & 15) | ((scales[s - 4] >> 6) << 4)),
          static_cast<uint8_t>((low >> 4) | ((scales[s] >> 6) << 4))};
}

}  // namespace atb
