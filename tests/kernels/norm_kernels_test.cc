// rms_norm and layer_norm of every ISA against fp64, and the numbers of public bug reports.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/layer_norm/layer_norm.h"
#include "kernels/op_data.h"
#include "kernels/rms_norm/rms_norm.h"

namespace atb {
namespace {

using namespace atb::testing;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr int64_t kWidths[] = {1, 3, 7, 16, 31, 64, 65, 129, 576, 1000, 4096};
constexpr int64_t kRows = 3;

/// Roundings on the way to one statistic: a partial sum has at most one sixteenth of the terms (4 lanes, 4 sums).
double statistic_roundings(int64_t columns) { return static_cast<double>(columns) / 16 + 8; }

class RmsNormKernel : public KernelTest<RmsNormFn> {
 protected:
  Floats run(const Floats& x, const Floats& w, RmsNormAttrs attrs, DType round_to = DType::kF32) const {
    const auto columns = static_cast<int64_t>(w.size()), rows = static_cast<int64_t>(x.size()) / columns;
    return run_in_ranges(rows, [&](auto run_ranges) {
      Floats y(x.size());
      run_ranges(fn(), RmsNormArgs{x.data(), columns, w.data(), y.data(), columns, columns, attrs.eps,
                                   attrs.one_plus_weight, round_to});
      return y;
    });
  }
};

TEST_P(RmsNormKernel, MatchesTheReference) {
  for (const int64_t n : kWidths)
    for (const bool one_plus : {false, true}) {
      const Floats x = normal_floats(kRows * n, 0.5f, 3), w = normal_floats(n, 1, 0.3f, 8);
      const RmsNormAttrs attrs{1e-5f, one_plus, false};
      const Floats y = run(x, w, attrs);
      const RefTensor expected = reference(Op::kRmsNorm, attrs, {tensor({kRows, n}, x), tensor({n}, w)});
      for (size_t i = 0; i < y.size(); ++i)
        EXPECT_NEAR(y[i], expected.data[i], std::abs(expected.data[i]) * statistic_roundings(n) * kUnit) << n;
    }
}

TEST_P(RmsNormKernel, WorksInPlaceOnRowsWithGaps) {
  const int64_t n = 37, stride = 41;
  Floats x = normal_floats(2 * stride);
  const Floats w(static_cast<size_t>(n), 1.5f), before = x;
  const Floats first = run(Floats(x.begin(), x.begin() + n), w, {});
  fn()({x.data(), stride, w.data(), x.data(), stride, n, 1e-6f, false}, 0, 2);
  EXPECT_TRUE(same_bits(first, Floats(x.begin(), x.begin() + n)));
  EXPECT_TRUE(
      same_bits(Floats(before.begin() + n, before.begin() + stride), Floats(x.begin() + n, x.begin() + stride)));
}

TEST_P(RmsNormKernel, AddsOneToTheWeightInFp32) {
  EXPECT_THAT(run({1, 1, 1, 1}, Floats(4, 15.8125f), {0.0f, true, false}), Each(16.8125f));
}

TEST_P(RmsNormKernel, RoundsBeforeTheWeightWhereAsked) {
  // 3 / sqrt(mean(9, 16)) = 0.848528: 0.847656 in bf16, 0.848633 in f16.
  const Floats x = {3, 4}, w = {1, 1};
  EXPECT_FLOAT_EQ(run(x, w, {0.0f}, DType::kBF16)[0], 0.84765625f);
  EXPECT_FLOAT_EQ(run(x, w, {0.0f}, DType::kF16)[0], 0.8486328125f);
}

TEST_P(RmsNormKernel, SquaresMayOverflow) {
  const Floats expected = {0.632456f, -0.632456f, 1.264911f, -1.264911f};
  EXPECT_THAT(run({1e30f, -1e30f, 2e30f, -2e30f}, Floats(4, 1.0f), {}), Pointwise(FloatNear(1e-6f), expected));
  EXPECT_THAT(run(Floats(77, std::numeric_limits<float>::max()), Floats(77, 1.0f), {}), Each(FloatNear(1, 1e-6f)));
}

TEST_P(RmsNormKernel, ZeroRowsStayZeroAndNanStaysNan) {
  EXPECT_THAT(run(Floats(20, 0.0f), Floats(20, 2.0f), {1e-12f}), Each(0.0f));
  EXPECT_TRUE(std::isnan(run({1, std::nanf(""), 1}, {1, 1, 1}, {})[0]));
}

class LayerNormKernel : public KernelTest<LayerNormFn> {
 protected:
  Floats run(const Floats& x, const Floats& w, const Floats& b, float eps) const {
    const auto columns = static_cast<int64_t>(w.size()), rows = static_cast<int64_t>(x.size()) / columns;
    return run_in_ranges(rows, [&](auto run_ranges) {
      Floats y(x.size());
      run_ranges(fn(), LayerNormArgs{x.data(), columns, w.data(), b.empty() ? nullptr : b.data(), y.data(), columns,
                                     columns, eps});
      return y;
    });
  }
  Floats plain(const Floats& x) const { return run(x, Floats(x.size(), 1.0f), {}, 1e-5f); }
};

TEST_P(LayerNormKernel, MatchesTheReference) {
  for (const int64_t n : kWidths)
    for (const float mean : {0.0f, 1.0f, 1000.0f}) {
      const Floats x = normal_floats(kRows * n, mean), w = normal_floats(n, 1, 0.3f, 8), b = normal_floats(n, 0, 1, 9);
      const Floats y = run(x, w, b, 1e-5f);
      const RefTensor expected =
          reference(Op::kLayerNorm, LayerNormAttrs{1e-5f}, {tensor({kRows, n}, x), tensor({n}, w), tensor({n}, b)});
      for (size_t i = 0; i < y.size(); ++i) {
        // The normalised value and the mean of the deviations (of size 1) are off by the roundings of a statistic.
        const double weight = std::abs(double{w[i % w.size()]}), bias = std::abs(double{b[i % b.size()]});
        const double normalised = std::abs(expected.data[i] - b[i % b.size()]) / weight;
        const double roundings = statistic_roundings(n) * (normalised + 1) * weight + bias + std::abs(expected.data[i]);
        EXPECT_NEAR(y[i], expected.data[i], roundings * kUnit) << n << " " << mean;
      }
    }
}

TEST_P(LayerNormKernel, KeepsItsDigitsFarFromZero) {
  const Floats expected = {-1.3416354f, -0.4472118f, 0.4472118f, 1.3416354f};
  for (const float v : {1e3f, 4e4f, 8e4f})
    EXPECT_THAT(plain({v, v + 1, v + 2, v + 3}), Pointwise(FloatNear(1e-6f), expected));
  Floats square_wave(1024);
  for (size_t i = 0; i < square_wave.size(); ++i) square_wave[i] = 1e4f + (i % 2 == 0 ? 0.5f : -0.5f);
  const Floats y = plain(square_wave);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], i % 2 == 0 ? 0.99998f : -0.99998f, 1e-5f);
}

