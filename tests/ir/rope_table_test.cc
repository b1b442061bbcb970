// RoPE scalings against transformers' numbers, ALiBi slopes against the published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "ir/infer.h"

namespace atb {
namespace {

using testing::ElementsAre;

RopeAttrs attrs(RopeScaling scaling, double theta, double factor) {
  return {
      .head_dim = 64, .rotary_dim = 64, .theta = theta, .scaling = scaling, .factor = factor, .original_context = 8192};
}

// How much scaling slows each pair.
std::vector<double> ratios(const RopeAttrs& scaled) {
  RopeAttrs plain = scaled;
  plain.scaling = RopeScaling::kNone;
  std::vector<double> ratios = rope_table(scaled).inverse_frequency;
  const auto base = rope_table(plain).inverse_frequency;
  for (size_t i = 0; i < ratios.size(); ++i) ratios[i] /= base[i];
  return ratios;
}

TEST(RopeTable, Plain) {
  const RopeTable table = rope_table({.head_dim = 8, .rotary_dim = 4});
  EXPECT_THAT(table.inverse_frequency, ElementsAre(1, 0.01));
  EXPECT_EQ(table.attention_factor, 1);
}

TEST(RopeTable, Linear) {
  for (const double ratio : ratios(attrs(RopeScaling::kLinear, 1e4, 4))) EXPECT_DOUBLE_EQ(ratio, 0.25);
}

TEST(RopeTable, Llama3) {
  const auto ratio = ratios(attrs(RopeScaling::kLlama3, 5e5, 32));
  for (size_t i = 0; i <= 14; ++i) EXPECT_DOUBLE_EQ(ratio[i], 1) << i;
  EXPECT_NEAR(ratio[15], .605573, 1e-6);
  EXPECT_NEAR(ratio[16], .303743, 1e-6);
  EXPECT_NEAR(ratio[17], .103448, 1e-6);
  for (size_t i = 18; i < 32; ++i) EXPECT_DOUBLE_EQ(ratio[i], 1.0 / 32) << i;
}

TEST(RopeTable, YarnAttentionFactor) {
  EXPECT_NEAR(rope_table(attrs(RopeScaling::kYarn, 1e4, 16)).attention_factor, 1.277259, 1e-6);
  EXPECT_NEAR(rope_table(attrs(RopeScaling::kYarn, 1e4, 64)).attention_factor, 1.415888, 1e-6);
  RopeAttrs given = attrs(RopeScaling::kYarn, 1e4, 64);
  given.attention_factor = 0.7;
  EXPECT_EQ(rope_table(given).attention_factor, 0.7);
}

// Fast pairs keep their frequency, slow ones are divided by the factor, the ramp between falls steadily.
TEST(RopeTable, YarnRamp) {
  const auto ratio = ratios(attrs(RopeScaling::kYarn, 1e4, 16));
  EXPECT_DOUBLE_EQ(ratio.front(), 1);
  EXPECT_DOUBLE_EQ(ratio.back(), 1.0 / 16);
  EXPECT_TRUE(std::is_sorted(ratio.rbegin(), ratio.rend()));
}

TEST(AlibiSlopes, PowersOfTwoAndOthers) {
  EXPECT_THAT(alibi_slopes(8), ElementsAre(0.5, 0.25, 0.125, 1. / 16, 1. / 32, 1. / 64, 1. / 128, 1. / 256));
  // Six heads: those of four, then the first and third of eight.
  EXPECT_THAT(alibi_slopes(6), ElementsAre(0.25, 1. / 16, 1. / 64, 1. / 256, 0.5, 0.125));
  EXPECT_EQ(alibi_slopes(40).size(), 40u);
  EXPECT_THAT(alibi_slopes(0), testing::IsEmpty());
}

}  // namespace
}  // namespace atb
