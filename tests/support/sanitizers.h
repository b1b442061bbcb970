// What a limit on time has to allow for under sanitizers. Ratios of times need no allowance.
#pragma once

namespace atb::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr double kSlowdown = 20;  // they check every access
#else
inline constexpr double kSlowdown = 1;
#endif

}  // namespace atb::test
