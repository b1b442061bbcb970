#include "kernels/reduce/reduce.h"

namespace atb {

#define ATB_KERNEL(isa)                                                     \
  namespace isa {                                                           \
  void reduce(const ReduceArgs& args, int64_t begin, int64_t end) noexcept; \
  }
#include "kernels/reduce/kernels.inc"
#undef ATB_KERNEL

namespace {

constexpr Kernel<ReduceFn> kKernels[] = {
#define ATB_KERNEL(isa) {"reduce/" #isa, isa_named::isa, isa::reduce},
#include "kernels/reduce/kernels.inc"
#undef ATB_KERNEL
};

}  // namespace

std::span<const Kernel<ReduceFn>> reduce_kernels() { return kKernels; }

}  // namespace atb
