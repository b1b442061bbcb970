// Shapes and dtypes that fit, and the words of those that do not.
#include <atb/error.h>
#include <atb/graph.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace atb {
namespace {

using testing::HasSubstr;

const Dim T = Dim::symbol("tokens"), P = Dim::symbol("past");

// The type of op(inputs), as text; or the message of the error.
std::string infer_text(Op op, const Attrs& attrs, const std::vector<std::pair<DType, Shape>>& types) {
  Graph g;
  std::vector<ValueId> inputs;
  for (const auto& [dtype, shape] : types) inputs.push_back(g.param("w" + std::to_string(inputs.size()), dtype, shape));
  try {
    const Value& y = g.value(g.add(op, attrs, inputs, "some.path"));
    g.verify();
    return std::string(dtype_name(y.dtype)) + to_string(y.shape);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kModel);
    EXPECT_EQ(e.where(), "some.path");
    return e.message();
  }
}

constexpr DType F32 = DType::kF32, F16 = DType::kF16, BF16 = DType::kBF16, I32 = DType::kI32;

struct InferCase {
  Op op;
  Attrs attrs;
  std::vector<std::pair<DType, Shape>> inputs;
  const char* expected;  ///< a type, or a part of the message
};
class Infer : public testing::TestWithParam<InferCase> {};

