#include "kernels/matmul/int8_tile.h"
#include "kernels/matmul/variants.h"
#include "kernels/matmul/vec_avx512.h"
#include "kernels/matmul/vec_vnni.h"

namespace atb::avx512_vnni {
namespace {

struct Dot {
  static __m512i add(__m512i sum, __m512i w, __m512i a) noexcept { return _mm512_dpbusd_epi32(sum, w, a); }
};
using V = Vnni<Avx512, Dot>;

}  // namespace

void matmul_q4(const MatMulArgs& args, int64_t begin, int64_t end) noexcept { run_q4<V>(args, begin, end); }
void matmul_q8(const MatMulArgs& args, int64_t begin, int64_t end) noexcept { run_q8<V>(args, begin, end); }

}  // namespace atb::avx512_vnni
