// Declarations of every variant of kernels.inc and of the functions that prepare activations.
#pragma once

#include "kernels/matmul/matmul.h"

namespace atb {

#define ATB_PREPARE(ns, name)                                                                           \
  namespace ns {                                                                                        \
  void name(const ActivationLayout& layout, const float* x, int64_t ldx, std::byte* out, int64_t begin, \
            int64_t end) noexcept;                                                                      \
  }
ATB_PREPARE(portable, prepare_int8)
ATB_PREPARE(avx2, prepare_int8)
ATB_PREPARE(avx512, prepare_int8)
ATB_PREPARE(avx512_bf16, prepare_bf16)
#undef ATB_PREPARE

#define ATB_MATMUL(weights, kind, ns, isa, activations, prepare)                                  \
  namespace ns {                                                                                  \
  void matmul_##weights(const MatMulArgs& args, int64_t panel_begin, int64_t panel_end) noexcept; \
  }
#include "kernels/matmul/kernels.inc"
#undef ATB_MATMUL

}  // namespace atb
