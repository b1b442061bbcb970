// Sixteen outputs: one vector is one panel. For files compiled with AVX-512 (F, BW, DQ, VL).
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace atb {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  // 8 x 2 and 5 x 2 tiles: 16 and 20 accumulators, the most that GCC 12 keeps in registers beside the operands.
  static constexpr int kPanels = 2, kFloatRows = 8, kInt8Rows = 5, kInt8FewRows = 2;
  using F = __m512;
  using I = __m512i;

  static F zero() noexcept { return _mm512_setzero_ps(); }
  static F load(const float* p) noexcept { return _mm512_loadu_ps(p); }
  static F load_f16(const uint16_t* p) noexcept {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
  }
  static F bf16_even(const std::byte* pairs) noexcept {
    return _mm512_castsi512_ps(_mm512_slli_epi32(load_int(pairs), 16));
  }
  static F bf16_odd(const std::byte* pairs) noexcept {
    return _mm512_castsi512_ps(_mm512_and_si512(load_int(pairs), _mm512_set1_epi32(-0x10000)));
  }
  static F broadcast(const void* p) noexcept { return _mm512_castsi512_ps(broadcast_word(p)); }
  static F mul(F a, F b) noexcept { return _mm512_mul_ps(a, b); }
  static F fma(F a, F b, F c) noexcept { return _mm512_fmadd_ps(a, b, c); }
  static void store(float* p, F v) noexcept { _mm512_storeu_ps(p, v); }
  static void store_first(float* p, F v, int count) noexcept {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), v);
  }

  static I load_int(const std::byte* p) noexcept { return _mm512_loadu_si512(p); }
  static I zero_int() noexcept { return _mm512_setzero_si512(); }
  static I broadcast_word(const void* p) noexcept {
    int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return _mm512_set1_epi32(word);
  }
  static F to_float(I v) noexcept { return _mm512_cvtepi32_ps(v); }
  template <bool kHigh>
  static I load_nibbles(const std::byte* p) noexcept {
    const I raw = load_int(p);
    return _mm512_and_si512(kHigh ? _mm512_srli_epi32(raw, 4) : raw, _mm512_set1_epi32(0x0f0f0f0f));
  }

  static I max_magnitude(I largest, F x) noexcept {
    return _mm512_max_epi32(largest, _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff)));
  }
  static uint32_t reduce_max(I v) noexcept { return static_cast<uint32_t>(_mm512_reduce_max_epi32(v)); }
  static int32_t reduce_add(I v) noexcept { return _mm512_reduce_add_epi32(v); }
  static I add_int(I a, I b) noexcept { return _mm512_add_epi32(a, b); }
  static I round(F x) noexcept { return _mm512_cvtps_epi32(x); }
  static void store_int8(std::byte* p, I v) noexcept {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(v));
  }
};

}  // namespace
}  // namespace atb
