// The fp32 vocabulary in the compiler's own vectors: any CPU. A body includes one of portable.h, avx2.h and avx512.h,
// which all define the same names in namespace atb::ATB_ISA:
//   kLanes; kTileRows x kTileVectors, the largest tile of accumulators that stays in registers
//   Vec: kLanes floats; Mask: a truth value per lane; first_lanes(n): true in lanes below n
//   load(p), store(p, v): unaligned, of float, Float16 or BFloat16 (rounding to nearest even; NaN stays NaN)
//   load(p, n), store(p, v, n): lanes below n only, 0 <= n <= kLanes; nothing else is touched; other lanes load 0
//   fma(a, b, c): a * b + c, rounded once where the ISA can
//   max(a, b), min(a, b): b if either is NaN, so that max(constant, x) keeps a NaN x
//   round: to nearest even for |x| < 2^22; times_power_of_two(a, n): a * 2^n for whole n in [-252, 254]
//   select(m, a, b): m ? a : b; bits(m): lane i in bit i; reduce_*: halves against halves
//   split_pairs, join_pairs: between x0 y0 x1 y1 ... in two vectors and x0 x1 ..., y0 y1 ...
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/half.h"
#include "kernels/simd/elements.h"

#define ATB_ISA portable

namespace atb::portable {

constexpr int kLanes = 4;
// 8 of 16 SSE registers accumulate: products need registers of their own without FMA.
constexpr int kTileRows = 4, kTileVectors = 2;

typedef float Floats __attribute__((vector_size(16)));
typedef int32_t Ints __attribute__((vector_size(16)));
typedef uint16_t Halves __attribute__((vector_size(8)));

struct Vec {
  Floats v;
};
struct Mask {
  Ints v;
};

inline Vec set1(float x) { return {Floats{x, x, x, x}}; }
inline Vec iota() { return {Floats{0, 1, 2, 3}}; }
inline Mask first_lanes(int n) { return {Ints{0, 1, 2, 3} < Ints{n, n, n, n}}; }

inline float to_float(float x) { return x; }
inline float to_float(Float16 x) { return f16_to_f32(x.bits); }
inline float to_float(BFloat16 x) { return bf16_to_f32(x.bits); }
inline void from_float(float x, float& out) { out = x; }
inline void from_float(float x, Float16& out) { out.bits = f32_to_f16(x); }
inline void from_float(float x, BFloat16& out) { out.bits = f32_to_bf16(x); }

template <class T>
inline Vec load(const T* p, int n) {
  Vec a = {};
  for (int i = 0; i < n; ++i) a.v[i] = to_float(p[i]);
  return a;
}
/// 2^112 moves the exponent from fp16's bias to fp32's, subnormals included; infinities and NaN get theirs back.
inline Ints widened(Ints h, Float16) {
  const Floats magnitude = reinterpret_cast<Floats>((h & 0x7fff) << 13) * 0x1p112f;
  const Ints special = ((h & 0x7c00) == 0x7c00) & 0x7f800000;
  return reinterpret_cast<Ints>(magnitude) | special | ((h & 0x8000) << 16);
}
inline Ints widened(Ints h, BFloat16) { return h << 16; }
template <class T>
inline Vec load(const T* p) {
  Halves h;
  __builtin_memcpy(&h, p, sizeof(h));
  return {reinterpret_cast<Floats>(widened(__builtin_convertvector(h, Ints), T{}))};
}
inline Vec load(const float* p) {
  Vec a;
  __builtin_memcpy(&a, p, sizeof(a));
  return a;
}
template <class T>
inline void store(T* p, Vec a, int n) {
  for (int i = 0; i < n; ++i) from_float(a.v[i], p[i]);
}
template <class T>
inline void store(T* p, Vec a) {
  store(p, a, kLanes);
}
inline void store(float* p, Vec a) { __builtin_memcpy(p, &a, sizeof(a)); }

inline Vec operator+(Vec a, Vec b) { return {a.v + b.v}; }
inline Vec operator-(Vec a, Vec b) { return {a.v - b.v}; }
inline Vec operator*(Vec a, Vec b) { return {a.v * b.v}; }
inline Vec operator/(Vec a, Vec b) { return {a.v / b.v}; }
inline Vec operator-(Vec a) { return {-a.v}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {a.v * b.v + c.v}; }

inline Vec from_bits(Ints bits) { return {reinterpret_cast<Floats>(bits)}; }
inline Ints to_bits(Vec a) { return reinterpret_cast<Ints>(a.v); }
inline Mask less(Vec a, Vec b) { return {a.v < b.v}; }
inline Mask equal(Vec a, Vec b) { return {a.v == b.v}; }
inline Mask is_nan(Vec a) { return {a.v != a.v}; }
inline Mask both(Mask a, Mask b) { return {a.v & b.v}; }
inline Vec select(Mask m, Vec a, Vec b) { return from_bits((m.v & to_bits(a)) | (~m.v & to_bits(b))); }
inline uint32_t bits(Mask m) {
  uint32_t result = 0;
  for (int i = 0; i < kLanes; ++i) result |= (static_cast<uint32_t>(m.v[i]) & 1u) << i;
  return result;
}

inline Vec max(Vec a, Vec b) { return select({a.v > b.v}, a, b); }
inline Vec min(Vec a, Vec b) { return select({a.v < b.v}, a, b); }
inline Vec abs(Vec a) { return from_bits(to_bits(a) & INT32_MAX); }
inline Vec with_sign_of(Vec magnitude, Vec sign) { return from_bits(to_bits(magnitude) | (to_bits(sign) & INT32_MIN)); }
inline Vec sqrt(Vec a) {
  for (int i = 0; i < kLanes; ++i) a.v[i] = __builtin_sqrtf(a.v[i]);
  return a;
}
inline Vec truncate(Vec a) {
  for (int i = 0; i < kLanes; ++i) a.v[i] = __builtin_truncf(a.v[i]);
  return a;
}
/// Adding 1.5 * 2^23 leaves no bits behind the point.
inline Vec round(Vec a) { return {(a.v + 0x1.8p23f) - 0x1.8p23f}; }
inline Floats power_of_two(Ints n) { return reinterpret_cast<Floats>((n + 127) << 23); }
inline Vec times_power_of_two(Vec a, Vec n) {
  const Ints whole = __builtin_convertvector(n.v, Ints), half = whole >> 1;
  return {a.v * power_of_two(half) * power_of_two(whole - half)};
}

inline float reduce_add(Vec a) { return (a.v[0] + a.v[2]) + (a.v[1] + a.v[3]); }
inline float reduce_max(Vec a) {
  const float even = a.v[0] > a.v[2] ? a.v[0] : a.v[2], odd = a.v[1] > a.v[3] ? a.v[1] : a.v[3];
  return even > odd ? even : odd;
}

inline void split_pairs(Vec lo, Vec hi, Vec& even, Vec& odd) {
  even.v = __builtin_shufflevector(lo.v, hi.v, 0, 2, 4, 6);
  odd.v = __builtin_shufflevector(lo.v, hi.v, 1, 3, 5, 7);
}
inline void join_pairs(Vec even, Vec odd, Vec& lo, Vec& hi) {
  lo.v = __builtin_shufflevector(even.v, odd.v, 0, 4, 1, 5);
  hi.v = __builtin_shufflevector(even.v, odd.v, 2, 6, 3, 7);
}

}  // namespace atb::portable

#include "kernels/simd/math.inc"
