// Integer dot products where the CPU has vpdpbusd: Base is the vector type, Dot::add its instruction. The products of
// unsigned weights start at minus their offset times the activations' sum, so that no correction follows.
#pragma once

#include <cstddef>
#include <cstdint>

namespace atb {
namespace {

template <class Base, class Dot>
struct Vnni : Base {
  using I = typename Base::I;

  struct Q4 {
    static I begin(const int32_t* start) noexcept {
      return start == nullptr ? Base::zero_int() : Base::broadcast_word(start);
    }
    static I add(I sum, I w, I a) noexcept { return Dot::add(sum, w, a); }
    static I end(I sum, const int32_t*) noexcept { return sum; }
  };

  struct Q8 {
    using W = I;
    static W load(const std::byte* p) noexcept { return Base::load_int(p); }
    static I begin(const int32_t* start) noexcept { return Base::broadcast_word(start); }
    static I add(I sum, W w, I a) noexcept { return Dot::add(sum, w, a); }
  };
};

}  // namespace
}  // namespace atb
