// The fp64 reference against numbers that this project did not compute: textbook values and public bug reports.
#include "kernels/reference.h"

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

namespace atb {
namespace {

using testing::DoubleNear;
using testing::Each;
using testing::ElementsAre;
using testing::ElementsAreArray;
using testing::HasSubstr;
using testing::Pointwise;

using Data = std::vector<double>;

MATCHER_P(NearTo, tolerance, "") {
  const double a = std::get<0>(arg), b = std::get<1>(arg);
  return a == b || std::fabs(a - b) <= tolerance;
}

RefTensor row(Data data) { return {{static_cast<int64_t>(data.size())}, data}; }

RefTensor run(Op op, const Attrs& attrs, const std::vector<RefTensor>& inputs) {
  RefInputs pointers;
  for (const RefTensor& input : inputs) pointers.push_back(&input);
  return reference_of(op)(attrs, pointers);
}

RefTensor layer_norm(Data x) { return run(Op::kLayerNorm, LayerNormAttrs{}, {row(std::move(x)), row({1})}); }

TEST(ReferenceLayerNorm, KeepsItsDigitsFarFromZero) {
  const Data expected = {-1.3416354, -0.4472118, 0.4472118, 1.3416354};
  for (const double v : {1e3, 4e4, 8e4})
    EXPECT_THAT(layer_norm({v, v + 1, v + 2, v + 3}).data, Pointwise(NearTo(1e-7), expected));
}

TEST(ReferenceLayerNorm, SmallSpreadsAreSpread) {
  Data x(1024);
  for (size_t i = 0; i < x.size(); ++i) x[i] = 1e4 + (i % 2 ? 0.5 : -0.5);
  const Data y = layer_norm(x).data;
  EXPECT_NEAR(y[0], -0.99998, 1e-5);
  EXPECT_NEAR(y[1], 0.99998, 1e-5);
}

TEST(ReferenceLayerNorm, ConstantRowsGiveZeros) {
  EXPECT_THAT(layer_norm(Data(256, 1234.0)).data, Each(DoubleNear(0, 1e-2)));
  EXPECT_THAT(layer_norm(Data(768, 3.3)).data, Each(DoubleNear(0, 1e-2)));
}

TEST(ReferenceLayerNorm, KeepsEmptyShapes) {
  const RefTensor y = run(Op::kLayerNorm, LayerNormAttrs{}, {{{1, 0, 10}, {}}, row(Data(10, 1.0))});
  EXPECT_THAT(y.shape, ElementsAre(1, 0, 10));
}

TEST(ReferenceRmsNorm, HugeRowsDoNotOverflow) {
  const RefTensor y = run(Op::kRmsNorm, RmsNormAttrs{}, {row({1e30, -1e30, 2e30, -2e30}), row({1, 1, 1, 1})});
  EXPECT_THAT(y.data, Pointwise(NearTo(1e-6), Data{0.632456, -0.632456, 1.264911, -1.264911}));
}

TEST(ReferenceRmsNorm, AddsOneAndRoundsWhereAsked) {
  RefTensor x = row({3, 4});  // rms = sqrt(12.5)
  x.dtype = DType::kBF16;
  const double unrounded = 3 / std::sqrt(12.5);
  EXPECT_NEAR(run(Op::kRmsNorm, RmsNormAttrs{0}, {x, row({2, 2})}).data[0], 2 * unrounded, 1e-15);
  EXPECT_NEAR(run(Op::kRmsNorm, RmsNormAttrs{0, true}, {x, row({2, 2})}).data[0], 3 * unrounded, 1e-15);
  // 0.8485... in steps of 2^-8, the spacing of bf16 below 1.
  EXPECT_EQ(run(Op::kRmsNorm, RmsNormAttrs{0, false, true}, {x, row({1, 1})}).data[0], 217.0 / 256);
}

struct ActivationValues {
  ActivationKind kind;
  Data x, y;
};
class ReferenceActivation : public testing::TestWithParam<ActivationValues> {};

TEST_P(ReferenceActivation, KnownValues) {
  const RefTensor y = run(Op::kActivation, ActivationAttrs{GetParam().kind}, {row(GetParam().x)});
  EXPECT_THAT(y.data, Pointwise(NearTo(1e-6), GetParam().y));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, ReferenceActivation,
    testing::Values(
        ActivationValues{ActivationKind::kGelu, {1, -1, 3, -HUGE_VAL}, {0.8413447, -0.1586553, 2.9959502, 0}},
        ActivationValues{ActivationKind::kGeluTanh,
                         {-40, -13.24, 11, 20, 40, 1e4, HUGE_VAL, 1, -HUGE_VAL},
                         {0, 0, 11, 20, 40, 1e4, HUGE_VAL, 0.8411920, 0}},
        ActivationValues{ActivationKind::kGeluQuick, {1, 0}, {0.8457958, 0}},
        ActivationValues{ActivationKind::kSilu, {1, -1, -1e3, HUGE_VAL}, {0.7310586, -0.2689414, 0, HUGE_VAL}},
        ActivationValues{ActivationKind::kRelu, {-2, 0, 2}, {0, 0, 2}},
        ActivationValues{ActivationKind::kSigmoid, {0, 1}, {0.5, 0.7310586}},
        ActivationValues{ActivationKind::kTanh, {1, -1e3}, {0.7615942, -1}}));

TEST(ReferenceSoftmax, FollowsTheLargestAndZeroesMaskedRows) {
  const Data expected = {.66524, .24473, .09003};
  for (const double shift : {-1e5, 1e5, 0.0})
    EXPECT_THAT(run(Op::kSoftmax, NoAttrs{}, {row({shift, shift - 1, shift - 2})}).data,
                Pointwise(NearTo(1e-5), expected));
  EXPECT_THAT(run(Op::kSoftmax, NoAttrs{}, {row({-HUGE_VAL, -HUGE_VAL})}).data, ElementsAre(0, 0));
}

/// One query head per KV head of one feature, unless said otherwise.
ScoresAttrs one_head() { return {.heads = 1, .kv_heads = 1, .head_dim = 1}; }

/// scores -> softmax -> values with every k zero, so that the unmasked keys get equal weight.
Data attend(const ScoresAttrs& attrs, int64_t queries, Data v, std::vector<RefTensor> mask = {}) {
  const auto keys = static_cast<int64_t>(v.size()) / attrs.kv_heads;
  std::vector<RefTensor> inputs{{{queries, attrs.heads}, Data(static_cast<size_t>(queries * attrs.heads), 1.0)},
                                {{keys, attrs.kv_heads}, Data(v.size(), 0.0)}};
  inputs.insert(inputs.end(), mask.begin(), mask.end());
  const RefTensor p = run(Op::kSoftmax, NoAttrs{}, {run(Op::kScores, attrs, inputs)});
  return run(Op::kValues, ValuesAttrs{attrs.heads, attrs.kv_heads, 1}, {p, {{keys, attrs.kv_heads}, std::move(v)}})
      .data;
}

TEST(ReferenceAttention, CausalIsAlignedBottomRight) {
  ScoresAttrs attrs = one_head();
  attrs.causal = true;
  EXPECT_THAT(attend(attrs, 2, {0, 1, 2, 3, 4}), Pointwise(NearTo(1e-12), Data{1.5, 2.0}));
  EXPECT_THAT(attend(attrs, 3, {5}), ElementsAre(0, 0, 5));  // more queries than keys: the first see nothing
}

TEST(ReferenceAttention, WindowCountsTheCurrentToken) {
  ScoresAttrs attrs = one_head();
  attrs.causal = true;
  attrs.window = 1;
  EXPECT_THAT(attend(attrs, 2, {0, 1, 2, 3, 4}), ElementsAre(3, 4));
  attrs.window = 2;
  EXPECT_THAT(attend(attrs, 2, {0, 1, 2, 3, 4}), ElementsAre(2.5, 3.5));
}

TEST(ReferenceAttention, QueryHeadsShareKvHeadsInOrder) {
  for (const auto& [heads, kv_heads] : {std::pair{28, 4}, {14, 2}, {8, 1}, {6, 6}}) {
    Data v(static_cast<size_t>(kv_heads)), expected(static_cast<size_t>(heads));
    std::iota(v.begin(), v.end(), 0.0);
    for (int h = 0; h < heads; ++h) expected[static_cast<size_t>(h)] = h / (heads / kv_heads);
    EXPECT_THAT(attend({.heads = heads, .kv_heads = kv_heads, .head_dim = 1}, 1, v), ElementsAreArray(expected));
  }
}

TEST(ReferenceAttention, FullyMaskedRowsAreZerosInEverySpelling) {
  ScoresAttrs attrs = one_head();
  attrs.mask = MaskKind::kBool;
  EXPECT_THAT(attend(attrs, 2, {1, 3}, {{{2, 2}, {0, 0, 1, 1}, DType::kBool}}), ElementsAre(0, 2));
  attrs.mask = MaskKind::kAdditive;
  for (const auto& [dtype, low] : {std::pair{DType::kF32, -0x1.fffffep127},
                                   {DType::kF16, -65504.0},
                                   {DType::kBF16, -0x1.fep127},
                                   {DType::kF32, -HUGE_VAL}})
    EXPECT_THAT(attend(attrs, 2, {1, 3}, {{{2, 2}, {low, low, 0, 0}, dtype}}), ElementsAre(0, 2));
}

TEST(ReferenceAttention, MaskedGarbageNeverReachesTheResult) {
  ScoresAttrs attrs = one_head();
  attrs.causal = true;
  EXPECT_THAT(attend(attrs, 2, {7, std::nan("")}), ElementsAre(7, testing::IsNan()));
}

TEST(ReferenceAttention, NothingToAttendGivesZeros) {
  EXPECT_THAT(attend(one_head(), 2, {}), ElementsAre(0, 0));
  EXPECT_THAT(attend(one_head(), 0, {1, 2}), testing::IsEmpty());
}

TEST(ReferenceAttention, SoftcapIsCapTanh) {
  ScoresAttrs attrs = one_head();
  attrs.softcap = 50;
  const RefTensor s = run(Op::kScores, attrs, {{{1, 1}, {1}}, {{5, 1}, {100, 1000, 4400, 5000, -10000}}});
  EXPECT_THAT(s.data, Pointwise(NearTo(1e-5), Data{48.20138, 50, 50, 50, -50}));
}

TEST(ReferenceAttention, AlibiFallsWithDistance) {
  ScoresAttrs attrs = one_head();
  attrs.alibi = true;  // one head: slope 2^-8
  const RefTensor s = run(Op::kScores, attrs, {{{1, 1}, {0}}, {{3, 1}, {0, 0, 0}}});
  EXPECT_THAT(s.data, ElementsAre(-2.0 / 256, -1.0 / 256, 0));
}

Data rope(Data x, double position, RopeAttrs attrs) {
  const auto width = static_cast<int64_t>(x.size());
  return run(Op::kRope, attrs, {{{1, width}, std::move(x)}, row({position})}).data;
}

TEST(ReferenceRope, PairingsAndPartialWidth) {
  RopeAttrs attrs{.head_dim = 4, .rotary_dim = 4};
  EXPECT_THAT(rope({1, 2, 3, 4}, 1, attrs), Pointwise(NearTo(1e-6), Data{-1.984111, 1.959901, 2.462378, 4.0198}));
  attrs.pairing = RopePairing::kInterleaved;
  EXPECT_THAT(rope({1, 2, 3, 4}, 1, attrs), Pointwise(NearTo(1e-6), Data{-1.14264, 1.922076, 2.959851, 4.0298}));
  const RopeAttrs partial{.head_dim = 8, .rotary_dim = 4};
  EXPECT_THAT(rope({1, 2, 3, 4, 5, 6, 7, 8}, 3, partial),
              Pointwise(NearTo(1e-6), Data{-1.413353, 1.879118, -2.828857, 4.058191, 5, 6, 7, 8}));
}

TEST(ReferenceRope, DivisorsSlowTheirPairs) {
  const RopeAttrs attrs{.head_dim = 2, .rotary_dim = 2};
  const RefTensor y = run(Op::kRope, attrs, {{{1, 2}, {1, 0}}, row({1}), row({2})});
  EXPECT_THAT(y.data, ElementsAre(std::cos(0.5), std::sin(0.5)));
}

TEST(ReferenceMatMul, BothLayoutsAndBatches) {
  const RefTensor x{{1, 2}, {1, 10}};
  EXPECT_THAT(run(Op::kMatMul, MatMulAttrs{}, {x, {{2, 2}, {1, 2, 3, 4}}}).data, ElementsAre(21, 43));
  EXPECT_THAT(run(Op::kMatMul, MatMulAttrs{WeightLayout::kInOut}, {x, {{2, 2}, {1, 2, 3, 4}}}).data,
              ElementsAre(31, 42));
  EXPECT_THAT(run(Op::kMatMul, MatMulAttrs{}, {{{2, 1, 1}, {3, 5}}, {{2, 1, 1}, {7, 11}}}).data, ElementsAre(21, 55));
}

TEST(ReferenceMovement, ViewsAndCopies) {
  const RefTensor x{{2, 3}, {0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(run(Op::kTranspose, TransposeAttrs{{1, 0}}, {x}).data, ElementsAre(0, 3, 1, 4, 2, 5));
  EXPECT_THAT(run(Op::kSlice, SliceAttrs{-1, 0, 3, 2}, {x}).data, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(run(Op::kConcat, ConcatAttrs{1}, {x, {{2, 1}, {8, 9}}}).data, ElementsAre(0, 1, 2, 8, 3, 4, 5, 9));
  EXPECT_THAT(run(Op::kRepeat, RepeatAttrs{0, 2}, {x}).data, ElementsAre(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
  EXPECT_THAT(run(Op::kReshape, ReshapeAttrs{{-1, 1, 3}}, {x}).shape, ElementsAre(2, 1, 3));
  EXPECT_THAT(run(Op::kReduce, ReduceAttrs{ReduceKind::kMean, 0}, {x}).data, ElementsAre(1.5, 2.5, 3.5));
  EXPECT_THAT(run(Op::kReduce, ReduceAttrs{ReduceKind::kMax, 1}, {x}).data, ElementsAre(2, 5));
  EXPECT_THAT(run(Op::kTakeRows, NoAttrs{}, {x, row({1, 0, 1})}).data, ElementsAre(3, 4, 5, 0, 1, 2, 3, 4, 5));
  EXPECT_THAT(run(Op::kEmbedding, NoAttrs{}, {x, {{2, 1}, {1, 0}}}).shape, ElementsAre(2, 1, 3));
  EXPECT_THROW(run(Op::kEmbedding, NoAttrs{}, {x, row({2})}), Error);
  EXPECT_THROW(run(Op::kTakeRows, NoAttrs{}, {x, row({-1})}), Error);
}

TEST(ReferencePointwise, Broadcasts) {
  const RefTensor scaled = run(Op::kMul, NoAttrs{}, {{{1, 1}, {3}}, row({1, 2})});
  EXPECT_THAT(scaled.shape, ElementsAre(1, 2));
  EXPECT_THAT(scaled.data, ElementsAre(3, 6));
  EXPECT_THAT(run(Op::kAdd, NoAttrs{}, {{{2, 1}, {10, 20}}, row({1, 2})}).data, ElementsAre(11, 12, 21, 22));
  EXPECT_THAT(run(Op::kWhere, NoAttrs{}, {row({0, 1}), {{}, {5}}, {{2, 1}, {7, 8}}}).data, ElementsAre(7, 5, 8, 5));
  EXPECT_THAT(run(Op::kBinary, BinaryAttrs{BinaryKind::kPow}, {row({3}), {{}, {2}}}).data, ElementsAre(9));
}

TEST(RoundTo, NearestEvenOverflowAndSubnormals) {
  RefTensor x = row({2049, 2051, 65519.9, 65520, -65520, 0x1p-24, 0x1p-25, 0x1.8p-24, -0.0});
  round_to(DType::kF16, x);
  EXPECT_THAT(x.data, ElementsAre(2048, 2052, 65504, HUGE_VAL, -HUGE_VAL, 0x1p-24, 0, 0x1p-23, 0));
  x = row({1 + 0x1p-8, 1 + 0x1.8p-7, 3.4e38});
  round_to(DType::kBF16, x);
  EXPECT_THAT(x.data, ElementsAre(1, 1 + 0x1p-6, HUGE_VAL));
  x = row({1.9, -1.9, 300, -300, std::nan("")});
  round_to(DType::kI8, x);
  EXPECT_THAT(x.data, ElementsAre(1, -1, 127, -128, 0));
  x = row({0, 0.5, -2});
  round_to(DType::kBool, x);
  EXPECT_THAT(x.data, ElementsAre(0, 1, 1));
}

TEST(RoundTo, F32AgreesWithTheHardware) {
  RefTensor x = row({0.1, 1.0 / 3, 1e-40, 3.5e38, 16777217, 16777219, -1e-46});
  const Data before = x.data;
  round_to(DType::kF32, x);
  for (size_t i = 0; i < before.size(); ++i) EXPECT_EQ(x.data[i], static_cast<float>(before[i]));
}

TEST(RefTensor, ElementsBeyond32And64Bits) {
  EXPECT_EQ((RefTensor{{16, 32, 8192, 8192}, {}}.elements()), int64_t{16} * 32 * 8192 * 8192);
  EXPECT_THROW((RefTensor{{int64_t{1} << 32, int64_t{1} << 32}, {}}.elements()), Error);
}

Graph cache_graph() {
  Graph g;
  const ValueId x = g.input("x", DType::kF32, {Dim::symbol("tokens"), 2});
  const ValueId state = g.state("k", DType::kF16, {Dim::symbol("past"), 2});
  g.output("k", kv_append(g, state, x, "append"));
  g.output("twice", add(g, x, x, "twice"));
  return g;
}

TEST(RunReference, GrowsStatesAndReadsSymbols) {
  const ReferenceResult result =
      run_reference(cache_graph(), {{"x", {{1, 2}, {1, 2049}}}, {"k", {{2, 2}, {5, 6, 7, 8}}}});
  EXPECT_THAT(result.states.at("k").shape, ElementsAre(3, 2));
  EXPECT_THAT(result.states.at("k").data, ElementsAre(5, 6, 7, 8, 1, 2048));  // stored in f16
  EXPECT_THAT(result.outputs.at("twice").data, ElementsAre(2, 4098));
}

TEST(RunReference, RoundsWhereAsked) {
  Graph g;
  const ValueId x = g.input("x", DType::kBF16, {1});
  const ValueId sum = add(g, x, x, "sum");
  g.output("y", add(g, sum, g.constant(1.0 / 1024), "y"));
  g.output("cast", cast(g, sum, DType::kI32, "cast"));
  const std::map<std::string, RefTensor> bindings{{"x", row({1})}};
  EXPECT_EQ(run_reference(g, bindings).outputs.at("y").data[0], 2 + 1.0 / 1024);
  EXPECT_EQ(run_reference(g, bindings, Rounding::kEveryValue).outputs.at("y").data[0], 2);
  EXPECT_EQ(run_reference(g, bindings).outputs.at("cast").data[0], 2);
}

void expect_error(const std::map<std::string, RefTensor>& bindings, const char* text) {
  try {
    run_reference(cache_graph(), bindings);
    ADD_FAILURE() << "no error";
  } catch (const Error& e) {
    EXPECT_THAT(e.what(), HasSubstr(text));
  }
}

TEST(RunReference, NamesWhatDoesNotFit) {
  expect_error({{"x", {{1, 2}, {1, 2}}}}, "no tensor is bound to this name (k)");
  expect_error({{"x", {{1, 2}, {1, 2}}}, {"k", {{0, 3}, {}}}}, "dimension 1 of [past, 2] is 3, expected 2 (k)");
  expect_error({{"x", {{1, 2}, {1}}}, {"k", {{0, 2}, {}}}}, "2 dimensions and 1 elements is bound");
}

// An unknown size is never taken for another: N and M stay apart, and N run as 1 does not broadcast.
TEST(RunReference, SymbolsKeepTheirSize) {
  Graph g;
  const ValueId a = g.input("a", DType::kF32, {Dim::symbol("N"), 2});
  const ValueId b = g.input("b", DType::kF32, {Dim::symbol("N"), 1});
  g.output("y", add(g, a, b, "sum"));
  const std::map<std::string, RefTensor> unequal{{"a", {{1, 2}, {1, 2}}}, {"b", {{2, 1}, {3, 4}}}};
  EXPECT_THROW(run_reference(g, unequal), Error);
}

}  // namespace
}  // namespace atb
