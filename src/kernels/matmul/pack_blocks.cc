// Panels of quantised weights: the blocks of a file regrouped, without any change of a value.
#include <algorithm>
#include <array>
#include <cstring>

#include "base/half.h"
#include "io/block_formats.h"
#include "kernels/matmul/pack_parts.h"

namespace atb {
namespace {

/// One output's group: its integers as the panel holds them (kQ4: 16 bytes, the nibbles of k and k + 16; kQ8: q ^
/// 0x80).
struct Group {
  float scale, min;
  uint8_t bytes[32];
};

template <typename Block>
Block block_at(const std::byte* row, int64_t index) noexcept {
  Block block;
  std::memcpy(&block, row + index * static_cast<int64_t>(sizeof(Block)), sizeof(Block));
  return block;
}

/// Both of one bit and its nibble: element e < 32 of a 5-bit block.
template <typename Block>
int five_bits(const Block& b, int e) noexcept {
  const int nibble = (b.qs[e % 16] >> (e / 16 * 4)) & 15;
  return nibble | ((b.qh[e / 8] >> (e % 8)) & 1) << 4;
}

uint8_t offset_byte(int q) noexcept { return static_cast<uint8_t>(q + 128); }

// Readers: group `g` (of the packed format's group size) of a row.
void read_q4_0(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ4_0>(row, g);
  out.scale = f16_to_f32(b.d);
  std::memcpy(out.bytes, b.qs, 16);
}

void read_q4_1(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ4_1>(row, g);
  out.scale = f16_to_f32(b.d);
  out.min = f16_to_f32(b.m);
  std::memcpy(out.bytes, b.qs, 16);
}

void read_q5_0(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ5_0>(row, g);
  out.scale = f16_to_f32(b.d);
  for (int e = 0; e < 32; ++e) out.bytes[e] = offset_byte(five_bits(b, e) - 16);
}

void read_q5_1(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ5_1>(row, g);
  out.scale = f16_to_f32(b.d);
  out.min = f16_to_f32(b.m);
  for (int e = 0; e < 32; ++e) out.bytes[e] = offset_byte(five_bits(b, e));
}

void read_q8_0(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ8_0>(row, g);
  out.scale = f16_to_f32(b.d);
  for (int e = 0; e < 32; ++e) out.bytes[e] = offset_byte(b.qs[e]);
}

/// Scale and min of sub-block s of Q4_K and Q5_K.
template <typename Block>
void read_k_scales(const Block& b, int s, Group& out) noexcept {
  const KScaleMin k = k_scale_min(b.scales, s);
  out.scale = f16_to_f32(b.d) * static_cast<float>(k.scale);
  out.min = -(f16_to_f32(b.dmin) * static_cast<float>(k.min));
}

void read_q4_k(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ4_K>(row, g / 8);
  const int s = static_cast<int>(g % 8), shift = 4 * (s % 2);
  read_k_scales(b, s, out);
  const uint8_t* qs = b.qs + 32 * (s / 2);
  for (int i = 0; i < 16; ++i)
    out.bytes[i] = static_cast<uint8_t>(((qs[i] >> shift) & 15) | ((qs[i + 16] >> shift) & 15) << 4);
}

void read_q5_k(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ5_K>(row, g / 8);
  const int s = static_cast<int>(g % 8), shift = 4 * (s % 2);
  read_k_scales(b, s, out);
  const uint8_t* qs = b.qs + 32 * (s / 2);
  for (int i = 0; i < 32; ++i) out.bytes[i] = offset_byte(((qs[i] >> shift) & 15) | ((b.qh[i] >> s) & 1) << 4);
}

void read_q6_k(const std::byte* row, int64_t g, Group& out) noexcept {
  const auto b = block_at<BlockQ6_K>(row, g / 16);
  const int s = static_cast<int>(g % 16), h = s / 8, k = s / 2 % 4, first = s % 2 * 16;
  out.scale = f16_to_f32(b.d) * static_cast<float>(b.scales[s]);
  const uint8_t *ql = b.ql + 64 * h + 32 * (k % 2) + first, *qh = b.qh + 32 * h + first;
  for (int i = 0; i < 16; ++i) {
    const int low = (ql[i] >> (4 * (k / 2))) & 15, high = (qh[i] >> (2 * k)) & 3;
    out.bytes[i] = offset_byte((low | high << 4) - 32);
  }
}

/// In the order of DType, from kQ4_0 on.
using GroupReader = void (*)(const std::byte* row, int64_t g, Group& out) noexcept;
constexpr GroupReader kReaders[] = {read_q4_0, read_q4_1, read_q5_0, read_q5_1,
                                    read_q8_0, read_q4_k, read_q5_k, read_q6_k};
static_assert(std::size(kReaders) == kDTypeCount - static_cast<int>(DType::kQ4_0));

/// The n-th of 16 scales or mins; fp16 gets back the very bits that it came from.
void write_scale(float value, ScaleType type, int64_t n, std::byte* out) noexcept {
  const uint16_t half = f32_to_f16(value);
  if (type == ScaleType::kF16)
    std::memcpy(out + 2 * n, &half, 2);
  else
    std::memcpy(out + 4 * n, &value, 4);
}

void write_group(const Group& group, const PackedFormat& format, int64_t n, std::byte* out) noexcept {
  const int scales_bytes = kPanelWidth * (format.scale == ScaleType::kF16 ? 2 : 4);
  write_scale(group.scale, format.scale, n, out);
  out += scales_bytes;
  if (format.has_min) {
    write_scale(group.min, format.scale, n, out);
    out += scales_bytes;
  }
  const int words = format.kind == PackKind::kQ4 ? format.group / 8 : format.group / 4;
  for (int j = 0; j < words; ++j) std::memcpy(out + 64 * j + 4 * n, group.bytes + 4 * j, 4);
}

}  // namespace

void pack_block_panel(const WeightSource& source, const PackedFormat& format, int64_t panel, std::byte* out) noexcept {
  const DTypeInfo& info = dtype_info(source.dtype);
  const GroupReader read = kReaders[static_cast<int>(source.dtype) - static_cast<int>(DType::kQ4_0)];
  const int64_t row_bytes = source.k / info.block_size * info.block_bytes, groups = source.k / format.group;
  const int64_t first = panel * kPanelWidth, outputs = std::min<int64_t>(kPanelWidth, source.n - first);
  const auto group_bytes = static_cast<int64_t>(packed_group_bytes(format));
  for (int64_t n = 0; n < outputs; ++n) {
    const std::byte* row = source.data + (first + n) * row_bytes;
    for (int64_t g = 0; g < groups; ++g) {
      Group group{};
      read(row, g, group);
      write_group(group, format, n, out + g * group_bytes);
    }
  }
}

}  // namespace atb
