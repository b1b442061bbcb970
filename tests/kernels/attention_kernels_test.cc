// kv_append, scores and values of every ISA and cache type against fp64, and the numbers of public bug reports.
#include "kernels/attention/attention.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "base/half.h"
#include "ir/infer.h"
#include "kernels/op_data.h"
#include "kernels/softmax/softmax.h"

namespace atb {
namespace {

using namespace atb::testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::FloatNear;

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr DType kCacheTypes[] = {DType::kF32, DType::kF16, DType::kBF16};

/// Pages whose every bit is set: whatever a kernel reads beyond the context is NaN.
class Cache {
 public:
  Cache(KvLayout layout, int64_t tokens) : layout_(layout) {
    for (int64_t first = 0; first < tokens; first += kPageTokens) {
      bytes_.emplace_back(layout.page_bytes(), std::byte{0xff});
      pages_.push_back(bytes_.back().data());
    }
  }
  KvPages pages() const { return {pages_.data()}; }
  const KvLayout& layout() const { return layout_; }

 private:
  KvLayout layout_;
  std::vector<std::vector<std::byte>> bytes_;
  std::vector<std::byte*> pages_;
};

Floats as_stored(Floats values, DType dtype) {
  RefTensor stored = tensor({static_cast<int64_t>(values.size())}, values);
  round_to(dtype, stored);
  return Floats(stored.data.begin(), stored.data.end());
}

struct Shape {
  int64_t heads = 1, kv_heads = 1, head_dim = 64, past = 0, rows = 1;
  int64_t context() const { return past + rows; }
  int64_t kv_width() const { return kv_heads * head_dim; }
};

/// One variant (by its place in the kernel tables) and one cache type.
class AttentionKernel : public ::testing::TestWithParam<std::tuple<size_t, DType>> {
 protected:
  void SetUp() override { ATB_REQUIRE_ISA(scores_kernels(dtype())[variant()].isa); }
  size_t variant() const { return std::get<0>(GetParam()); }
  DType dtype() const { return std::get<1>(GetParam()); }

  Cache cache(const Shape& shape, const Floats& x, bool is_key) const {
    Cache cache({dtype(), shape.kv_heads, shape.head_dim}, shape.context());
    const KvAppendArgs args{x.data(), shape.kv_width(), shape.context(), 0, cache.pages(), cache.layout()};
    const KvAppendFn append = kv_append_kernels(dtype(), is_key)[variant()].fn;
    const int64_t cut = shape.context() / 3;
    append(args, 0, cut);
    append(args, cut, shape.context());
    return cache;
  }

  /// [heads][rows][context]
  Floats scores(const Shape& shape, const Floats& q, const Floats& k, ScoresAttrs attrs,
                const Floats& mask = {}) const {
    const Cache keys = cache(shape, k, true);
    attrs.heads = shape.heads;
    attrs.kv_heads = shape.kv_heads;
    attrs.head_dim = shape.head_dim;
    const std::vector<double> slopes = alibi_slopes(shape.heads);
    ScoresArgs args{};
    args.q = q.data();
    args.ldq = shape.heads * shape.head_dim;
    args.rows = shape.rows;
    args.past = shape.past;
    args.keys = keys.pages();
    args.layout = keys.layout();
    args.attrs = attrs;
    args.alibi = attrs.alibi ? slopes.data() : nullptr;
    args.mask = mask.empty() ? nullptr : mask.data();
    args.mask_lowest = std::numeric_limits<float>::lowest();
    args.mask_row_stride = shape.context();
    args.lds = shape.context();
    return run_in_ranges(shape.heads * shape.rows, [&](auto run_ranges) {
      Floats s(static_cast<size_t>(shape.heads * shape.rows * shape.context()));
      args.s = s.data();
      run_ranges(scores_kernels(dtype())[variant()].fn, args);
      return s;
    });
  }

  /// [rows][heads * head_dim]
  Floats values(const Shape& shape, const Floats& p, const Floats& v) const {
    const Cache stored = cache(shape, v, false);
    const int64_t width = shape.heads * shape.head_dim;
    return run_in_ranges(shape.heads * shape.rows, [&](auto run_ranges) {
      Floats o(static_cast<size_t>(shape.rows * width), -1.0f);
      run_ranges(values_kernels(dtype())[variant()].fn,
                 ValuesArgs{p.data(), shape.context(), shape.rows, shape.past, stored.pages(), stored.layout(),
                            shape.heads, o.data(), width});
      return o;
    });
  }

  Floats attend(const Shape& shape, const Floats& q, const Floats& k, const Floats& v, const ScoresAttrs& attrs,
                const Floats& mask = {}) const {
    Floats p = scores(shape, q, k, attrs, mask);
    softmax_kernels().back().fn({p.data(), shape.context(), p.data(), shape.context(), shape.context()}, 0,
                                shape.heads * shape.rows);
    return values(shape, p, v);
  }

