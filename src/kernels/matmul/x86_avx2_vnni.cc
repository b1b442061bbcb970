#include "kernels/matmul/int8_tile.h"
#include "kernels/matmul/variants.h"
#include "kernels/matmul/vec_avx2.h"
#include "kernels/matmul/vec_vnni.h"

namespace atb::avx2_vnni {
namespace {

struct Dot {
  static __m256i add(__m256i sum, __m256i w, __m256i a) noexcept { return _mm256_dpbusd_avx_epi32(sum, w, a); }
};
using V = Vnni<Avx2, Dot>;

}  // namespace

void matmul_q4(const MatMulArgs& args, int64_t begin, int64_t end) noexcept { run_q4<V>(args, begin, end); }
void matmul_q8(const MatMulArgs& args, int64_t begin, int64_t end) noexcept { run_q8<V>(args, begin, end); }

}  // namespace atb::avx2_vnni
