#include "base/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <random>
#include <vector>

namespace atb {
namespace {

constexpr uint32_t kPatterns = 1u << 16;

// The compiler's own fp16 type.
float compiler_f16_to_f32(uint16_t h) { return static_cast<float>(std::bit_cast<_Float16>(h)); }
uint16_t compiler_f32_to_f16(float f) { return std::bit_cast<uint16_t>(static_cast<_Float16>(f)); }

// GCC has no bf16 arithmetic, so by definition: the nearer of the two bf16 values around f, the even one on a tie.
// In double, where differences of fp32 values of one binade are exact.
uint16_t nearest_bf16(float f) {
  const auto below = static_cast<uint16_t>(std::bit_cast<uint32_t>(f) >> 16);  // towards zero
  const auto above = static_cast<uint16_t>(below + 1);
  const double low = std::bit_cast<float>(uint32_t{below} << 16);
  double high = std::bit_cast<float>(uint32_t{above} << 16);
  if (std::isinf(high)) high = std::copysign(0x1p128, high);  // what the next value would be
  const double to_low = std::fabs(f - low), to_high = std::fabs(high - f);
  if (to_low != to_high) return to_low < to_high ? below : above;
  return below % 2 == 0 ? below : above;
}

bool is_nan_f16(uint16_t h) { return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) != 0; }
bool is_nan_bf16(uint16_t h) { return (h & 0x7f80) == 0x7f80 && (h & 0x7f) != 0; }

/// Every value of a 16-bit type, every midpoint of neighbours, the fp32 values next to both, and random patterns.
std::vector<float> rounding_inputs(float (*widen)(uint16_t)) {
  std::vector<float> inputs;
  for (uint32_t h = 0; h < kPatterns; ++h) {
    const float value = widen(static_cast<uint16_t>(h)), next = widen(static_cast<uint16_t>(h + 1));
    const auto middle = static_cast<float>((double{value} + double{next}) / 2);
    for (const float f : {value, middle})
      for (const float g : {f, std::nextafterf(f, -INFINITY), std::nextafterf(f, INFINITY)}) inputs.push_back(g);
  }
  std::mt19937 random(1);
  for (int i = 0; i < 1 << 20; ++i) inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(random())));
  return inputs;
}

TEST(Half, EveryF16PatternWidensAsTheCompilerDoes) {
  for (uint32_t h = 0; h < kPatterns; ++h) {
    const auto pattern = static_cast<uint16_t>(h);
    const float ours = f16_to_f32(pattern), theirs = compiler_f16_to_f32(pattern);
    if (is_nan_f16(pattern)) {
      ASSERT_TRUE(std::isnan(ours)) << std::hex << h;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(theirs)) << std::hex << h;
    }
  }
}

TEST(Half, EveryBf16PatternWidensToTheUpperHalfOfAnF32) {
  for (uint32_t h = 0; h < kPatterns; ++h)
    ASSERT_EQ(std::bit_cast<uint32_t>(bf16_to_f32(static_cast<uint16_t>(h))), h << 16);
}

TEST(Half, RoundingToF16IsTheCompilers) {
  for (const float f : rounding_inputs(f16_to_f32)) {
    const uint16_t ours = f32_to_f16(f);
    if (std::isnan(f)) {
      ASSERT_TRUE(is_nan_f16(ours)) << std::hex << std::bit_cast<uint32_t>(f);
    } else {
      ASSERT_EQ(ours, compiler_f32_to_f16(f)) << std::hexfloat << f;
    }
  }
}

TEST(Half, RoundingToBf16IsToTheNearestEven) {
  for (const float f : rounding_inputs(bf16_to_f32)) {
    const uint16_t ours = f32_to_bf16(f);
    if (std::isnan(f)) {
      ASSERT_TRUE(is_nan_bf16(ours)) << std::hex << std::bit_cast<uint32_t>(f);
    } else if (std::isinf(f)) {
      ASSERT_EQ(bf16_to_f32(ours), f);
    } else {
      ASSERT_EQ(ours, nearest_bf16(f)) << std::hexfloat << f;
    }
  }
}

}  // namespace
}  // namespace atb
