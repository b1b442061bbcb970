#include "kernels/layer_norm/layer_norm.h"

namespace atb {

#define ATB_KERNEL(isa)                                                            \
  namespace isa {                                                                  \
  void layer_norm(const LayerNormArgs& args, int64_t begin, int64_t end) noexcept; \
  }
#include "kernels/layer_norm/kernels.inc"
#undef ATB_KERNEL

namespace {

constexpr Kernel<LayerNormFn> kKernels[] = {
#define ATB_KERNEL(isa) {"layer_norm/" #isa, isa_named::isa, isa::layer_norm},
#include "kernels/layer_norm/kernels.inc"
#undef ATB_KERNEL
};

}  // namespace

std::span<const Kernel<LayerNormFn>> layer_norm_kernels() { return kKernels; }

}  // namespace atb
