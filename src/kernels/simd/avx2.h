// The fp32 vocabulary on AVX2 with FMA and F16C; portable.h says what the names mean.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "kernels/simd/elements.h"

#define ATB_ISA avx2

namespace atb::avx2 {

constexpr int kLanes = 8;
// 12 of 16 registers accumulate, two hold a row of the other operand, one the broadcast.
constexpr int kTileRows = 6, kTileVectors = 2;

struct Vec {
  __m256 v;
};
struct Mask {
  __m256 v;
};

inline Vec set1(float x) { return {_mm256_set1_ps(x)}; }
inline Vec iota() { return {_mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7)}; }
inline __m256i lane_bits(int n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline Mask first_lanes(int n) { return {_mm256_castsi256_ps(lane_bits(n))}; }

inline Vec load(const float* p) { return {_mm256_loadu_ps(p)}; }
inline Vec load(const float* p, int n) { return {_mm256_maskload_ps(p, lane_bits(n))}; }
inline void store(float* p, Vec a) { _mm256_storeu_ps(p, a.v); }
inline void store(float* p, Vec a, int n) { _mm256_maskstore_ps(p, lane_bits(n), a.v); }

inline Vec from_bits(__m128i h, Float16) { return {_mm256_cvtph_ps(h)}; }
inline Vec from_bits(__m128i h, BFloat16) {
  return {_mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(h), 16))};
}
inline __m128i to_bits(Vec a, Float16) { return _mm256_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT); }
inline __m128i to_bits(Vec a, BFloat16) {
  const __m256i u = _mm256_castps_si256(a.v);
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
  const __m256i rounded = _mm256_add_epi32(u, _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff)));
  const __m256i quiet = _mm256_or_si256(u, _mm256_set1_epi32(0x400000));
  const __m256i nan = _mm256_castps_si256(_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q));
  const __m256i high = _mm256_srli_epi32(_mm256_blendv_epi8(rounded, quiet, nan), 16);
  return _mm_packus_epi32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
}
template <class T>
inline Vec load(const T* p) {
  return from_bits(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)), T{});
}
template <class T>
inline Vec load(const T* p, int n) {
  T buffer[kLanes] = {};
  __builtin_memcpy(buffer, p, static_cast<size_t>(n) * sizeof(T));
  return load(buffer);
}
template <class T>
inline void store(T* p, Vec a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), to_bits(a, T{}));
}
template <class T>
inline void store(T* p, Vec a, int n) {
  T buffer[kLanes];
  store(buffer, a);
  __builtin_memcpy(p, buffer, static_cast<size_t>(n) * sizeof(T));
}

inline Vec operator+(Vec a, Vec b) { return {_mm256_add_ps(a.v, b.v)}; }
inline Vec operator-(Vec a, Vec b) { return {_mm256_sub_ps(a.v, b.v)}; }
inline Vec operator*(Vec a, Vec b) { return {_mm256_mul_ps(a.v, b.v)}; }
inline Vec operator/(Vec a, Vec b) { return {_mm256_div_ps(a.v, b.v)}; }
inline Vec operator-(Vec a) { return {_mm256_xor_ps(a.v, _mm256_set1_ps(-0.0f))}; }
inline Vec fma(Vec a, Vec b, Vec c) { return {_mm256_fmadd_ps(a.v, b.v, c.v)}; }
inline Vec max(Vec a, Vec b) { return {_mm256_max_ps(a.v, b.v)}; }
inline Vec min(Vec a, Vec b) { return {_mm256_min_ps(a.v, b.v)}; }
inline Vec sqrt(Vec a) { return {_mm256_sqrt_ps(a.v)}; }
inline Vec abs(Vec a) { return {_mm256_andnot_ps(_mm256_set1_ps(-0.0f), a.v)}; }
inline Vec with_sign_of(Vec magnitude, Vec sign) {
  return {_mm256_or_ps(magnitude.v, _mm256_and_ps(sign.v, _mm256_set1_ps(-0.0f)))};
}
inline Vec round(Vec a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)}; }
inline Vec truncate(Vec a) { return {_mm256_round_ps(a.v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)}; }
inline __m256 power_of_two(__m256i n) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}
inline Vec times_power_of_two(Vec a, Vec n) {
  const __m256i whole = _mm256_cvtps_epi32(n.v), half = _mm256_srai_epi32(whole, 1);
  const __m256 once = _mm256_mul_ps(a.v, power_of_two(half));
  return {_mm256_mul_ps(once, power_of_two(_mm256_sub_epi32(whole, half)))};
}

inline Mask less(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_LT_OQ)}; }
inline Mask equal(Vec a, Vec b) { return {_mm256_cmp_ps(a.v, b.v, _CMP_EQ_OQ)}; }
inline Mask is_nan(Vec a) { return {_mm256_cmp_ps(a.v, a.v, _CMP_UNORD_Q)}; }
inline Mask both(Mask a, Mask b) { return {_mm256_and_ps(a.v, b.v)}; }
inline Vec select(Mask m, Vec a, Vec b) { return {_mm256_blendv_ps(b.v, a.v, m.v)}; }
inline uint32_t bits(Mask m) { return static_cast<uint32_t>(_mm256_movemask_ps(m.v)); }

inline float reduce_add(Vec a) {
  __m128 s = _mm_add_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_add_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_add_ss(s, _mm_movehdup_ps(s)));
}
inline float reduce_max(Vec a) {
  __m128 s = _mm_max_ps(_mm256_castps256_ps128(a.v), _mm256_extractf128_ps(a.v, 1));
  s = _mm_max_ps(s, _mm_movehl_ps(s, s));
  return _mm_cvtss_f32(_mm_max_ss(s, _mm_movehdup_ps(s)));
}

inline __m256 swap_middle(__m256 a) {
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(a), _MM_SHUFFLE(3, 1, 2, 0)));
}
inline void split_pairs(Vec lo, Vec hi, Vec& even, Vec& odd) {
  even.v = swap_middle(_mm256_shuffle_ps(lo.v, hi.v, _MM_SHUFFLE(2, 0, 2, 0)));
  odd.v = swap_middle(_mm256_shuffle_ps(lo.v, hi.v, _MM_SHUFFLE(3, 1, 3, 1)));
}
inline void join_pairs(Vec even, Vec odd, Vec& lo, Vec& hi) {
  const __m256 first = _mm256_unpacklo_ps(even.v, odd.v), second = _mm256_unpackhi_ps(even.v, odd.v);
  lo.v = _mm256_permute2f128_ps(first, second, 0x20);
  hi.v = _mm256_permute2f128_ps(first, second, 0x31);
}

}  // namespace atb::avx2

#include "kernels/simd/math.inc"
