// softmax and reduce of every ISA against fp64.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "kernels/op_data.h"
#include "kernels/reduce/reduce.h"
#include "kernels/softmax/softmax.h"

namespace atb {
namespace {

using namespace atb::testing;
using ::testing::Each;
using ::testing::FloatNear;
using ::testing::Pointwise;

constexpr float kInf = std::numeric_limits<float>::infinity();

class SoftmaxKernel : public KernelTest<SoftmaxFn> {
 protected:
  Floats run(const Floats& x, int64_t columns) const {
    const auto rows = static_cast<int64_t>(x.size()) / columns;
    return run_in_ranges(rows, [&](auto run_ranges) {
      Floats y = x;
      run_ranges(fn(), SoftmaxArgs{y.data(), columns, y.data(), columns, columns});
      return y;
    });
  }
  Floats run(const Floats& x) const { return run(x, static_cast<int64_t>(x.size())); }
};

TEST_P(SoftmaxKernel, MatchesTheReference) {
  for (const int64_t n : {1, 2, 5, 16, 31, 64, 65, 257, 600, 2048}) {
    const Floats x = normal_floats(3 * n, 0, 5), y = run(x, n);
    const RefTensor expected = reference(Op::kSoftmax, NoAttrs{}, {tensor({3, n}, x)});
    for (size_t i = 0; i < y.size(); ++i) {
      // x - max of at most 50 is rounded once, exp is within 2 ulp, then the sum and the division.
      const double roundings = 50 + 4 + 4 + static_cast<double>(n) / 16 + 8;
      EXPECT_NEAR(y[i], expected.data[i], expected.data[i] * roundings * kUnit) << n;
    }
  }
}

TEST_P(SoftmaxKernel, VeryLowAndVeryHighScoresShiftAway) {
  const Floats expected = {.66524f, .24473f, .09003f};
  EXPECT_THAT(run({-1e5f, -1e5f - 1, -1e5f - 2}), Pointwise(FloatNear(1e-5f), expected));
  EXPECT_THAT(run({1e5f, 1e5f - 1, 1e5f - 2}), Pointwise(FloatNear(1e-5f), expected));
}

TEST_P(SoftmaxKernel, MaskedScoresGiveZeros) {
  for (const int64_t n : {3, 16, 37}) EXPECT_THAT(run(Floats(static_cast<size_t>(n), -kInf)), Each(0.0f));
  Floats band(600, -kInf);
  for (size_t i = 590; i < 600; ++i) band[i] = 2.5f;
  const Floats y = run(band);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], i < 590 ? 0.0f : 0.1f, 1e-7f);
  EXPECT_THAT(run(Floats(8, std::numeric_limits<float>::lowest())), Each(FloatNear(0.125f, 1e-8f)));
}

TEST_P(SoftmaxKernel, NanIsNotHiddenByMaskedScores) {
  Floats x(40, -kInf);
  x[1] = std::nanf("");
  for (const float v : run(x)) EXPECT_TRUE(std::isnan(v));
}

TEST_P(SoftmaxKernel, TouchesItsColumnsOnly) {
  Floats x(20, 7.0f);
  fn()({x.data(), 10, x.data(), 10, 9}, 0, 2);
  EXPECT_EQ(x[9], 7.0f);
  EXPECT_EQ(x[19], 7.0f);
  EXPECT_NEAR(x[8], 1.0f / 9, 1e-7f);
}

INSTANTIATE_TEST_SUITE_P(All, SoftmaxKernel, ::testing::ValuesIn(softmax_kernels()),
                         kernel_test_name<::testing::TestParamInfo<Kernel<SoftmaxFn>>>);

class ReduceKernel : public KernelTest<ReduceFn> {
 protected:
  Floats run(const Floats& x, int64_t outer, int64_t length, int64_t inner, ReduceKind kind) const {
    return run_in_ranges(outer * inner, [&](auto run_ranges) {
      Floats y(static_cast<size_t>(outer * inner));
      run_ranges(fn(), ReduceArgs{x.data(), length, inner, y.data(), kind});
      return y;
    });
  }
};

TEST_P(ReduceKernel, MatchesTheReference) {
  for (const ReduceKind kind : {ReduceKind::kSum, ReduceKind::kMean, ReduceKind::kMax})
    for (const int64_t length : {1, 2, 9, 33, 500})
      for (const int64_t inner : {1, 3, 16, 37}) {
        const Floats x = normal_floats(2 * length * inner), y = run(x, 2, length, inner, kind);
        const RefTensor expected = reference(Op::kReduce, ReduceAttrs{kind, 1}, {tensor({2, length, inner}, x)});
        // A partial sum has at most a sixteenth of the terms, or 8; magnitudes stay below 5 deviations.
        const double terms = kind == ReduceKind::kMean ? 1 : static_cast<double>(length);
        const double tolerance = (static_cast<double>(length) / 16 + 16) * kUnit * terms * 5;
        for (size_t i = 0; i < y.size(); ++i)
          EXPECT_NEAR(y[i], expected.data[i], kind == ReduceKind::kMax ? 0.0 : tolerance);
      }
}

TEST_P(ReduceKernel, MaximumKeepsNanAndKnowsNoElements) {
  Floats x(50, 1.0f);
  x[3] = std::nanf("");
  EXPECT_TRUE(std::isnan(run(x, 1, 50, 1, ReduceKind::kMax)[0]));
  EXPECT_TRUE(std::isnan(run(x, 1, 25, 2, ReduceKind::kMax)[1]));
  EXPECT_THAT(run({}, 2, 0, 1, ReduceKind::kMax), Each(-kInf));
  EXPECT_THAT(run({}, 2, 0, 3, ReduceKind::kSum), Each(0.0f));
}

INSTANTIATE_TEST_SUITE_P(All, ReduceKernel, ::testing::ValuesIn(reduce_kernels()),
                         kernel_test_name<::testing::TestParamInfo<Kernel<ReduceFn>>>);

}  // namespace
}  // namespace atb
