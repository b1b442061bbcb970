// Eight outputs: half a panel. For files compiled with AVX2, FMA and F16C.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace atb {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  // Two vectors per panel: 4 x 1 and 2 x 1 tiles have 8 accumulators (and 4 integer ones) in 16 registers.
  static constexpr int kPanels = 1, kFloatRows = 4, kInt8Rows = 2, kInt8FewRows = 1;
  using F = __m256;
  using I = __m256i;

  static F zero() noexcept { return _mm256_setzero_ps(); }
  static F load(const float* p) noexcept { return _mm256_loadu_ps(p); }
  static F load_f16(const uint16_t* p) noexcept {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
  }
  static F bf16_even(const std::byte* pairs) noexcept {
    return _mm256_castsi256_ps(_mm256_slli_epi32(load_int(pairs), 16));
  }
  static F bf16_odd(const std::byte* pairs) noexcept {
    return _mm256_castsi256_ps(_mm256_and_si256(load_int(pairs), _mm256_set1_epi32(-0x10000)));
  }
  static F broadcast(const void* p) noexcept { return _mm256_broadcast_ss(static_cast<const float*>(p)); }
  static F mul(F a, F b) noexcept { return _mm256_mul_ps(a, b); }
  static F fma(F a, F b, F c) noexcept { return _mm256_fmadd_ps(a, b, c); }
  static void store(float* p, F v) noexcept { _mm256_storeu_ps(p, v); }
  static void store_first(float* p, F v, int count) noexcept {
    const I lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    _mm256_maskstore_ps(p, _mm256_cmpgt_epi32(_mm256_set1_epi32(count), lanes), v);
  }

  static I load_int(const std::byte* p) noexcept { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)); }
  static I zero_int() noexcept { return _mm256_setzero_si256(); }
  static I broadcast_word(const void* p) noexcept {
    int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    return _mm256_set1_epi32(word);
  }
  static F to_float(I v) noexcept { return _mm256_cvtepi32_ps(v); }
  template <bool kHigh>
  static I load_nibbles(const std::byte* p) noexcept {
    const I raw = load_int(p);
    return _mm256_and_si256(kHigh ? _mm256_srli_epi32(raw, 4) : raw, _mm256_set1_epi32(0x0f0f0f0f));
  }

  /// Pairs of int16 added to int32.
  static I widen_pairs(I v) noexcept { return _mm256_madd_epi16(v, _mm256_set1_epi16(1)); }

  /// Sums of int16: a group adds 4 times two products of at most 15 * 127, below 2^15.
  struct Q4 {
    static I begin(const int32_t*) noexcept { return zero_int(); }
    static I add(I sum, I w, I a) noexcept { return _mm256_add_epi16(sum, _mm256_maddubs_epi16(w, a)); }
    static I end(I sum, const int32_t* start) noexcept {
      return start == nullptr ? widen_pairs(sum) : _mm256_add_epi32(widen_pairs(sum), broadcast_word(start));
    }
  };

  /// |w| * (sign(w) * a): two products of at most 128 * 127 fit int16, where unsigned bytes would not.
  struct Q8 {
    struct W {
      I value, magnitude;
    };
    static W load(const std::byte* p) noexcept {
      const I value = _mm256_xor_si256(load_int(p), _mm256_set1_epi8(-128));
      return {value, _mm256_abs_epi8(value)};
    }
    static I begin(const int32_t*) noexcept { return zero_int(); }
    static I add(I sum, W w, I a) noexcept {
      return _mm256_add_epi32(sum, widen_pairs(_mm256_maddubs_epi16(w.magnitude, _mm256_sign_epi8(a, w.value))));
    }
  };

  static I max_magnitude(I largest, F x) noexcept {
    return _mm256_max_epi32(largest, _mm256_and_si256(_mm256_castps_si256(x), _mm256_set1_epi32(0x7fffffff)));
  }
  static uint32_t reduce_max(I v) noexcept {
    const __m128i a = _mm_max_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i b = _mm_max_epi32(a, _mm_shuffle_epi32(a, 0x4e));
    return static_cast<uint32_t>(_mm_cvtsi128_si32(_mm_max_epi32(b, _mm_shuffle_epi32(b, 0xb1))));
  }
  static int32_t reduce_add(I v) noexcept {
    const __m128i a = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    const __m128i b = _mm_add_epi32(a, _mm_shuffle_epi32(a, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(b, _mm_shuffle_epi32(b, 0xb1)));
  }
  static I add_int(I a, I b) noexcept { return _mm256_add_epi32(a, b); }
  static I round(F x) noexcept { return _mm256_cvtps_epi32(x); }
  static void store_int8(std::byte* p, I v) noexcept {
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(words, words));
  }
};

}  // namespace
}  // namespace atb
