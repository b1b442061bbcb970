// Plain numbers by value; block formats by layout only (their values: tests/python/test_gguf.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "io/block_formats.h"
#include "io/file_bytes.h"
#include "io/model_file.h"

namespace atb {
namespace {

using testing::le;

float decode_one(DType dtype, const std::string& bytes) {
  // One byte off, as in a file; an exact heap block, so that the address sanitizer sees a read beyond it.
  const auto copy = std::make_unique<std::byte[]>(bytes.size() + 1);
  std::memcpy(copy.get() + 1, bytes.data(), bytes.size());
  float value = 0;
  dequantize(dtype, copy.get() + 1, 0, 1, &value);
  return value;
}

TEST(Dequantize, PlainNumbers) {
  EXPECT_EQ(decode_one(DType::kF32, le(-1.25f)), -1.25f);
  EXPECT_EQ(decode_one(DType::kF64, le(0.1)), 0.1f);
  EXPECT_EQ(decode_one(DType::kF16, le<uint16_t>(0x3555)), 0.333251953125f);
  EXPECT_EQ(decode_one(DType::kBF16, le<uint16_t>(0x4049)), 3.140625f);
  EXPECT_EQ(decode_one(DType::kI8, le<int8_t>(-128)), -128.0f);
  EXPECT_EQ(decode_one(DType::kU8, le<uint8_t>(255)), 255.0f);
  EXPECT_EQ(decode_one(DType::kI16, le<int16_t>(-32768)), -32768.0f);
  EXPECT_EQ(decode_one(DType::kI32, le<int32_t>((1 << 24) + 1)), 0x1p24f);
  EXPECT_EQ(decode_one(DType::kI64, le(int64_t{-5})), -5.0f);
  EXPECT_EQ(decode_one(DType::kBool, le<uint8_t>(1)), 1.0f);
}

template <typename Block>
void expect_layout(DType dtype) {
  EXPECT_EQ(dtype_info(dtype).block_bytes, static_cast<int>(sizeof(Block))) << dtype_name(dtype);
  EXPECT_EQ(dtype_info(dtype).block_size, Block::kElements) << dtype_name(dtype);
}

TEST(Dequantize, BlockLayoutsAreThoseOfTheDTypeTable) {
  expect_layout<BlockQ4_0>(DType::kQ4_0);
  expect_layout<BlockQ4_1>(DType::kQ4_1);
  expect_layout<BlockQ5_0>(DType::kQ5_0);
  expect_layout<BlockQ5_1>(DType::kQ5_1);
  expect_layout<BlockQ8_0>(DType::kQ8_0);
  expect_layout<BlockQ4_K>(DType::kQ4_K);
  expect_layout<BlockQ5_K>(DType::kQ5_K);
  expect_layout<BlockQ6_K>(DType::kQ6_K);
}

TEST(Dequantize, ARangeStartsAtItsBlock) {
  BlockQ8_0 blocks[3] = {};
  for (int i = 0; i < 3; ++i) {
    blocks[i].d = 0x3c00;  // 1.0
    blocks[i].qs[0] = static_cast<int8_t>(10 + i);
  }
  float out[64] = {};
  dequantize(DType::kQ8_0, reinterpret_cast<const std::byte*>(blocks), 32, 96, out);
  EXPECT_EQ(out[0], 11.0f);
  EXPECT_EQ(out[32], 12.0f);
}

}  // namespace
}  // namespace atb
