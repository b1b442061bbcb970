// rope of every ISA against fp64, and the numbers of public bug reports; row gathers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <numeric>

#include "kernels/op_data.h"
#include "kernels/rope/rope.h"
#include "kernels/rows/rows.h"

namespace atb {
namespace {

using namespace atb::testing;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::Pointwise;

RopeAttrs attrs_of(int64_t head_dim, int64_t rotary_dim, RopePairing pairing) {
  RopeAttrs attrs;
  attrs.head_dim = head_dim;
  attrs.rotary_dim = rotary_dim;
  attrs.pairing = pairing;
  return attrs;
}

class RopeKernel : public KernelTest<RopeFn> {
 protected:
  Floats run(const Floats& x, int64_t heads, const RopeAttrs& attrs, const std::vector<int32_t>& positions) const {
    const auto rows = static_cast<int64_t>(positions.size()), width = heads * attrs.head_dim;
    Floats table(static_cast<size_t>(rows * attrs.rotary_dim));
    rope_angles(rope_frequencies(attrs, {}), positions.data(), 0, rows, table.data());
    const auto args = [&](float* y, const float* from) {
      return RopeArgs{from, width, table.data(), y, width, heads, attrs.head_dim, attrs.rotary_dim, attrs.pairing};
    };
    const Floats apart = run_in_ranges(rows, [&](auto run_ranges) {
      Floats y(x.size());
      run_ranges(fn(), args(y.data(), x.data()));
      return y;
    });
    Floats in_place = x;
    fn()(args(in_place.data(), in_place.data()), 0, rows);
    EXPECT_TRUE(same_bits(apart, in_place));
    return apart;
  }
};

TEST_P(RopeKernel, MatchesTheReference) {
  const std::vector<int32_t> positions = {0, 1, 17, 4099, 131071};
  const int64_t heads = 3;
  for (const auto pairing : {RopePairing::kHalf, RopePairing::kInterleaved})
    for (const int64_t rotary : {2, 4, 6, 30, 40, 64, 80}) {
      const RopeAttrs attrs = attrs_of(rotary + 5, rotary, pairing);
      const int64_t rows = static_cast<int64_t>(positions.size()), width = heads * attrs.head_dim;
      const Floats x = normal_floats(rows * width), y = run(x, heads, attrs, positions);
      const Floats as_floats(positions.begin(), positions.end());
      const RefTensor expected = reference(Op::kRope, attrs, {tensor({rows, width}, x), tensor({rows}, as_floats)});
      // cos, sin, two products, one sum of numbers below 5 deviations.
      for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected.data[i], 5 * 5 * kUnit) << rotary;
    }
}

TEST_P(RopeKernel, PairsAndWidthsOfTheKnownCases) {
  const Floats half = {-1.984111f, 1.959901f, 2.462378f, 4.0198f};
  const Floats interleaved = {-1.14264f, 1.922076f, 2.959851f, 4.0298f};
  const Floats partial = {-1.413353f, 1.879118f, -2.828857f, 4.058191f, 5, 6, 7, 8};
  EXPECT_THAT(run({1, 2, 3, 4}, 1, attrs_of(4, 4, RopePairing::kHalf), {1}), Pointwise(FloatNear(2e-6f), half));
  EXPECT_THAT(run({1, 2, 3, 4}, 1, attrs_of(4, 4, RopePairing::kInterleaved), {1}),
              Pointwise(FloatNear(2e-6f), interleaved));
  EXPECT_THAT(run({1, 2, 3, 4, 5, 6, 7, 8}, 1, attrs_of(8, 4, RopePairing::kHalf), {3}),
              Pointwise(FloatNear(2e-6f), partial));
}

INSTANTIATE_TEST_SUITE_P(All, RopeKernel, ::testing::ValuesIn(rope_kernels()),
                         kernel_test_name<::testing::TestParamInfo<Kernel<RopeFn>>>);

TEST(RopeAngles, AreRightAtTheLargestPosition) {
  const int32_t position = std::numeric_limits<int32_t>::max();
  float table[2];
  rope_angles(rope_frequencies(attrs_of(2, 2, RopePairing::kHalf), {}), &position, 0, 1, table);
  EXPECT_FLOAT_EQ(table[0], static_cast<float>(std::cos(2147483647.0)));
  EXPECT_FLOAT_EQ(table[1], static_cast<float>(std::sin(2147483647.0)));
}

TEST(RopeAngles, FactorsDivideFrequenciesAndYarnScalesCosAndSin) {
  RopeAttrs attrs = attrs_of(4, 4, RopePairing::kHalf);
  const float factors[] = {1.0f, 4.0f};
  EXPECT_DOUBLE_EQ(rope_frequencies(attrs, factors).inverse[1], 0.01 / 4);
  attrs.scaling = RopeScaling::kYarn;
  attrs.factor = 16;
  attrs.original_context = 4096;
  EXPECT_NEAR(rope_frequencies(attrs, {}).magnitude, 1.277259, 1e-6);
  const int32_t position = 0;
  float table[4];
  rope_angles(rope_frequencies(attrs, {}), &position, 0, 1, table);
  EXPECT_NEAR(table[0], 1.277259, 1e-6);
}

TEST(Rows, EmbeddingDecodesTheRowsAskedFor) {
  const uint16_t table[] = {0x3c00, 0x4000, 0x4200, 0xc400, 0x0000, 0x3800};  // f16: 1 2 3 | -4 0 0.5
  const int32_t ids[] = {1, 0, 1};
  Floats y(3 * 4, 9.0f);
  embedding({DType::kF16, reinterpret_cast<const std::byte*>(table), 3, ids, y.data(), 4}, 0, 3);
  EXPECT_THAT(y, ElementsAre(-4, 0, 0.5, 9, 1, 2, 3, 9, -4, 0, 0.5, 9));
}

TEST(Rows, TakeRowsCopiesThem) {
  Floats x(12), y(6);
  std::iota(x.begin(), x.end(), 0.0f);
  const int32_t rows[] = {2, 0};
  take_rows({x.data(), 4, 3, rows, y.data(), 3}, 0, 2);
  EXPECT_THAT(y, ElementsAre(8, 9, 10, 0, 1, 2));
}

}  // namespace
}  // namespace atb
