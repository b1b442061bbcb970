// Every variant of kernels.inc that this CPU runs, against fp64 products of exactly the values that it was given.
#include "kernels/matmul/matmul.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "kernels/matmul_data.h"
#include "support/isa_report.h"

namespace atb {
namespace {

using testing::Activations;
using testing::exact_answer;
using testing::Packed;
using testing::Random;
using testing::random_floats;
using testing::Weights;

constexpr float kUntouched = -12345.0f;

/// c[m][ldc] for the first n outputs, with one more column that no kernel may touch.
std::vector<float> run(const MatMulKernel& kernel, const Packed& w, const Activations& a, int64_t first_row, int64_t m,
                       int64_t n, int64_t k) {
  std::vector<float> c(static_cast<size_t>(m * (n + 1)), kUntouched);
  const MatMulArgs args{
      a.data() + first_row * a.row_bytes, a.row_bytes, w.panels.data(), c.data(), n + 1, m, n, k, w.format};
  kernel.run(args, 0, panel_count(n));
  return c;
}

std::vector<DType> dtypes_of(PackKind kind) {
  std::vector<DType> found;
  for (int i = 0; i < kDTypeCount; ++i) {
    const auto dtype = static_cast<DType>(i);
    const bool weights = dtype_info(dtype).quantized || dtype_info(dtype).floating;
    if (weights && exact_format(dtype).kind == kind) found.push_back(dtype);
  }
  return found;
}

std::vector<int64_t> lengths_of(DType dtype) {
  const int block = dtype_info(dtype).block_size;
  if (block == 256) return {256, 768, 1536};
  if (block == 32) return {32, 64, 96, 576, 1536};
  return {1, 3, 32, 64, 255, 576, 1536};
}

constexpr int64_t kMaxRows = 33, kMaxOutputs = 64;
constexpr int64_t kRows[] = {1, 2, 3, 4, 5, 7, 8, 16, 33};
constexpr int64_t kOutputs[] = {1, 15, 16, 17, 40, 64};

class MatMulTest : public ::testing::TestWithParam<MatMulKernel> {
 protected:
  void SetUp() override { ATB_REQUIRE_ISA(GetParam().isa); }
  /// Calls check(weights, packed, activations, k) for each dtype and length of this kernel.
  template <typename Check>
  void for_each_matrix(Check check) {
    for (const DType dtype : dtypes_of(GetParam().kind))
      for (const int64_t k : lengths_of(dtype)) {
        SCOPED_TRACE(std::string(dtype_name(dtype)) + " k=" + std::to_string(k));
        Random random(static_cast<unsigned>(k));
        const Weights w(dtype, kMaxOutputs, k, random);
        const Packed packed(w.source, exact_format(dtype));
        const Activations a(GetParam(), packed.format, random_floats(random, kMaxRows * k), kMaxRows, k);
        check(w, packed, a, k);
      }
  }
};

class Bf16MatMulTest : public MatMulTest {};
class Int8MatMulTest : public MatMulTest {};

TEST_P(MatMulTest, MatchesFp64) {
  for_each_matrix([](const Weights& w, const Packed& packed, const Activations& a, int64_t k) {
    const auto c = run(GetParam(), packed, a, 0, kMaxRows, kMaxOutputs, k);
    for (int64_t row = 0; row < kMaxRows; ++row)
      for (int64_t n = 0; n < kMaxOutputs; ++n) {
        const auto exact = exact_answer(a, w, row, n);
        ASSERT_NEAR(c[static_cast<size_t>(row * (kMaxOutputs + 1) + n)], exact.value, exact.tolerance)
            << "row " << row << " output " << n;
      }
  });
}

// With MatchesFp64 this covers every number of rows and outputs: the same bits, and nothing written beside them.
TEST_P(MatMulTest, BitsDoNotDependOnRowsOrOutputs) {
  for_each_matrix([](const Weights&, const Packed& packed, const Activations& a, int64_t k) {
    const auto all = run(GetParam(), packed, a, 0, kMaxRows, kMaxOutputs, k);
    for (const int64_t m : kRows)
      for (const int64_t n : kOutputs) {
        const int64_t first = kMaxRows - m;
        const auto some = run(GetParam(), packed, a, first, m, n, k);
        for (int64_t row = 0; row < m; ++row) {
          const float *got = &some[static_cast<size_t>(row * (n + 1))],
                      *want = &all[static_cast<size_t>((first + row) * (kMaxOutputs + 1))];
          ASSERT_EQ(std::memcmp(got, want, static_cast<size_t>(n) * 4), 0) << "m=" << m << " n=" << n << " row " << row;
          ASSERT_EQ(got[n], kUntouched) << "m=" << m << " n=" << n << " row " << row;
        }
      }
  });
}

TEST_P(MatMulTest, PanelRangesGiveTheWhole) {
  for_each_matrix([](const Weights&, const Packed& packed, const Activations& a, int64_t k) {
    const auto all = run(GetParam(), packed, a, 0, kMaxRows, kMaxOutputs, k);
    std::vector<float> parts(all.size(), kUntouched);
    const MatMulArgs args{a.data(),    a.row_bytes, packed.panels.data(), parts.data(), kMaxOutputs + 1, kMaxRows,
                          kMaxOutputs, k,           packed.format};
    for (const auto& [begin, end] : {std::pair{3, 4}, {0, 1}, {1, 3}}) GetParam().run(args, begin, end);
    ASSERT_EQ(std::memcmp(parts.data(), all.data(), all.size() * sizeof(float)), 0);
  });
}

// pytorch#83863: an accumulator of bf16 stalls at 256.
TEST_P(Bf16MatMulTest, SumsOfOnesAreExact) {
  for (const int64_t k : {1024, 4096}) {
    const std::vector<uint16_t> ones(static_cast<size_t>(16 * k), f32_to_bf16(1.0f));
    const Packed packed({DType::kBF16, reinterpret_cast<const std::byte*>(ones.data()), 16, k}, {PackKind::kBf16});
    const Activations a(GetParam(), packed.format, std::vector<float>(static_cast<size_t>(8 * k), 1.0f), 8, k);
    const auto c = run(GetParam(), packed, a, 0, 8, 16, k);
    for (size_t i = 0; i < 8 * 17; ++i)
      if (i % 17 != 16) {
        ASSERT_EQ(c[i], static_cast<float>(k));
      }
  }
}

// An Inf or NaN of one row shows in all outputs of that row and in no other row.
TEST_P(MatMulTest, NonFiniteActivationsStayInTheirRow) {
  constexpr int64_t k = 256, bad_row = 2;
  const DType dtype = dtypes_of(GetParam().kind).front();
  for (const float bad : {std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    Random random(7);
    const Weights w(dtype, 16, k, random);
    const Packed packed(w.source, exact_format(dtype));
    auto rows = random_floats(random, 5 * k);
    rows[bad_row * k + 100] = bad;
    const Activations a(GetParam(), packed.format, rows, 5, k);
    const auto c = run(GetParam(), packed, a, 0, 5, 16, k);
    for (size_t i = 0; i < 5 * 17; ++i)
      if (i % 17 != 16) {
        ASSERT_EQ(std::isfinite(c[i]), i / 17 != bad_row) << i;
      }
  }
}

TEST_P(Int8MatMulTest, QuantisesToNearestWithTheLargestAt127) {
  constexpr int64_t k = 128;
  std::vector<float> x(k, 0.0f);
  x[0] = -254.0f, x[1] = 1.0f, x[2] = 3.0f, x[3] = 5.1f;  // scale 2: -127, 0.5 -> 0, 1.5 -> 2, 2.55 -> 3
  x[40] = 1e-38f;                                         // too small to tell from zero
  x[70] = 1e-20f;
  const PackedFormat format = exact_format(DType::kQ4_1);
  const Activations a(GetParam(), format, x, 1, k);
  const double want[] = {-254, 0, 4, 6};
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(a.values[i], want[i]);
  EXPECT_EQ(a.values[40], 0.0);
  EXPECT_NEAR(a.values[70], 1e-20, 1e-27);
  GroupStats stats;
  std::memcpy(&stats, a.data() + activation_layout(GetParam(), format, k).group, sizeof stats);
  EXPECT_EQ(stats.scale, 2.0f);
  EXPECT_EQ(stats.scaled_sum, 2.0f * -122);
  EXPECT_EQ(stats.start_q4, 8 * 122);
  EXPECT_EQ(stats.start_q8, 128 * 122);
}

template <typename Wanted>
std::vector<MatMulKernel> kernels_where(Wanted wanted) {
  std::vector<MatMulKernel> found;
  std::copy_if(matmul_kernels().begin(), matmul_kernels().end(), std::back_inserter(found), wanted);
  return found;
}

std::string test_name(const ::testing::TestParamInfo<MatMulKernel>& info) {
  std::string name = info.param.name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Kernels, MatMulTest, ::testing::ValuesIn(matmul_kernels().begin(), matmul_kernels().end()),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Bf16MatMulTest, ::testing::ValuesIn(kernels_where([](const MatMulKernel& kernel) {
                           return kernel.kind == PackKind::kBf16;
                         })),
                         test_name);
INSTANTIATE_TEST_SUITE_P(Kernels, Int8MatMulTest, ::testing::ValuesIn(kernels_where([](const MatMulKernel& kernel) {
                           return kernel.activations == ActivationFormat::kInt8;
                         })),
                         test_name);

TEST(MatMulSelection, FollowsTheTableAndTheMaximum) {
  const CpuFeatures& features = cpu_features();
  for (const auto kind : {PackKind::kF32, PackKind::kF16, PackKind::kBf16, PackKind::kQ4, PackKind::kQ8}) {
    EXPECT_EQ(select_matmul(kind, IsaSet(features, Isa::kPortable)).isa, Isa::kPortable);
    EXPECT_EQ(select_matmul(kind, IsaSet(features, Isa::kPortable)).kind, kind);
    for (const MatMulKernel& kernel : matmul_kernels())
      if (kernel.kind == kind && features.supports(kernel.isa)) {
        EXPECT_STREQ(select_matmul(kind, IsaSet(features, std::nullopt)).name, kernel.name);
        break;
      }
  }
}

}  // namespace
}  // namespace atb