  void expect_scores(const Shape& shape, ScoresAttrs attrs) const;
  void expect_values(const Shape& shape) const;
};

void AttentionKernel::expect_scores(const Shape& shape, ScoresAttrs attrs) const {
  attrs.heads = shape.heads;
  attrs.kv_heads = shape.kv_heads;
  attrs.head_dim = shape.head_dim;
  const int64_t width = shape.heads * shape.head_dim;
  const Floats q = normal_floats(shape.rows * width), k = normal_floats(shape.context() * shape.kv_width(), 0, 1, 9);
  const Floats s = scores(shape, q, k, attrs);
  const RefTensor expected =
      reference(Op::kScores, attrs,
                {tensor({shape.rows, width}, q), tensor({shape.context(), shape.kv_width()}, as_stored(k, dtype()))});
  // |q| |k| <= 25 per term; each of the head_dim products and sums rounds, then scale, softcap and ALiBi.
  const double dot = 2.0 * static_cast<double>(shape.head_dim * shape.head_dim) * attrs.scale;
  const double tolerance = (dot + 16 * (std::abs(attrs.softcap) + static_cast<double>(shape.context()))) * kUnit;
  ASSERT_EQ(s.size(), expected.data.size());
  for (size_t i = 0; i < s.size(); ++i) {
    if (std::isinf(expected.data[i]))
      ASSERT_EQ(s[i], -kInf) << i;
    else
      ASSERT_NEAR(s[i], expected.data[i], tolerance) << i;
  }
}

void AttentionKernel::expect_values(const Shape& shape) const {
  Floats p = normal_floats(shape.heads * shape.rows * shape.context());
  // Causal zeros, some zeros inside, and a row of zeros.
  for (size_t i = 0; i < p.size(); ++i) {
    const auto j = static_cast<int64_t>(i) % shape.context(),
               row = static_cast<int64_t>(i) / shape.context() % shape.rows;
    if (j > shape.past + row || (row % 3 == 1 && j % 5 == 2) || row == 4) p[i] = 0;
  }
  const Floats v = normal_floats(shape.context() * shape.kv_width(), 0, 1, 9), o = values(shape, p, v);
  const ValuesAttrs attrs{shape.heads, shape.kv_heads, shape.head_dim};
  const RefTensor expected = reference(Op::kValues, attrs,
                                       {tensor({shape.heads, shape.rows, shape.context()}, p),
                                        tensor({shape.context(), shape.kv_width()}, as_stored(v, dtype()))});
  const double length = static_cast<double>(shape.context());
  for (size_t i = 0; i < o.size(); ++i) ASSERT_NEAR(o[i], expected.data[i], (length + 2) * length * 2 * kUnit) << i;
}

constexpr int64_t kLengths[] = {1, 2, 31, 33, 63, 65, 127, 129, 257};

TEST_P(AttentionKernel, AnyHeadDimAndLength) {
  for (const int64_t head_dim : {40, 64, 72, 80, 96, 112, 128, 256})
    for (const int64_t rows : kLengths)
      for (const int64_t context : kLengths) {
        // Cache types differ in their loads alone, so one of them takes the long prompts.
        if (rows > context || (rows > 33 && dtype() != DType::kF32)) continue;
        SCOPED_TRACE(::testing::Message() << head_dim << " " << rows << " " << context);
        const Shape shape{1, 1, head_dim, context - rows, rows};
        ScoresAttrs attrs;
        attrs.causal = true;
        attrs.scale = 1 / std::sqrt(static_cast<float>(head_dim));
        expect_scores(shape, attrs);
        expect_values(shape);
      }
}

TEST_P(AttentionKernel, EveryAttribute) {
  for (const Shape& shape :
       {Shape{6, 2, 40, 37, 1}, Shape{6, 2, 40, 37, 13}, Shape{4, 4, 64, 0, 70}, Shape{8, 1, 64, 90, 7}})
    for (const int64_t window : {0, 1, 5, 33, 64})
      for (const float softcap : {0.0f, 2.5f})
        for (const bool alibi : {false, true}) {
          ScoresAttrs attrs;
          attrs.causal = true;
          attrs.window = window;
          attrs.softcap = softcap;
          attrs.alibi = alibi;
          attrs.scale = 0.125f;
          expect_scores(shape, attrs);
          expect_values(shape);
        }
}

TEST_P(AttentionKernel, WithoutCausalEveryKeyIsSeen) {
  for (const float softcap : {0.0f, 50.0f}) {
    ScoresAttrs attrs;
    attrs.softcap = softcap;
    expect_scores({2, 1, 64, 0, 45}, attrs);
  }
}

TEST_P(AttentionKernel, SoftcapSaturates) {
  ScoresAttrs attrs;
  attrs.softcap = 50;
  const Floats s = scores({1, 1, 1, 4, 1}, {1}, {100, 1000, 4400, 5000, -10000}, attrs);
  const Floats expected = {48.20138f, 50, 50, 50, -50};
  const double stored = dtype() == DType::kF32 ? 1e-4 : 1e-2;
  for (size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], expected[i], stored);
}

TEST_P(AttentionKernel, CausalIsAlignedBottomRight) {
  const Shape shape{1, 1, 1, 3, 2};
  ScoresAttrs attrs;
  attrs.causal = true;
  EXPECT_THAT(attend(shape, {0, 0}, Floats(5, 1.0f), {0, 1, 2, 3, 4}, attrs),
              ElementsAre(FloatNear(1.5f, 1e-6f), FloatNear(2.0f, 1e-6f)));
}

TEST_P(AttentionKernel, QueryHeadsShareTheRightKvHead) {
  for (const auto& [heads, kv_heads] : {std::pair{28, 4}, {14, 2}, {8, 1}, {6, 6}}) {
    const Shape shape{heads, kv_heads, 64, 40, 1};
    Floats v(static_cast<size_t>(shape.context() * shape.kv_width()));
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>(static_cast<int64_t>(i) / 64 % kv_heads);
    const Floats q(static_cast<size_t>(heads * 64), 0.5f), k(v.size(), 0.25f);
    const Floats o = attend(shape, q, k, v, {});
    for (size_t i = 0; i < o.size(); ++i)
      EXPECT_NEAR(o[i], static_cast<float>(static_cast<int>(i) / 64 / (heads / kv_heads)), 1e-5f);
  }
}

TEST_P(AttentionKernel, FullyMaskedBlocksBeforeVisibleOnes) {
  const Shape shape{1, 1, 64, 0, 600};
  ScoresAttrs attrs;
  attrs.causal = true;
  attrs.window = 10;
  const Floats x(600 * 64, 0.5f);
  EXPECT_THAT(attend(shape, x, x, x, attrs), Each(FloatNear(0.5f, 1e-6f)));
}

TEST_P(AttentionKernel, MaskedKeysNeverReachTheResult) {
  // Rows 0 and 2 see key 1 alone; row 1 sees none. Every other key and value is NaN or infinite.
  const Shape shape{2, 1, 64, 0, 40};
  const float nan = std::nanf("");
  Floats k(40 * 64, nan), v(40 * 64, kInf), bools(40 * 40, 0.0f);
  std::fill_n(k.begin() + 64, 64, 0.5f);
  std::fill_n(v.begin() + 64, 64, 3.0f);
  for (size_t row = 0; row < 40; ++row) bools[row * 40 + 1] = row == 1 ? 0.0f : 1.0f;
  const Floats q(40 * 128, 1.0f);
  ScoresAttrs attrs;
  attrs.mask = MaskKind::kBool;
  const Floats by_bool = attend(shape, q, k, v, attrs, bools);
  for (size_t i = 0; i < by_bool.size(); ++i) ASSERT_EQ(by_bool[i], i / 128 == 1 ? 0.0f : 3.0f) << i;

  attrs.mask = MaskKind::kAdditive;
  for (const float masked : {-kInf, std::numeric_limits<float>::lowest()}) {
    Floats additive(bools.size());
    for (size_t i = 0; i < bools.size(); ++i) additive[i] = bools[i] != 0 ? 0.0f : masked;
    EXPECT_TRUE(same_bits(attend(shape, q, k, v, attrs, additive), by_bool));
  }
}

TEST_P(AttentionKernel, AdditiveMasksAdd) {
  ScoresAttrs attrs;
  attrs.mask = MaskKind::kAdditive;
  EXPECT_THAT(scores({1, 1, 1, 1, 1}, {2}, {3, 4}, attrs, {0.5f, -1}), ElementsAre(6.5f, 7));
}

TEST_P(AttentionKernel, KeysAreStoredAsTheirType) {
  // q picks one feature; the score is the stored number.
  const float value = 1.0f / 3;
  EXPECT_THAT(scores({1, 1, 1, 0, 1}, {1}, {value}, {}), ElementsAre(as_stored({value}, dtype())[0]));
}

INSTANTIATE_TEST_SUITE_P(All, AttentionKernel,
                         ::testing::Combine(::testing::Range<size_t>(0, scores_kernels(DType::kF32).size()),
                                            ::testing::ValuesIn(kCacheTypes)),
                         [](const auto& info) {
                           const DType dtype = std::get<1>(info.param);
                           const Isa isa = scores_kernels(dtype)[std::get<0>(info.param)].isa;
                           return std::string(isa_name(isa)) + "_" + dtype_name(dtype);
                         });

}  // namespace
}  // namespace atb
