// How floating point behaves while the library computes, and only then.
#pragma once

#include <xmmintrin.h>

namespace atb {

/// For its lifetime: round to nearest, no traps, and denormal numbers count as zero (as operands and as results), since
/// they cost 100 cycles each on many CPUs. Restores the caller's mode.
class ComputeFloatMode {
 public:
  ComputeFloatMode() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(kMode); }
  ~ComputeFloatMode() { _mm_setcsr(saved_); }
  ComputeFloatMode(const ComputeFloatMode&) = delete;
  ComputeFloatMode& operator=(const ComputeFloatMode&) = delete;

 private:
  static constexpr unsigned kMaskAllTraps = 0x1f80, kDenormalsAreZero = 0x0040, kFlushToZero = 0x8000;
  static constexpr unsigned kMode = kMaskAllTraps | kDenormalsAreZero | kFlushToZero;
  unsigned saved_;
};

}  // namespace atb
