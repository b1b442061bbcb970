// The eight tile registers of AMX as a type, and the same type in plain C++ for machines without them: four
// accumulators C, two tiles A of activation rows, two tiles B of a weight panel each.
//
// Own wrappers, because GCC 12's intrinsics for tile loads do not say that they read memory: stores to what they load
// were removed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace atb {
namespace {

constexpr int kTileRows = 16, kTileBytes = 64;

/// rows[0] of C0, C1 and A0, rows[1] of C2, C3 and A1, each 1 to 16; B has 16. Every row has 64 bytes.
struct TileShape {
  int rows[2];
};

#ifdef __AMX_TILE__
class HardwareTiles {
 public:
  explicit HardwareTiles(const TileShape& shape) noexcept {
    struct alignas(64) {
      uint8_t palette = 1, start_row = 0, reserved[14] = {};
      uint16_t row_bytes[16] = {};
      uint8_t rows[16] = {};
    } config;
    const int rows[8] = {shape.rows[0], shape.rows[0], shape.rows[1], shape.rows[1],
                         shape.rows[0], shape.rows[1], kTileRows,     kTileRows};
    for (int t = 0; t < 8; ++t) {
      config.rows[t] = static_cast<uint8_t>(rows[t]);
      config.row_bytes[t] = kTileBytes;
    }
    asm volatile("ldtilecfg %0" ::"m"(config) : "memory");  // clears every tile
  }
  ~HardwareTiles() { asm volatile("tilerelease" ::: "memory"); }
  HardwareTiles(const HardwareTiles&) = delete;
  HardwareTiles& operator=(const HardwareTiles&) = delete;

  template <int A>
  void load_rows(const void* p, int64_t stride) noexcept {
    load<4 + A>(p, stride);
  }
  template <int B>
  void load_panel(const void* p) noexcept {
    load<6 + B>(p, kTileBytes);
  }
  template <int C>
  void store(void* p, int64_t stride) const noexcept {
    asm volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(p), "r"(stride), "i"(C) : "memory");
  }
  template <int C, int A, int B>
  void dot_bf16() noexcept {
    asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(4 + A), "i"(6 + B));
  }

 private:
  template <int T>
  static void load(const void* p, int64_t stride) noexcept {
    asm volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(p), "r"(stride), "i"(T) : "memory");
  }
};
#endif

/// What the instructions do, for tests on any CPU: the products of a tile are added in fp32 in ascending k, even and
/// odd k apart, then to the accumulator (Intel's instruction set reference, TDPBF16PS; the flushing of denormals is
/// left out).
class SoftwareTiles {
 public:
  explicit SoftwareTiles(const TileShape& shape) noexcept : shape_(shape) {}

  template <int A>
  void load_rows(const void* p, int64_t stride) noexcept {
    for (int i = 0; i < shape_.rows[A]; ++i)
      __builtin_memcpy(a_[A][i], static_cast<const char*>(p) + i * stride, kTileBytes);
  }
  template <int B>
  void load_panel(const void* p) noexcept {
    __builtin_memcpy(b_[B], p, sizeof b_[B]);
  }
  template <int C>
  void store(void* p, int64_t stride) const noexcept {
    for (int i = 0; i < shape_.rows[C / 2]; ++i)
      __builtin_memcpy(static_cast<char*>(p) + i * stride, c_[C][i], kTileBytes);
  }
  template <int C, int A, int B>
  void dot_bf16() noexcept {
    for (int i = 0; i < shape_.rows[A]; ++i)
      for (int n = 0; n < 16; ++n) {
        float sums[2] = {};
        for (int k = 0; k < 32; ++k) sums[k % 2] += widen(a_[A][i][k]) * widen(b_[B][k / 2][2 * n + k % 2]);
        c_[C][i][n] += sums[0] + sums[1];
      }
  }

 private:
  static float widen(uint16_t half) noexcept { return __builtin_bit_cast(float, static_cast<uint32_t>(half) << 16); }

  TileShape shape_;
  float c_[4][kTileRows][16] = {};
  uint16_t a_[2][kTileRows][32] = {}, b_[2][kTileRows][32] = {};
};

}  // namespace
}  // namespace atb
