#include "kernels/matmul/float_tile.h"
#include "kernels/matmul/prepare_int8.h"
#include "kernels/matmul/variants.h"
#include "kernels/matmul/vec_avx512.h"

namespace atb::avx512 {

using V = Avx512;

void matmul_f32(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  run_matmul<FloatTiles<V, WidenedProduct<V, F32Weights>>>(args, begin, end);
}
void matmul_f16(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  run_matmul<FloatTiles<V, WidenedProduct<V, F16Weights>>>(args, begin, end);
}
void matmul_bf16(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  run_matmul<FloatTiles<V, WidenedProduct<V, Bf16Weights>>>(args, begin, end);
}

void prepare_int8(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin,
                  int64_t end) noexcept {
  prepare_int8_rows<V>(layout, x, ldx, out, begin, end);
}

}  // namespace atb::avx512
