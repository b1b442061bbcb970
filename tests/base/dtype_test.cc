#include <atb/dtype.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

TEST(DType, NamesParseBack) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype) << dtype_name(dtype);
  }
  EXPECT_EQ(parse_dtype("f33"), std::nullopt);
  EXPECT_EQ(parse_dtype(""), std::nullopt);
}

// Bits per element, summed up from the parts of a block: scales and minima, then the packed digits.
TEST(DType, BlockBytesAreTheSumOfTheirParts) {
  const auto bytes = [](DType dtype) { return dtype_info(dtype).block_bytes; };
  constexpr int kHalf = 2;
  EXPECT_EQ(bytes(DType::kQ4_0), kHalf + 32 / 2);
  EXPECT_EQ(bytes(DType::kQ4_1), 2 * kHalf + 32 / 2);
  EXPECT_EQ(bytes(DType::kQ5_0), kHalf + 32 / 8 + 32 / 2);
  EXPECT_EQ(bytes(DType::kQ5_1), 2 * kHalf + 32 / 8 + 32 / 2);
  EXPECT_EQ(bytes(DType::kQ8_0), kHalf + 32);
  EXPECT_EQ(bytes(DType::kQ4_K), 2 * kHalf + 8 * 2 * 6 / 8 + 256 / 2);
  EXPECT_EQ(bytes(DType::kQ5_K), 2 * kHalf + 8 * 2 * 6 / 8 + 256 / 8 + 256 / 2);
  EXPECT_EQ(bytes(DType::kQ6_K), kHalf + 16 + 256 / 4 + 256 / 2);
}

TEST(DType, OnlyBlockFormatsAreQuantized) {
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto& info = dtype_info(static_cast<DType>(i));
    EXPECT_EQ(info.quantized, info.block_size > 1) << info.name;
    EXPECT_FALSE(info.quantized && info.floating) << info.name;
  }
}

}  // namespace
}  // namespace atb
