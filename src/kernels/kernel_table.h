// How a kernel is listed and chosen. Each operator's kernels.inc has one line per variant, best first:
//   ATB_KERNEL(avx512)      declares atb::avx512::<operator> and puts it into the table
// ISA is chosen once, at plan time. Kernels are noexcept, single-threaded and work on a range of tiles through raw
// pointers; only the executor knows threads.
#pragma once

#include <span>

#include "base/check.h"
#include "base/cpu.h"

namespace atb {

template <class Fn>
struct Kernel {
  const char* name;  ///< "rms_norm/avx512": as in reports and traces
  Isa isa;
  Fn fn;
};

/// The Isa that a line of a kernels.inc names: isa_named::avx512 is Isa::kAvx512.
namespace isa_named {
constexpr Isa portable = Isa::kPortable, avx2 = Isa::kAvx2, avx2_vnni = Isa::kAvx2Vnni, avx512 = Isa::kAvx512,
              avx512_vnni = Isa::kAvx512Vnni, avx512_bf16 = Isa::kAvx512Bf16, amx = Isa::kAmx;
}  // namespace isa_named

/// The first kernel that `isas` allows. Every table ends with a portable one.
template <class Fn>
const Kernel<Fn>& select_kernel(std::span<const Kernel<Fn>> table, const IsaSet& isas) {
  for (const auto& kernel : table)
    if (isas.has(kernel.isa)) return kernel;
  ATB_CHECK(!"a kernel table has no portable entry");
  return table.front();
}

}  // namespace atb
