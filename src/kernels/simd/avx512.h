// The fp32 vocabulary on AVX-512. Every ISA's header has the same names (portable.h says what they mean), in its own
// namespace, so that a body is written once and compiled per ISA.
#pragma once

// GCC 12 takes the undefined vectors inside its own intrinsics for mistakes of ours.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#include <cstdint>

#include "kernels/simd/elements.h"

#define ATB_ISA avx512

namespace atb::avx512 {

constexpr int kLanes = 16;
// 16 of 32 registers accumulate: the compiler spills from about 20 on.
constexpr int kTileRows = 8, kTileVectors = 2;

struct Vec {
  __m512 v;
};
using Mask = __mmask16;

inline Vec set1(float x) { return {_mm512_set1_ps(x)}; }
inline Vec iota() { return {_mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)}; }
inline Mask first_lanes(int n) { return static_cast<Mask>((1u << n) - 1u); }

inline Vec load(const float* p) { return {_mm512_loadu_ps(p)}; }
inline Vec load(const float* p, int n) { return {_mm512_maskz_loadu_ps(first_lanes(n), p)}; }
inline void store(float* p, Vec a) { _mm512_storeu_ps(p, a.v); }
inline void store(float* p, Vec a, int n) { _mm512_mask_storeu_ps(p, first_lanes(n), a.v); }

inline Vec from_bits(__m256i h, Float16) { return {_mm512_cvtph_ps(h)}; }
inline Vec from_bits(__m256i h, BFloat16) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(h), 16))};
}
inline __m256i to_bits(Vec a, Float16) { return _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT); }
inline __m256i to_bits(Vec a, BFloat16) {
  const __m512i u = _mm512_castps_si512(a.v);
  const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(u, 16), _mm512_set1_epi32(1));
  const __m512i rounded = _mm512_add_epi32(u, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  const __m512i quiet = _mm512_or_si512(u, _mm512_set1_epi32(0x400000));
  const Mask nan = _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q);
  return _mm512_cvtepi32_epi16(_mm512_srli_epi32(_mm512_mask_mov_epi32(rounded, nan, quiet), 16));
}
template <class T>
inline Vec load(const T* p) {
  return from_bits(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), T{});
}
template <class T>
inline Vec load(const T* p, int n) {
  return from_bits(_mm256_maskz_loadu_epi16(first_lanes(n), p), T{});
}
template <class T>
inline void store(T* p, Vec a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), to_bits(a, T{}));
}
template <class T>
inline void store(T* p, Vec a, int n) {
  _mm256_mask_storeu_epi16(p, first_lanes(n), to_bits(a, T{}));
}

inline Vec operator+(Vec a, Vec b) { return {_mm512_add_ps(a.v, b.v)}; }
inline Vec operator-(Vec a, Vec b) { return {_mm512_sub_ps(a.v, b.v)}; }
inline Vec operator*(Vec a, Vec b) { return {_mm512_mul_ps(a.v, b.v)}; }
inline Vec operator/(Vec a, Vec b) { return {_mm512_div_ps(a.v, b.v)}; }
inline Vec operator-(Vec a) { return {_mm512_xor_ps(a.v, _mm512_set1_ps(-0.0f))}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
inline Vec max(Vec a, Vec b) { return {_mm512_max_ps(a.v, b.v)}; }
inline Vec min(Vec a, Vec b) { return {_mm512_min_ps(a.v, b.v)}; }
inline Vec sqrt(Vec a) { return {_mm512_sqrt_ps(a.v)}; }
inline Vec abs(Vec a) { return {_mm512_andnot_ps(_mm512_set1_ps(-0.0f), a.v)}; }
inline Vec with_sign_of(Vec magnitude, Vec sign) {
  return {_mm512_or_ps(magnitude.v, _mm512_and_ps(sign.v, _mm512_set1_ps(-0.0f)))};
}
inline Vec round(Vec a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Vec truncate(Vec a) { return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
inline Vec times_power_of_two(Vec a, Vec n) { return {_mm512_scalef_ps(a.v, n.v)}; }

inline Mask less(Vec a, Vec b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_LT_OQ); }
inline Mask equal(Vec a, Vec b) { return _mm512_cmp_ps_mask(a.v, b.v, _CMP_EQ_OQ); }
inline Mask is_nan(Vec a) { return _mm512_cmp_ps_mask(a.v, a.v, _CMP_UNORD_Q); }
inline Mask both(Mask a, Mask b) { return static_cast<Mask>(a & b); }
inline Vec select(Mask m, Vec a, Vec b) { return {_mm512_mask_blend_ps(m, b.v, a.v)}; }
inline uint32_t bits(Mask m) { return m; }

inline float reduce_add(Vec a) { return _mm512_reduce_add_ps(a.v); }
inline float reduce_max(Vec a) { return _mm512_reduce_max_ps(a.v); }

/// Pairs (even, odd) of the 2 * kLanes values in lo, hi; and back.
inline void split_pairs(Vec lo, Vec hi, Vec& even, Vec& odd) {
  const __m512i index = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  even.v = _mm512_permutex2var_ps(lo.v, index, hi.v);
  odd.v = _mm512_permutex2var_ps(lo.v, _mm512_add_epi32(index, _mm512_set1_epi32(1)), hi.v);
}
inline void join_pairs(Vec even, Vec odd, Vec& lo, Vec& hi) {
  const __m512i index = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  lo.v = _mm512_permutex2var_ps(even.v, index, odd.v);
  hi.v = _mm512_permutex2var_ps(even.v, _mm512_add_epi32(index, _mm512_set1_epi32(8)), odd.v);
}

}  // namespace atb::avx512

#include "kernels/simd/math.inc"
