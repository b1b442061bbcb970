// bf16 only: with scales per 32 k, an integer tile product must pass through memory to be scaled, which came out slower
// than vpdpbusd in registers on Emerald Rapids.
#include "kernels/matmul/amx_bf16_block.h"
#include "kernels/matmul/variants.h"
#include "kernels/matmul/vec_avx512.h"

namespace atb::amx {

void matmul_bf16(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  AmxBf16<Avx512, HardwareTiles>::run(args, begin, end);
}

}  // namespace atb::amx