TEST_P(Infer, Gives) {
  EXPECT_THAT(infer_text(GetParam().op, GetParam().attrs, GetParam().inputs), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    MatMul, Infer,
    testing::Values(
        InferCase{Op::kMatMul, MatMulAttrs{}, {{BF16, {T, 64}}, {DType::kQ4_1, {96, 64}}}, "bf16[tokens, 96]"},
        InferCase{
            Op::kMatMul, MatMulAttrs{WeightLayout::kInOut}, {{F32, {2, T, 64}}, {F16, {64, 96}}}, "f32[2, tokens, 96]"},
        InferCase{Op::kMatMul, MatMulAttrs{}, {{F32, {64}}, {F32, {96, 64}}}, "f32[96]"},
        InferCase{Op::kMatMul, MatMulAttrs{}, {{F32, {3, T, 64}}, {F32, {3, P, 64}}}, "f32[3, tokens, past]"},
        InferCase{
            Op::kMatMul, MatMulAttrs{}, {{F32, {3, T, 64}}, {F32, {2, P, 64}}}, "matmul: leading dimensions differ"},
        InferCase{Op::kMatMul,
                  MatMulAttrs{},
                  {{F32, {T, 64}}, {F32, {96, 65}}},
                  "matmul: inner sizes differ: x is %w0 f32[tokens, 64], weight %w1 f32[96, 65]"},
        InferCase{Op::kMatMul, MatMulAttrs{}, {{F32, {T, T}}, {F32, {96, P}}}, "inner sizes differ"},
        InferCase{Op::kMatMul, MatMulAttrs{}, {{I32, {T, 64}}, {F32, {96, 64}}}, "expected a floating dtype"},
        InferCase{Op::kMatMul,
                  MatMulAttrs{WeightLayout::kInOut},
                  {{F32, {T, 96}}, {DType::kQ8_0, {96, 64}}},
                  "blocks do not run along K"},
        InferCase{Op::kMatMul, NoAttrs{}, {{F32, {T, 64}}, {F32, {96, 64}}}, "another operator's"}));

INSTANTIATE_TEST_SUITE_P(
    Pointwise, Infer,
    testing::Values(InferCase{Op::kMul, NoAttrs{}, {{F32, {1, 1}}, {F32, {2}}}, "f32[1, 2]"},
                    InferCase{Op::kAdd, NoAttrs{}, {{F32, {T, 1}}, {F32, {1, P}}}, "f32[tokens, past]"},
                    InferCase{Op::kAdd, NoAttrs{}, {{F32, {T}}, {F32, {P}}}, "shapes do not broadcast"},
                    InferCase{Op::kAdd, NoAttrs{}, {{F32, {T + P}}, {F32, {P + T}}}, "f32[past+tokens]"},
                    InferCase{Op::kAdd, NoAttrs{}, {{F32, {0}}, {F32, {1}}}, "f32[0]"},
                    InferCase{Op::kAdd, NoAttrs{}, {{F32, {4}}, {BF16, {4}}}, "dtypes differ"},
                    InferCase{Op::kBinary, BinaryAttrs{}, {{I32, {4}}, {I32, {}}}, "i32[4]"},
                    InferCase{Op::kAdd, NoAttrs{}, {{DType::kBool, {4}}, {DType::kBool, {4}}}, "cannot compute with"},
                    InferCase{Op::kWhere, NoAttrs{}, {{DType::kBool, {T, 1}}, {F32, {}}, {F32, {4}}}, "f32[tokens, 4]"},
                    InferCase{Op::kWhere, NoAttrs{}, {{F32, {T, 1}}, {F32, {}}, {F32, {4}}}, "expected bool"},
                    InferCase{Op::kCast, CastAttrs{BF16}, {{F32, {T, 4}}}, "bf16[tokens, 4]"},
                    InferCase{Op::kCast, CastAttrs{DType::kQ4_0}, {{F32, {T, 32}}}, "the target must be a plain dtype"},
                    InferCase{Op::kActivation, ActivationAttrs{}, {{I32, {4}}}, "expected a floating dtype"},
                    InferCase{Op::kActivation, ActivationAttrs{}, {{F32, {4}}, {F32, {4}}}, "has 2 inputs, expected 1"},
                    InferCase{Op::kUnary, UnaryAttrs{}, {{F16, {4}}}, "f16[4]"}));

INSTANTIATE_TEST_SUITE_P(
    Norms, Infer,
    testing::Values(
        InferCase{Op::kLayerNorm, LayerNormAttrs{}, {{BF16, {2, T, 8}}, {F32, {8}}, {F32, {}}}, "bf16[2, tokens, 8]"},
        InferCase{
            Op::kLayerNorm, LayerNormAttrs{}, {{F32, {2, T, 8}}, {F32, {1, 1, 8}}, {F32, {1}}}, "f32[2, tokens, 8]"},
        InferCase{Op::kLayerNorm, LayerNormAttrs{}, {{F32, {T, 8}}, {F32, {1, 1, 8}}}, "does not fit the last axis"},
        InferCase{Op::kRmsNorm, RmsNormAttrs{}, {{F32, {1, 1}}, {F32, {2}}}, "does not fit the last axis"},
        InferCase{Op::kRmsNorm, RmsNormAttrs{}, {{F32, {2, 8}}, {F32, {2, 8}}}, "does not fit the last axis"},
        InferCase{Op::kRmsNorm, RmsNormAttrs{}, {{F32, {1, T}}, {F32, {P}}}, "does not fit the last axis"},
        InferCase{Op::kRmsNorm, RmsNormAttrs{-1}, {{F32, {8}}, {F32, {8}}}, "eps must be a number >= 0"},
        InferCase{Op::kRmsNorm, RmsNormAttrs{std::nanf("")}, {{F32, {8}}, {F32, {8}}}, "eps must be a number >= 0"},
        InferCase{Op::kSoftmax, NoAttrs{}, {{F32, {}}}, "expected at least 1 dimensions"}));

ScoresAttrs heads(int64_t heads, int64_t kv_heads) { return {.heads = heads, .kv_heads = kv_heads, .head_dim = 4}; }
ScoresAttrs masked(MaskKind kind) { return {.heads = 2, .kv_heads = 1, .head_dim = 4, .mask = kind}; }
ScoresAttrs windowed() { return {.heads = 2, .kv_heads = 1, .head_dim = 4, .window = 3}; }

INSTANTIATE_TEST_SUITE_P(
    Attention, Infer,
    testing::Values(
        InferCase{Op::kScores, heads(2, 1), {{F32, {T, 8}}, {F16, {T + P, 4}}}, "f32[2, tokens, past+tokens]"},
        InferCase{Op::kScores, heads(3, 2), {{F32, {T, 12}}, {F32, {T, 8}}}, "heads = 3, kv_heads = 2"},
        InferCase{Op::kScores, heads(33, 2), {{F32, {T, 132}}, {F32, {T, 8}}}, "heads = 33, kv_heads = 2"},
        InferCase{Op::kScores, heads(0, 0), {{F32, {T, 0}}, {F32, {T, 0}}}, "heads = 0"},
        InferCase{Op::kScores, heads(2, 1), {{F32, {T, 9}}, {F32, {T, 4}}}, "expected 8 features"},
        InferCase{Op::kScores, heads(2, 1), {{F32, {2, T, 8}}, {F32, {3, T, 4}}}, "leading dimensions differ"},
        InferCase{Op::kScores, windowed(), {{F32, {T, 8}}, {F32, {T, 4}}}, "a window needs causal"},
        InferCase{Op::kScores,
                  masked(MaskKind::kBool),
                  {{F32, {T, 8}}, {F32, {P, 4}}, {DType::kBool, {T, P}}},
                  "f32[2, tokens, past]"},
        InferCase{Op::kScores,
                  masked(MaskKind::kAdditive),
                  {{F32, {T, 8}}, {F32, {P, 4}}, {DType::kBool, {T, P}}},
                  "not of the kind"},
        InferCase{Op::kScores,
                  masked(MaskKind::kAdditive),
                  {{F32, {T, 8}}, {F32, {P, 4}}, {F32, {3, T, P}}},
                  "does not broadcast"},
        InferCase{Op::kScores, masked(MaskKind::kBool), {{F32, {T, 8}}, {F32, {P, 4}}}, "go together"},
        InferCase{Op::kValues, ValuesAttrs{2, 1, 4}, {{F32, {2, T, P}}, {F16, {P, 4}}}, "f32[tokens, 8]"},
        InferCase{Op::kValues, ValuesAttrs{2, 1, 4}, {{F32, {2, T, P}}, {F32, {T, 4}}}, "does not fit v"}));

RopeAttrs rope_of(int64_t head_dim, int64_t rotary_dim, RopeScaling scaling = RopeScaling::kNone) {
  return {.head_dim = head_dim, .rotary_dim = rotary_dim, .scaling = scaling};
}

INSTANTIATE_TEST_SUITE_P(
    Rope, Infer,
    testing::Values(
        InferCase{Op::kRope, rope_of(4, 2), {{F32, {2, T, 8}}, {I32, {T}}}, "f32[2, tokens, 8]"},
        InferCase{Op::kRope, rope_of(4, 2), {{F32, {2, T, 8}}, {I32, {2, T}}, {F32, {1}}}, "f32[2, tokens, 8]"},
        InferCase{Op::kRope, rope_of(4, 3), {{F32, {T, 8}}, {I32, {T}}}, "rotary_dim = 3"},
        InferCase{Op::kRope, rope_of(4, 6), {{F32, {T, 8}}, {I32, {T}}}, "rotary_dim = 6"},
        InferCase{Op::kRope, rope_of(0, 0), {{F32, {T, 8}}, {I32, {T}}}, "head_dim must be > 0"},
        InferCase{Op::kRope, rope_of(3, 2), {{F32, {T, 8}}, {I32, {T}}}, "no multiple of head_dim"},
        InferCase{Op::kRope, rope_of(4, 4), {{F32, {T, 8}}, {I32, {P}}}, "do not fit the rows"},
        InferCase{Op::kRope, rope_of(4, 4), {{F32, {T, 8}}, {F32, {T}}}, "expected i32 or i64"},
        InferCase{Op::kRope, rope_of(4, 4, RopeScaling::kYarn), {{F32, {T, 8}}, {I32, {T}}}, "original_context"},
        InferCase{Op::kRope, rope_of(4, 4), {{F32, {T, 8}}, {I32, {T}}, {F32, {3}}}, "are not [rotary_dim/2]"}));

INSTANTIATE_TEST_SUITE_P(
    Movement, Infer,
    testing::Values(
        InferCase{Op::kEmbedding, NoAttrs{}, {{DType::kQ8_0, {10, 32}}, {I32, {T}}}, "f32[tokens, 32]"},
        InferCase{Op::kEmbedding, NoAttrs{}, {{F16, {10, 32}}, {I32, {2, T}}}, "f16[2, tokens, 32]"},
        InferCase{Op::kEmbedding, NoAttrs{}, {{F16, {10, 32}}, {F32, {T}}}, "ids is %w1"},
        InferCase{Op::kTakeRows, NoAttrs{}, {{F32, {T, 8}}, {I32, {P}}}, "f32[past, 8]"},
        InferCase{Op::kKvAppend, NoAttrs{}, {{F32, {P, 8}}, {F32, {T, 8}}}, "expected a state"},
        InferCase{Op::kReshape, ReshapeAttrs{{-1, 2, 4}}, {{F32, {T, 8}}}, "f32[tokens, 2, 4]"},
        InferCase{Op::kReshape, ReshapeAttrs{{-1, 2, 5}}, {{F32, {T, 8}}}, "does not have the elements"},
        InferCase{Op::kReshape, ReshapeAttrs{{8, -1}}, {{F32, {T, 8}}}, "must stay at their place"},
        InferCase{Op::kReshape, ReshapeAttrs{{-1, -1, -1}}, {{F32, {T, 8}}}, "has no dimension"},
        InferCase{Op::kReshape, ReshapeAttrs{{-2}}, {{F32, {8}}}, "a size is -2"},
        InferCase{Op::kReshape, ReshapeAttrs{{1ll << 62, 4}}, {{F32, {8}}}, "do not fit into 64 bits"},
        InferCase{Op::kTranspose, TransposeAttrs{{1, 0}}, {{F32, {T, 8}}}, "f32[8, tokens]"},
        InferCase{Op::kTranspose, TransposeAttrs{{1, 1}}, {{F32, {T, 8}}}, "does not name each axis"},
        InferCase{Op::kSlice, SliceAttrs{1, 1, 8, 3}, {{F32, {T, 8}}}, "f32[tokens, 3]"},
        InferCase{Op::kSlice, SliceAttrs{0, 0, 1, 1}, {{F32, {T, 8}}}, "is symbolic"},
        InferCase{Op::kSlice, SliceAttrs{1, 4, 9, 1}, {{F32, {T, 8}}}, "are not inside axis 1"},
        InferCase{Op::kSlice, SliceAttrs{1, 0, 8, 0}, {{F32, {T, 8}}}, "step must be >= 1"},
        InferCase{Op::kConcat, ConcatAttrs{0}, {{F32, {T, 8}}, {F32, {P, 8}}, {F32, {3, 8}}}, "f32[past+tokens+3, 8]"},
        InferCase{Op::kConcat, ConcatAttrs{1}, {{F32, {T, 8}}, {F32, {P, 8}}}, "sizes differ"},
        InferCase{Op::kConcat, ConcatAttrs{2}, {{F32, {T, 8}}}, "axis 2 is outside"},
        InferCase{Op::kConcat, ConcatAttrs{0}, {}, "has 0 inputs, expected 1 or more"},
        InferCase{Op::kRepeat, RepeatAttrs{0, 3}, {{F32, {T + 1, 8}}}, "f32[3*tokens+3, 8]"},
        InferCase{Op::kRepeat, RepeatAttrs{0, 0}, {{F32, {T, 8}}}, "times must be >= 1"},
        InferCase{Op::kReduce, ReduceAttrs{}, {{F32, {T, 8}}}, "f32[tokens, 1]"}));

TEST(Infer, KvAppendKeepsTheDtypeOfItsState) {
  Graph g;
  const ValueId y = kv_append(g, g.state("k", F16, {P, 8}), g.input("x", F32, {T, 8}), "append");
  EXPECT_EQ(g.value(y).dtype, F16);
  EXPECT_EQ(to_string(g.value(y).shape), "[past+tokens, 8]");
}

TEST(Infer, ConstantsTakeTheDtypeOfTheOther) {
  Graph g;
  const ValueId x = g.input("x", BF16, {T});
  EXPECT_EQ(g.value(mul(g, x, g.constant(2), "scaled")).dtype, BF16);
  EXPECT_EQ(g.value(mul(g, g.constant(2), x, "scaled")).dtype, BF16);
}

}  // namespace
}  // namespace atb
