#include <array>
#include <cstring>

#include "base/half.h"
#include "io/block_formats.h"
#include "io/model_file.h"

namespace atb {
namespace {

// Plain numbers: one element at a time.
float to_float(float v) noexcept { return v; }
float to_float(double v) noexcept { return static_cast<float>(v); }
template <typename Int>
float to_float(Int v) noexcept {
  return static_cast<float>(v);
}

struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Bool {
  uint8_t byte;
};
float to_float(Half v) noexcept { return f16_to_f32(v.bits); }
float to_float(BFloat v) noexcept { return bf16_to_f32(v.bits); }
float to_float(Bool v) noexcept { return v.byte != 0 ? 1.0f : 0.0f; }

template <typename T>
void decode_plain(const std::byte* data, int64_t count, float* out) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
    out[i] = to_float(value);
  }
}

// Block formats. The products of an fp16 scale with the integers fit 24 bits, so that only the last addition rounds.
void decode(const BlockQ4_0& b, float* out) noexcept {
  const float d = f16_to_f32(b.d);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>((b.qs[i] & 15) - 8);
    out[i + 16] = d * static_cast<float>((b.qs[i] >> 4) - 8);
  }
}

void decode(const BlockQ4_1& b, float* out) noexcept {
  const float d = f16_to_f32(b.d), m = f16_to_f32(b.m);
  for (int i = 0; i < 16; ++i) {
    out[i] = d * static_cast<float>(b.qs[i] & 15) + m;
    out[i + 16] = d * static_cast<float>(b.qs[i] >> 4) + m;
  }
}

/// Element e of the 5-bit formats.
template <typename Block>
int five_bits(const Block& b, int e) noexcept {
  const int nibble = e < 16 ? b.qs[e] & 15 : b.qs[e - 16] >> 4;
  return nibble | (((b.qh[e / 8] >> (e % 8)) & 1) << 4);
}

void decode(const BlockQ5_0& b, float* out) noexcept {
  const float d = f16_to_f32(b.d);
  for (int e = 0; e < 32; ++e) out[e] = d * static_cast<float>(five_bits(b, e) - 16);
}

void decode(const BlockQ5_1& b, float* out) noexcept {
  const float d = f16_to_f32(b.d), m = f16_to_f32(b.m);
  for (int e = 0; e < 32; ++e) out[e] = d * static_cast<float>(five_bits(b, e)) + m;
}

void decode(const BlockQ8_0& b, float* out) noexcept {
  const float d = f16_to_f32(b.d);
  for (int e = 0; e < 32; ++e) out[e] = d * static_cast<float>(b.qs[e]);
}

/// Q4_K and Q5_K; `high_bit(s, i)` is 16 or 0.
template <typename Block, typename HighBit>
void decode_k(const Block& b, float* out, HighBit high_bit) noexcept {
  const float d = f16_to_f32(b.d), dmin = f16_to_f32(b.dmin);
  for (int s = 0; s < 8; ++s) {
    const KScaleMin k = k_scale_min(b.scales, s);
    const float scale = d * static_cast<float>(k.scale), min = dmin * static_cast<float>(k.min);
    for (int i = 0; i < 32; ++i) {
      const int nibble = (b.qs[32 * (s / 2) + i] >> (4 * (s % 2))) & 15;
      out[32 * s + i] = scale * static_cast<float>(nibble + high_bit(s, i)) - min;
    }
  }
}

void decode(const BlockQ4_K& b, float* out) noexcept {
  decode_k(b, out, [](int, int) { return 0; });
}

void decode(const BlockQ5_K& b, float* out) noexcept {
  decode_k(b, out, [&](int s, int i) { return ((b.qh[i] >> s) & 1) << 4; });
}

void decode(const BlockQ6_K& b, float* out) noexcept {
  const float d = f16_to_f32(b.d);
  for (int e = 0; e < 256; ++e) {
    const int h = e / 128, k = e / 32 % 4, i = e % 32;
    const int low = (b.ql[64 * h + 32 * (k % 2) + i] >> (4 * (k / 2))) & 15;
    const int high = (b.qh[32 * h + i] >> (2 * k)) & 3;
    out[e] = d * static_cast<float>(b.scales[e / 16]) * static_cast<float>((low | (high << 4)) - 32);
  }
}

template <typename Block>
void decode_blocks(const std::byte* data, int64_t count, float* out) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    Block block;
    std::memcpy(&block, data + i * static_cast<int64_t>(sizeof(Block)), sizeof(Block));
    decode(block, out + i * Block::kElements);
  }
}

/// Decodes `count` blocks (or plain numbers); in the order of DType.
using Decoder = void (*)(const std::byte* data, int64_t count, float* out) noexcept;
constexpr std::array<Decoder, kDTypeCount> kDecoders = {
    decode_plain<float>,      decode_plain<Half>,       decode_plain<BFloat>,     decode_plain<double>,
    decode_plain<int8_t>,     decode_plain<uint8_t>,    decode_plain<int16_t>,    decode_plain<int32_t>,
    decode_plain<int64_t>,    decode_plain<Bool>,       decode_blocks<BlockQ4_0>, decode_blocks<BlockQ4_1>,
    decode_blocks<BlockQ5_0>, decode_blocks<BlockQ5_1>, decode_blocks<BlockQ8_0>, decode_blocks<BlockQ4_K>,
    decode_blocks<BlockQ5_K>, decode_blocks<BlockQ6_K>};

}  // namespace

void dequantize(DType dtype, const std::byte* data, int64_t begin, int64_t end, float* out) noexcept {
  const DTypeInfo& info = dtype_info(dtype);
  const int64_t first = begin / info.block_size, last = end / info.block_size;
  kDecoders[static_cast<size_t>(dtype)](data + first * info.block_bytes, last - first, out);
}

}  // namespace atb
