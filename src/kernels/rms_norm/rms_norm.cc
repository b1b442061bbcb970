#include "kernels/rms_norm/rms_norm.h"

namespace atb {

#define ATB_KERNEL(isa)                                                        \
  namespace isa {                                                              \
  void rms_norm(const RmsNormArgs& args, int64_t begin, int64_t end) noexcept; \
  }
#include "kernels/rms_norm/kernels.inc"
#undef ATB_KERNEL

namespace {

constexpr Kernel<RmsNormFn> kKernels[] = {
#define ATB_KERNEL(isa) {"rms_norm/" #isa, isa_named::isa, isa::rms_norm},
#include "kernels/rms_norm/kernels.inc"
#undef ATB_KERNEL
};

}  // namespace

std::span<const Kernel<RmsNormFn>> rms_norm_kernels() { return kKernels; }

}  // namespace atb
