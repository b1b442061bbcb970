// Pointwise functions of every ISA against fp64; broadcasting, strides, and tails.
#include "kernels/pointwise/pointwise.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "kernels/op_data.h"

namespace atb {
namespace {

using namespace atb::testing;
using F = PointwiseFunction;
using ::testing::ElementsAre;
using ::testing::FloatEq;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr double kDenormal = std::numeric_limits<float>::denorm_min();

std::vector<int64_t> dense_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// One ISA with all its functions.
class PointwiseKernel : public ::testing::TestWithParam<size_t> {
 protected:
  void SetUp() override { ATB_REQUIRE_ISA(pointwise_kernels(F::kAdd)[GetParam()].isa); }
  PointwiseFn fn(F function) const { return pointwise_kernels(function)[GetParam()].fn; }

  Floats run(F function, const PointwiseArgs& loop, size_t out_size) const {
    return run_in_ranges(loop.elements(), [&](auto run_ranges) {
      Floats y(out_size);
      PointwiseArgs args = loop;
      args.out = y.data();
      run_ranges(fn(function), args);
      return y;
    });
  }
  Floats unary(F function, const Floats& x) const {
    const int64_t size = static_cast<int64_t>(x.size()), one = 1;
    const StridedInput in{x.data(), {&size, 1}, {&one, 1}};
    return run(function, pointwise_loop(nullptr, {&size, 1}, {&one, 1}, {&in, 1}), x.size());
  }
  Floats binary(F function, const Floats& a, const std::vector<int64_t>& a_shape, const Floats& b,
                const std::vector<int64_t>& b_shape, const std::vector<int64_t>& shape) const {
    const auto a_strides = dense_strides(a_shape), b_strides = dense_strides(b_shape), strides = dense_strides(shape);
    const StridedInput in[] = {{a.data(), a_shape, a_strides}, {b.data(), b_shape, b_strides}};
    const PointwiseArgs loop = pointwise_loop(nullptr, shape, strides, in);
    return run(function, loop, static_cast<size_t>(loop.elements()));
  }
  /// |y - f(x)| <= tolerance(x, f(x)) over a sweep of [low, high].
  void sweep(F function, double low, double high, const std::function<double(double)>& f,
             const std::function<double(double, double)>& tolerance) const {
    Floats x(20011);
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = static_cast<float>(low + (high - low) * static_cast<double>(i) / 20010);
    const Floats y = unary(function, x);
    for (size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(y[i], f(x[i]), tolerance(x[i], f(x[i])) + kDenormal) << pointwise_kernels(function)[0].name << x[i];
  }
};

TEST_P(PointwiseKernel, ExpIsWithinTwoUlp) {
  const auto ulp = [](double, double y) { return 2 * std::max(kDenormal, std::ldexp(1.0, std::ilogb(y) - 23)); };
  sweep(
      F::kExp, -87.3, 88.7, [](double x) { return std::exp(x); }, ulp);
  sweep(
      F::kExp, -1, 1, [](double x) { return std::exp(x); }, ulp);
  EXPECT_THAT(unary(F::kExp, {-kInf, -200, -88, 0, 89, kInf}), ElementsAre(0, 0, 0, 1, kInf, kInf));
  EXPECT_TRUE(std::isnan(unary(F::kExp, {std::nanf("")})[0]));
}

TEST_P(PointwiseKernel, TanhErfAndSigmoidAreNearTheirValues) {
  const auto eight = [](double, double y) { return 8 * kUnit * std::abs(y); };
  for (const double range : {0.1, 2.0, 12.0}) {
    sweep(
        F::kTanh, -range, range, [](double x) { return std::tanh(x); }, eight);
    sweep(
        F::kErf, -range, range, [](double x) { return std::erf(x); }, eight);
    sweep(
        F::kSigmoid, -range, range, [](double x) { return 1 / (1 + std::exp(-x)); }, eight);
  }
  EXPECT_THAT(unary(F::kTanh, {-kInf, -0.0f, kInf}), ElementsAre(-1, 0, 1));
  EXPECT_THAT(unary(F::kErf, {-kInf, 0, kInf}), ElementsAre(-1, 0, 1));
  EXPECT_TRUE(std::signbit(unary(F::kTanh, {-0.0f})[0]));
}

TEST_P(PointwiseKernel, ActivationsAreNearTheirValues) {
  // x * s, where s <= 1 has an error of a few units and its argument one of 3: s (1 - s) |argument| < 1/4.
  const auto eight = [](double x, double) { return 8 * kUnit * std::abs(x); };
  const auto reference_value = [](ActivationKind kind) {
    return [kind](double x) { return reference(Op::kActivation, ActivationAttrs{kind}, {{{1}, {x}}}).data[0]; };
  };
  for (const auto kind : {ActivationKind::kGelu, ActivationKind::kGeluTanh, ActivationKind::kGeluQuick,
                          ActivationKind::kSilu, ActivationKind::kRelu})
    for (const double range : {0.5, 6.0, 40.0})
      sweep(pointwise_function(Op::kActivation, ActivationAttrs{kind}), -range, range, reference_value(kind), eight);
}

TEST_P(PointwiseKernel, ActivationsTakeAnyInput) {
  for (const F function : {F::kGelu, F::kGeluTanh, F::kGeluQuick, F::kSilu}) {
    const Floats y = unary(function, {-kInf, -1e30f, -40, 40, 1e4f, 1e30f, kInf, std::nanf("")});
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(y[i], 0, 1e-15);
    EXPECT_EQ(Floats(y.begin() + 3, y.begin() + 7), (Floats{40, 1e4f, 1e30f, kInf}));
    EXPECT_TRUE(std::isnan(y[7]));
  }
  EXPECT_THAT(unary(F::kGeluTanh, {-40, -13.24f, 11, 20, 40, 1e4f, kInf}), ElementsAre(0, 0, 11, 20, 40, 1e4f, kInf));
  EXPECT_TRUE(std::isnan(unary(F::kRelu, {std::nanf("")})[0]));
}

TEST_P(PointwiseKernel, ValuesDoNotDependOnTheirPlace) {
  for (const F function : {F::kExp, F::kErf, F::kTanh, F::kGelu, F::kGeluTanh, F::kSilu, F::kRoundBf16}) {
    const Floats body = unary(function, Floats(64, 0.7134f));
    for (size_t n = 1; n < 40; ++n) EXPECT_EQ(unary(function, Floats(n, 0.7134f)), Floats(n, body[0]));
  }
}

TEST_P(PointwiseKernel, CastsRoundToTheirType) {
  const Floats x = {1.00390625f, 1.01171875f, 257, -2049, 65520, 1e-8f, 3.7f, -3.7f, 0, -kInf};
  const auto cast = [&](DType dtype) { return unary(pointwise_function(Op::kCast, CastAttrs{dtype}), x); };
  EXPECT_THAT(cast(DType::kBF16),
              ElementsAre(1, 1.015625f, 256, -2048, 65536, FloatEq(1.0011718e-8f), 3.703125f, -3.703125f, 0, -kInf));
  EXPECT_THAT(cast(DType::kF16), ElementsAre(1.00390625f, 1.01171875f, 257, -2048, kInf, 0, FloatEq(3.6992188f),
                                             FloatEq(-3.6992188f), 0, -kInf));
  EXPECT_THAT(cast(DType::kBool), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1, 0, 1));
  EXPECT_EQ(cast(DType::kF32), x);
  EXPECT_THAT(unary(F::kTruncate, {3.7f, -3.7f}), ElementsAre(3, -3));
}

TEST_P(PointwiseKernel, BinariesBroadcastAsNumPyDoes) {
  const std::vector<std::vector<int64_t>> shapes[] = {
      {{3, 37}, {3, 37}},     {{3, 37}, {37}}, {{3, 37}, {1}}, {{5, 3, 4}, {5, 1, 4}}, {{4, 1}, {1, 300}},
      {{2, 3, 1, 5}, {4, 1}}, {{0, 4}, {4}},   {{1}, {1}},     {{2, 600}, {2, 1}}};
  const std::pair<F, Attrs> cases[] = {{F::kAdd, NoAttrs{}},
                                       {F::kMul, NoAttrs{}},
                                       {F::kSub, BinaryAttrs{BinaryKind::kSub}},
                                       {F::kDiv, BinaryAttrs{BinaryKind::kDiv}},
                                       {F::kMax, BinaryAttrs{BinaryKind::kMax}},
                                       {F::kMin, BinaryAttrs{BinaryKind::kMin}}};
  for (const auto& pair : shapes)
    for (const auto& [function, attrs] : cases) {
      const auto count = [](const std::vector<int64_t>& s) { return RefTensor{s, {}}.elements(); };
      const Floats a = normal_floats(count(pair[0])), b = normal_floats(count(pair[1]), 3, 1, 9);
      const Op op = function == F::kAdd ? Op::kAdd : function == F::kMul ? Op::kMul : Op::kBinary;
      const RefTensor expected = reference(op, attrs, {tensor(pair[0], a), tensor(pair[1], b)});
      const Floats y = binary(function, a, pair[0], b, pair[1], expected.shape);
      ASSERT_EQ(y.size(), expected.data.size());
      for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(expected.data[i]));
    }
}

TEST_P(PointwiseKernel, MaximumAndMinimumKeepNan) {
  const float nan = std::nanf("");
  for (const F function : {F::kMax, F::kMin})
    for (const float y : binary(function, {nan, 1}, {2}, {1, nan}, {2}, {2})) EXPECT_TRUE(std::isnan(y));
}

TEST_P(PointwiseKernel, PowIsTheLibrarys) {
  const Floats y = binary(F::kPow, {2, -2, 0, 1.5f}, {4}, {0.5f, 3, 0, -2}, {4}, {4});
  EXPECT_THAT(y, ElementsAre(FloatEq(1.41421356f), -8, 1, FloatEq(0.44444444f)));
}

TEST_P(PointwiseKernel, WhereTakesByCondition) {
  const Floats c = {1, 0, 1}, a = {1, 2, 3}, b = {std::nanf("")};
  const int64_t three = 3, one = 1;
  const StridedInput in[] = {
      {c.data(), {&three, 1}, {&one, 1}}, {a.data(), {&three, 1}, {&one, 1}}, {b.data(), {&one, 1}, {&one, 1}}};
  const Floats y = run(F::kWhere, pointwise_loop(nullptr, {&three, 1}, {&one, 1}, in), 3);
  EXPECT_EQ(y[0], 1);
  EXPECT_TRUE(std::isnan(y[1]));
  EXPECT_EQ(y[2], 3);
}

TEST_P(PointwiseKernel, CopyMovesStridedData) {
  // x [2, 3, 5] -> [5, 3, 2], written into the right half of rows of 4.
  const Floats x = normal_floats(30);
  const int64_t shape[] = {5, 3, 2}, from[] = {1, 5, 15}, to[] = {12, 4, 1};
  const StridedInput in{x.data(), shape, from};
  Floats y(60, 9.0f);
  const PointwiseArgs loop = pointwise_loop(y.data() + 2, shape, to, {&in, 1});
  fn(F::kCopy)(loop, 0, loop.elements());
  for (int64_t i = 0; i < 60; ++i) {
    const int64_t a = i / 12, b = i / 4 % 3, c = i % 4 - 2;
    EXPECT_EQ(y[static_cast<size_t>(i)], c < 0 ? 9.0f : x[static_cast<size_t>(c * 15 + b * 5 + a)]);
  }
}

TEST(PointwiseLoop, MergesWhatLiesEvenly) {
  const Floats x(24);
  const int64_t shape[] = {2, 3, 4}, strides[] = {12, 4, 1}, row_shape[] = {4}, row_strides[] = {1};
  const StridedInput same{x.data(), shape, strides}, row{x.data(), row_shape, row_strides};
  const StridedInput two[] = {same, same}, with_row[] = {same, row};
  EXPECT_EQ(pointwise_loop(nullptr, shape, strides, two).dims, 1);
  EXPECT_EQ(pointwise_loop(nullptr, shape, strides, with_row).dims, 2);
  EXPECT_EQ(pointwise_loop(nullptr, shape, strides, with_row).elements(), 24);
}

INSTANTIATE_TEST_SUITE_P(All, PointwiseKernel, ::testing::Range<size_t>(0, pointwise_kernels(F::kAdd).size()),
                         [](const auto& info) {
                           return std::string(isa_name(pointwise_kernels(F::kAdd)[info.param].isa));
                         });

}  // namespace
}  // namespace atb
