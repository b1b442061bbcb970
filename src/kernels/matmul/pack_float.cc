// Panels of plain floats, from weights of any dtype: decoded to fp32 in pieces of 256 k and rounded once.
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "io/model_file.h"
#include "kernels/matmul/pack_parts.h"

namespace atb {
namespace {

constexpr int64_t kChunk = 256;  // a multiple of every block size

/// values[n][k] of one panel for the k of one chunk.
using Values = float[kPanelWidth][kChunk];

void read_rows(const WeightSource& source, int64_t first, int64_t rows, int64_t k, int64_t count,
               Values& values) noexcept {
  for (int64_t r = 0; r < rows; ++r) {
    const int64_t begin = (first + r) * source.k + k;
    dequantize(source.dtype, source.data, begin, begin + count, values[r]);
  }
}

void read_columns(const WeightSource& source, int64_t first, int64_t columns, int64_t k, int64_t count,
                  Values& values) noexcept {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t begin = (k + i) * source.n + first;
    float line[kPanelWidth];
    dequantize(source.dtype, source.data, begin, begin + columns, line);
    for (int64_t r = 0; r < columns; ++r) values[r][i] = line[r];
  }
}

void write_f32(float value, int64_t k, int64_t n, std::byte* panel) noexcept {
  std::memcpy(panel + (k * kPanelWidth + n) * 4, &value, 4);
}

void write_f16(float value, int64_t k, int64_t n, std::byte* panel) noexcept {
  const uint16_t half = f32_to_f16(value);
  std::memcpy(panel + (k * kPanelWidth + n) * 2, &half, 2);
}

void write_bf16(float value, int64_t k, int64_t n, std::byte* panel) noexcept {
  const uint16_t half = f32_to_bf16(value);
  std::memcpy(panel + (k / 2 * kPanelWidth + n) * 4 + k % 2 * 2, &half, 2);
}

template <auto kWrite>
void write_chunk(const Values& values, int64_t outputs, int64_t k, int64_t count, std::byte* panel) noexcept {
  for (int64_t i = 0; i < count; ++i)
    for (int64_t n = 0; n < outputs; ++n) kWrite(values[n][i], k + i, n, panel);
}

/// In the order of PackKind.
constexpr decltype(&write_chunk<write_f32>) kWriters[] = {write_chunk<write_f32>, write_chunk<write_f16>,
                                                          write_chunk<write_bf16>};

}  // namespace

void pack_float_panel(const WeightSource& source, PackKind kind, int64_t panel, std::byte* out) noexcept {
  const auto write = kWriters[static_cast<int>(kind)];
  const auto read = source.in_out ? read_columns : read_rows;
  const int64_t first = panel * kPanelWidth, outputs = std::min<int64_t>(kPanelWidth, source.n - first);
  Values values;
  for (int64_t k = 0; k < source.k; k += kChunk) {
    const int64_t count = std::min(kChunk, source.k - k);
    read(source, first, outputs, k, count, values);
    write(values, outputs, k, count, out);
  }
}

}  // namespace atb
