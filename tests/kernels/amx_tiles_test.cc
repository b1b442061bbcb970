// The tile kernel with tiles in plain C++, so that its logic is tested on every CPU.
#include <gtest/gtest.h>

#include "kernels/matmul/amx_bf16_block.h"
#include "kernels/matmul/vec_portable.h"
#include "kernels/matmul_data.h"

namespace atb {
namespace {

using testing::Activations;
using testing::exact_answer;
using testing::Packed;
using testing::Random;
using testing::random_floats;
using testing::Weights;

void prepare(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin,
             int64_t end) noexcept {
  const auto stride = static_cast<int64_t>(layout.row_bytes());
  for (int64_t row = begin; row < end; ++row)
    for (int64_t k = 0; k < stride / 2; ++k) {
      const uint16_t half = k < layout.k ? f32_to_bf16(x[row * ldx + k]) : uint16_t{0};
      std::memcpy(out + row * stride + k * 2, &half, sizeof half);
    }
}

constexpr MatMulKernel kSoftware{"matmul_bf16/software_tiles", Isa::kPortable, PackKind::kBf16,
                                 ActivationFormat::kBf16,      prepare,        AmxBf16<Portable, SoftwareTiles>::run};

TEST(AmxTiles, BlocksOfEveryShapeMatchFp64AndTheRowAlone) {
  constexpr int64_t kMaxRows = 50, n = 77;
  for (const int64_t k : {1, 31, 32, 65, 96}) {
    Random random(static_cast<unsigned>(k));
    const Weights w(DType::kBF16, n, k, random);
    const Packed packed(w.source, {PackKind::kBf16});
    const Activations a(kSoftware, packed.format, random_floats(random, kMaxRows * k), kMaxRows, k);
    std::vector<float> alone(static_cast<size_t>(kMaxRows * n));
    for (int64_t row = 0; row < kMaxRows; ++row)
      kSoftware.run({a.data() + row * a.row_bytes, a.row_bytes, packed.panels.data(),
                     &alone[static_cast<size_t>(row * n)], n, 1, n, k, packed.format},
                    0, panel_count(n));
    for (const int64_t m : {1, 2, 15, 16, 17, 31, 32, 33, 50}) {
      std::vector<float> c(static_cast<size_t>(m * n));
      kSoftware.run({a.data(), a.row_bytes, packed.panels.data(), c.data(), n, m, n, k, packed.format}, 0,
                    panel_count(n));
      for (int64_t i = 0; i < m * n; ++i) {
        const auto exact = exact_answer(a, w, i / n, i % n);
        ASSERT_NEAR(c[static_cast<size_t>(i)], exact.value, exact.tolerance) << "m=" << m << " k=" << k << " at " << i;
        ASSERT_EQ(c[static_cast<size_t>(i)], alone[static_cast<size_t>(i)]) << "m=" << m << " k=" << k << " at " << i;
      }
    }
  }
}

}  // namespace
}  // namespace atb
