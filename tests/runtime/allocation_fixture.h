#pragma once

#include <cstdint>

namespace atb::test {

/// Calls of operator new by this program so far.
int64_t allocation_count();

}  // namespace atb::test