TEST_P(LayerNormKernel, ASmallSpreadAroundALargeMeanKeepsItsSize) {
  const Floats y = plain(normal_floats(768, 100, 0.01f));
  double squares = 0;
  for (const float v : y) squares += double{v} * v;
  EXPECT_NEAR(std::sqrt(squares / 768), 0.95, 0.01);
}

TEST_P(LayerNormKernel, ConstantRowsGiveZeros) {
  EXPECT_THAT(plain(Floats(256, 1234.0f)), Each(FloatNear(0, 1e-2f)));
  EXPECT_THAT(plain(Floats(768, 3.3f)), Each(FloatNear(0, 1e-2f)));
}

TEST_P(LayerNormKernel, SquaresMayOverflow) {
  const Floats expected = {-0.632456f, 0.632456f, -1.264911f, 1.264911f};
  EXPECT_THAT(plain({-1e30f, 1e30f, -2e30f, 2e30f}), Pointwise(FloatNear(1e-6f), expected));
}

TEST_P(LayerNormKernel, UsesItsOwnEps) {
  Floats x(64);
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 == 0 ? 1e-4f : -1e-4f;
  const Floats one(64, 1.0f);
  EXPECT_NEAR(run(x, one, {}, 1e-12f)[0], 0.99995f, 1e-5f);
  EXPECT_NEAR(run(x, one, {}, 1e-5f)[0], 0.0316070f, 1e-6f);
  EXPECT_THAT(run(Floats(64, 0.0f), one, Floats(64, 0.25f), 1e-12f), Each(0.25f));
}

INSTANTIATE_TEST_SUITE_P(All, RmsNormKernel, ::testing::ValuesIn(rms_norm_kernels()),
                         kernel_test_name<::testing::TestParamInfo<Kernel<RmsNormFn>>>);
INSTANTIATE_TEST_SUITE_P(All, LayerNormKernel, ::testing::ValuesIn(layer_norm_kernels()),
                         kernel_test_name<::testing::TestParamInfo<Kernel<LayerNormFn>>>);

}  // namespace
}  // namespace atb
