// Bits of the 16-bit floats in memory, as types that overloads can tell apart.
#pragma once

#include <cstdint>

namespace atb {

struct Float16 {
  uint16_t bits;
};
struct BFloat16 {
  uint16_t bits;
};

}  // namespace atb
