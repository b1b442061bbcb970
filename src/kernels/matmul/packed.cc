#include "kernels/matmul/packed.h"

#include <array>
#include <cstring>

#include "kernels/matmul/pack_parts.h"

namespace atb {
namespace {

constexpr PackedFormat kPlainF32{PackKind::kF32};
constexpr PackedFormat block(PackKind kind, int group, ScaleType scale, bool has_min) {
  return {kind, group, scale, has_min};
}

// In the order of DType. The scales of the K formats are products of an fp16 and an integer, which fit fp32 exactly.
constexpr std::array<PackedFormat, kDTypeCount> kExact = {
    kPlainF32,                                         // f32
    PackedFormat{PackKind::kF16},                      // f16
    PackedFormat{PackKind::kBf16},                     // bf16
    kPlainF32,                                         // f64
    kPlainF32,                                         // i8
    kPlainF32,                                         // u8
    kPlainF32,                                         // i16
    kPlainF32,                                         // i32
    kPlainF32,                                         // i64
    kPlainF32,                                         // bool
    block(PackKind::kQ4, 32, ScaleType::kF16, false),  // q4_0
    block(PackKind::kQ4, 32, ScaleType::kF16, true),   // q4_1
    block(PackKind::kQ8, 32, ScaleType::kF16, false),  // q5_0
    block(PackKind::kQ8, 32, ScaleType::kF16, true),   // q5_1
    block(PackKind::kQ8, 32, ScaleType::kF16, false),  // q8_0
    block(PackKind::kQ4, 32, ScaleType::kF32, true),   // q4_k
    block(PackKind::kQ8, 32, ScaleType::kF32, true),   // q5_k
    block(PackKind::kQ8, 16, ScaleType::kF32, false),  // q6_k
};

size_t unpadded_bytes(const PackedFormat& format, int64_t k) noexcept {
  const auto steps = static_cast<size_t>(k);
  if (format.quantized()) return steps / static_cast<size_t>(format.group) * packed_group_bytes(format);
  if (format.kind == PackKind::kF32) return steps * kPanelWidth * 4;
  if (format.kind == PackKind::kF16) return steps * kPanelWidth * 2;
  return (steps + 1) / 2 * kPanelWidth * 4;
}

}  // namespace

const char* pack_kind_name(PackKind kind) noexcept {
  constexpr const char* kNames[] = {"f32", "f16", "bf16", "q4", "q8"};
  return kNames[static_cast<int>(kind)];
}

PackedFormat exact_format(DType dtype) noexcept { return kExact[static_cast<size_t>(dtype)]; }

int64_t panel_count(int64_t n) noexcept { return (n + kPanelWidth - 1) / kPanelWidth; }

size_t packed_group_bytes(const PackedFormat& format) noexcept {
  const size_t scale = format.scale == ScaleType::kF16 ? 2 : 4;
  const size_t bits = format.kind == PackKind::kQ4 ? 4 : 8;
  return kPanelWidth * (scale * (format.has_min ? 2 : 1) + static_cast<size_t>(format.group) * bits / 8);
}

size_t panel_bytes(const PackedFormat& format, int64_t k) noexcept {
  return (unpadded_bytes(format, k) + 63) / 64 * 64;
}

void pack_panels(const WeightSource& source, const PackedFormat& format, int64_t panel_begin, int64_t panel_end,
                 std::byte* out) noexcept {
  const size_t bytes = panel_bytes(format, source.k);
  for (int64_t panel = panel_begin; panel < panel_end; ++panel, out += bytes) {
    std::memset(out, 0, bytes);
    if (format.quantized())
      pack_block_panel(source, format, panel, out);
    else
      pack_float_panel(source, format.kind, panel, out);
  }
}

}  // namespace atb
