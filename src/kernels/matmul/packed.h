// Weights as the matmul kernels read them: panels of 16 outputs, each strictly sequential over K, the same layout on
// every ISA (an int8 or bf16 panel is also a valid sequence of AMX tiles).
//
//   kF32   [K][16] float            kF16   [K][16] half         kBf16  [K/2][16][2] bfloat16 (VNNI pairs)
//   kQ4    per group of 32 k: 16 scales, [16 mins,] 4 x 64 bytes of nibbles: byte 4n+i of register j holds
//          k = 4j+i (low nibble) and k = 16+4j+i (high nibble) of output n
//   kQ8    per group of 16 or 32 k: 16 scales, [16 mins,] [group/4][16][4] bytes q ^ 0x80 (unsigned, offset 128)
//
// A value is scale * q + min, or scale * q without mins. q of kQ8 is -128..127; q of kQ4 is the nibble 0..15, or, where
// there are no mins, the nibble - 8. N is padded to 16 with zeros, an odd K of kBf16 with one zero.
#pragma once

#include <atb/dtype.h>

#include <cstddef>
#include <cstdint>

namespace atb {

inline constexpr int kPanelWidth = 16;

enum class PackKind : uint8_t { kF32, kF16, kBf16, kQ4, kQ8 };
enum class ScaleType : uint8_t { kF16, kF32 };

struct PackedFormat {
  PackKind kind = PackKind::kF32;
  int group = 0;  ///< k per scale; 0 for plain floats
  ScaleType scale = ScaleType::kF16;
  bool has_min = false;

  bool quantized() const noexcept { return kind == PackKind::kQ4 || kind == PackKind::kQ8; }
  bool operator==(const PackedFormat&) const = default;
};

const char* pack_kind_name(PackKind kind) noexcept;

/// The format that keeps `dtype` exactly (blocks are repacked, not expanded): what the default precision runs on.
/// Numbers that have no format of their own (f64, integers) are rounded to kF32.
PackedFormat exact_format(DType dtype) noexcept;

int64_t panel_count(int64_t n) noexcept;
size_t panel_bytes(const PackedFormat& format, int64_t k) noexcept;  ///< a multiple of 64

/// One weight matrix [N, K] in a file's layout (row-major, rows contiguous), of any floating or block dtype. K is a
/// multiple of the dtype's block size. in_out: the matrix is stored [K, N] (plain dtypes only).
struct WeightSource {
  DType dtype;
  const std::byte* data;
  int64_t n, k;
  bool in_out = false;
};

/// Packs panels [panel_begin, panel_end) to `out` (64-byte aligned, panel_bytes each). `format` must be
/// exact_format(dtype), or a float kind that the values are dequantised and rounded to.
void pack_panels(const WeightSource& source, const PackedFormat& format, int64_t panel_begin, int64_t panel_end,
                 std::byte* out) noexcept;

}  // namespace atb
