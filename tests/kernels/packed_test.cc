// Panels hold the values of the file: decoded here by the description in packed.h.
#include "kernels/matmul/packed.h"

#include <gtest/gtest.h>

#include "kernels/matmul_data.h"

namespace atb {
namespace {

using testing::Packed;
using testing::Random;
using testing::Weights;

template <typename T>
T read(const std::byte* p) {
  T v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

float read_scale(const std::byte* scales, ScaleType type, int64_t n) {
  return type == ScaleType::kF16 ? f16_to_f32(read<uint16_t>(scales + 2 * n)) : read<float>(scales + 4 * n);
}

float quantised_value(const std::byte* panel, const PackedFormat& f, int64_t k, int64_t n) {
  const int64_t scales = f.scale == ScaleType::kF16 ? 32 : 64, i = k % f.group;
  const bool q4 = f.kind == PackKind::kQ4;
  const int64_t integers = scales * (f.has_min ? 2 : 1), bytes = integers + f.group * (q4 ? 8 : 16);
  const std::byte* group = panel + k / f.group * bytes;
  const float scale = read_scale(group, f.scale, n), min = f.has_min ? read_scale(group + scales, f.scale, n) : 0.0f;
  int q;
  if (q4)
    q = ((read<uint8_t>(group + integers + i % 16 / 4 * 64 + 4 * n + i % 4) >> (i / 16 * 4)) & 15) -
        (f.has_min ? 0 : 8);
  else
    q = read<uint8_t>(group + integers + i / 4 * 64 + 4 * n + i % 4) - 128;
  return scale * static_cast<float>(q) + min;
}

float packed_value(const std::byte* panel, const PackedFormat& f, int64_t k, int64_t n) {
  switch (f.kind) {
    case PackKind::kF32:
      return read<float>(panel + (k * 16 + n) * 4);
    case PackKind::kF16:
      return f16_to_f32(read<uint16_t>(panel + (k * 16 + n) * 2));
    case PackKind::kBf16:
      return bf16_to_f32(read<uint16_t>(panel + (k / 2 * 16 + n) * 4 + k % 2 * 2));
    default:
      return quantised_value(panel, f, k, n);
  }
}

constexpr int64_t kOutputs = 21;  // one full panel, one of five outputs

class PackTest : public ::testing::TestWithParam<DType> {
 protected:
  static int64_t length() { return dtype_info(GetParam()).block_size == 256 ? 512 : 288; }
};
class PlainPackTest : public PackTest {};

TEST_P(PackTest, KeepsEveryValueAndPadsWithZeros) {
  const int64_t k = dtype_info(GetParam()).quantized ? length() : 259;
  Random random(1);
  const Weights w(GetParam(), kOutputs, k, random);
  const Packed packed(w.source, exact_format(GetParam()));
  for (int64_t n = 0; n < 32; ++n)
    for (int64_t i = 0; i < k; ++i) {
      const std::byte* panel = packed.panels.data() + n / 16 * static_cast<int64_t>(panel_bytes(packed.format, k));
      const float want = n < kOutputs ? w.values[static_cast<size_t>(n * k + i)] : 0.0f;
      ASSERT_EQ(packed_value(panel, packed.format, i, n % 16), want) << "n=" << n << " k=" << i;
    }
}

TEST_P(PackTest, RoundsToFloatsOnRequest) {
  const int64_t k = length();
  Random random(2);
  const Weights w(GetParam(), kOutputs, k, random);
  const Packed f32(w.source, {PackKind::kF32}), f16(w.source, {PackKind::kF16}), bf16(w.source, {PackKind::kBf16});
  for (int64_t n = 0; n < 16; ++n)
    for (int64_t i = 0; i < k; ++i) {
      const float value = w.values[static_cast<size_t>(n * k + i)];
      ASSERT_EQ(packed_value(f32.panels.data(), f32.format, i, n), value);
      ASSERT_EQ(packed_value(f16.panels.data(), f16.format, i, n), f16_to_f32(f32_to_f16(value)));
      ASSERT_EQ(packed_value(bf16.panels.data(), bf16.format, i, n), bf16_to_f32(f32_to_bf16(value)));
    }
}

TEST_P(PlainPackTest, ReadsInOutMatrices) {
  const int64_t k = 259;
  Random random(3);
  const Weights w(GetParam(), k, kOutputs, random);  // [k][n]
  WeightSource source = w.source;
  source.n = kOutputs, source.k = k, source.in_out = true;
  const Packed packed(source, exact_format(GetParam()));
  for (int64_t n = 0; n < kOutputs; ++n)
    for (int64_t i = 0; i < k; ++i) {
      const std::byte* panel = packed.panels.data() + n / 16 * static_cast<int64_t>(panel_bytes(packed.format, k));
      ASSERT_EQ(packed_value(panel, packed.format, i, n % 16), w.values[static_cast<size_t>(i * kOutputs + n)]);
    }
}

std::string test_name(const ::testing::TestParamInfo<DType>& info) { return dtype_name(info.param); }

constexpr DType kPlain[] = {DType::kF32, DType::kF16, DType::kBF16, DType::kF64};
constexpr DType kBlocks[] = {DType::kQ4_0, DType::kQ4_1, DType::kQ5_0, DType::kQ5_1,
                             DType::kQ8_0, DType::kQ4_K, DType::kQ5_K, DType::kQ6_K};
INSTANTIATE_TEST_SUITE_P(Plain, PackTest, ::testing::ValuesIn(kPlain), test_name);
INSTANTIATE_TEST_SUITE_P(Blocks, PackTest, ::testing::ValuesIn(kBlocks), test_name);
INSTANTIATE_TEST_SUITE_P(Plain, PlainPackTest, ::testing::ValuesIn(kPlain), test_name);

TEST(PackedFormat, TakesNoMoreThanTheFile) {
  EXPECT_EQ(panel_bytes(exact_format(DType::kQ4_0), 64), 16u * 2 * 18);
  EXPECT_EQ(panel_bytes(exact_format(DType::kQ4_1), 64), 16u * 2 * 20);
  EXPECT_EQ(panel_bytes(exact_format(DType::kQ8_0), 64), 16u * 2 * 34);
  EXPECT_EQ(panel_bytes(exact_format(DType::kF32), 3), 16u * 3 * 4);
  EXPECT_EQ(panel_bytes(exact_format(DType::kF16), 3), 128u);  // a multiple of 64
  EXPECT_EQ(panel_bytes(exact_format(DType::kBF16), 3), 128u);
}

}  // namespace
}  // namespace atb
