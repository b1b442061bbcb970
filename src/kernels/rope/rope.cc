#include "kernels/rope/rope.h"

namespace atb {

#define ATB_KERNEL(isa)                                                 \
  namespace isa {                                                       \
  void rope(const RopeArgs& args, int64_t begin, int64_t end) noexcept; \
  }
#include "kernels/rope/kernels.inc"
#undef ATB_KERNEL

namespace {

constexpr Kernel<RopeFn> kKernels[] = {
#define ATB_KERNEL(isa) {"rope/" #isa, isa_named::isa, isa::rope},
#include "kernels/rope/kernels.inc"
#undef ATB_KERNEL
};

}  // namespace

std::span<const Kernel<RopeFn>> rope_kernels() { return kKernels; }

}  // namespace atb
