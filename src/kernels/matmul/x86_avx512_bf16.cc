// bf16 weights times bf16 activations, two k per step and lane. The instruction adds the two products to the sum in
// fp32 (odd k first), rounds to nearest even whatever MXCSR says and takes denormals as zeros.
#include "kernels/matmul/float_tile.h"
#include "kernels/matmul/variants.h"
#include "kernels/matmul/vec_avx512.h"

namespace atb::avx512_bf16 {
namespace {

struct PairProduct {
  using F = Avx512::F;
  using W = __m512i;
  static constexpr int kUnroll = 1;
  static int64_t steps(int64_t k) noexcept { return (k + 1) / 2; }
  static W weights(const std::byte* panel, int64_t pair, int lane) noexcept {
    return Avx512::load_int(panel + (pair * kPanelWidth + lane) * 4);
  }
  static W activation(const std::byte* row, int64_t pair) noexcept { return Avx512::broadcast_word(row + pair * 4); }
  static F add(F sum, W w, W a) noexcept {
    return _mm512_dpbf16_ps(sum, reinterpret_cast<__m512bh>(a), reinterpret_cast<__m512bh>(w));
  }
};

/// One row, 16 values at a time; `padded` values are written, those beyond K as zeros.
void prepare_row(const float* x, int64_t k, int64_t padded, std::byte* out) noexcept {
  for (int64_t i = 0; i < padded; i += 16) {
    const int64_t left = k - i;
    const auto mask = static_cast<__mmask16>(left >= 16 ? 0xffffu : left > 0 ? (1u << left) - 1 : 0);
    const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_maskz_loadu_ps(mask, x + i));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + i * 2), reinterpret_cast<__m256i>(rounded));
  }
}

}  // namespace

void matmul_bf16(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  run_matmul<FloatTiles<Avx512, PairProduct>>(args, begin, end);
}

void prepare_bf16(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin,
                  int64_t end) noexcept {
  const auto stride = static_cast<int64_t>(layout.row_bytes());
  for (int64_t row = begin; row < end; ++row) prepare_row(x + row * ldx, layout.k, stride / 2, out + row * stride);
}

}  // namespace atb::avx512_bf16
