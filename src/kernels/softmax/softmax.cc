#include "kernels/softmax/softmax.h"

namespace atb {

#define ATB_KERNEL(isa)                                                       \
  namespace isa {                                                             \
  void softmax(const SoftmaxArgs& args, int64_t begin, int64_t end) noexcept; \
  }
#include "kernels/softmax/kernels.inc"
#undef ATB_KERNEL

namespace {

constexpr Kernel<SoftmaxFn> kKernels[] = {
#define ATB_KERNEL(isa) {"softmax/" #isa, isa_named::isa, isa::softmax},
#include "kernels/softmax/kernels.inc"
#undef ATB_KERNEL
};

}  // namespace

std::span<const Kernel<SoftmaxFn>> softmax_kernels() { return kKernels; }

}  // namespace atb
