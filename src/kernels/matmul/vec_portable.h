// Four outputs in plain C++ for the compiler to vectorise; a product is rounded before it is added.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"

namespace atb {
namespace {

struct Portable {
  static constexpr int kWidth = 4, kPanels = 1, kFloatRows = 2, kInt8Rows = 1, kInt8FewRows = 1;
  using F = float __attribute__((vector_size(16)));
  using I = int32_t __attribute__((vector_size(16)));

  static F zero() noexcept { return F{}; }
  static F load(const float* p) noexcept { return F{p[0], p[1], p[2], p[3]}; }
  static F load_f16(const uint16_t* p) noexcept {
    return F{f16_to_f32(p[0]), f16_to_f32(p[1]), f16_to_f32(p[2]), f16_to_f32(p[3])};
  }
  static F bf16_even(const std::byte* pairs) noexcept { return reinterpret_cast<F>(load_int(pairs) << 16); }
  static F bf16_odd(const std::byte* pairs) noexcept { return reinterpret_cast<F>(load_int(pairs) & ~0xffff); }
  static F broadcast(const void* p) noexcept {
    float v;
    __builtin_memcpy(&v, p, sizeof v);
    return F{v, v, v, v};
  }
  static F mul(F a, F b) noexcept { return a * b; }
  static F fma(F a, F b, F c) noexcept { return a * b + c; }
  static void store(float* p, F v) noexcept { __builtin_memcpy(p, &v, sizeof v); }
  static void store_first(float* p, F v, int count) noexcept {
    for (int i = 0; i < count; ++i) p[i] = v[i];
  }

  static I load_int(const std::byte* p) noexcept {
    I v;
    __builtin_memcpy(&v, p, sizeof v);
    return v;
  }
  static I zero_int() noexcept { return I{}; }
  static I broadcast_word(const void* p) noexcept {
    int32_t v;
    __builtin_memcpy(&v, p, sizeof v);
    return I{v, v, v, v};
  }
  static F to_float(I v) noexcept { return __builtin_convertvector(v, F); }

  template <bool kHigh>
  static I load_nibbles(const std::byte* p) noexcept {
    const I raw = load_int(p);
    return (kHigh ? raw >> 4 : raw) & 0x0f0f0f0f;
  }

  /// The four byte products of each lane, w unsigned and a signed, added to sum. In fp32, where they are exact (four
  /// times 255 * 128 is far below 2^24): SSE2 has no 32-bit integer multiplication.
  static I dot(I sum, I w, I a) noexcept {
    const F products =
        to_float(w & 255) * to_float((a << 24) >> 24) + to_float((w >> 8) & 255) * to_float((a << 16) >> 24) +
        to_float((w >> 16) & 255) * to_float((a << 8) >> 24) + to_float((w >> 24) & 255) * to_float(a >> 24);
    return sum + __builtin_convertvector(products, I);
  }
  struct Q4 {
    static I begin(const int32_t* start) noexcept { return start == nullptr ? I{} : broadcast_word(start); }
    static I add(I sum, I w, I a) noexcept { return dot(sum, w, a); }
    static I end(I sum, const int32_t*) noexcept { return sum; }
  };
  struct Q8 {
    using W = I;
    static W load(const std::byte* p) noexcept { return load_int(p); }
    static I begin(const int32_t* start) noexcept { return broadcast_word(start); }
    static I add(I sum, W w, I a) noexcept { return dot(sum, w, a); }
  };

  static I max_magnitude(I largest, F x) noexcept {
    const I bits = reinterpret_cast<I>(x) & 0x7fffffff;
    return bits > largest ? bits : largest;
  }
  static uint32_t reduce_max(I v) noexcept {
    int32_t largest = v[0];
    for (int i = 1; i < kWidth; ++i) largest = v[i] > largest ? v[i] : largest;
    return static_cast<uint32_t>(largest);
  }
  static int32_t reduce_add(I v) noexcept { return v[0] + v[1] + v[2] + v[3]; }
  static I add_int(I a, I b) noexcept { return a + b; }
  /// To nearest even for |x| < 2^22: adding 1.5 * 2^23 leaves the integer in the low bits.
  static I round(F x) noexcept { return reinterpret_cast<I>(x + 0x1.8p23f) - 0x4b400000; }
  static void store_int8(std::byte* p, I v) noexcept {
    for (int i = 0; i < kWidth; ++i) p[i] = static_cast<std::byte>(v[i]);
  }
};

}  // namespace
}  // namespace atb
