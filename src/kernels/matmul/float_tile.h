// c += a[k] * w[k] for k = 0, 1, ..: one accumulator per output, so that the order of additions is that of k for every
// tile. See tiles.h for the rules of such files.
#pragma once

#include "kernels/matmul/tiles.h"

namespace atb {

// Weight readers: `load(panel, k, lane)` gives V::kWidth weights of step k of a panel, from output `lane` on.
template <class V>
struct F32Weights {
  using F = typename V::F;
  static constexpr int kUnroll = 1;
  static F load(const std::byte* panel, int64_t k, int lane) noexcept {
    return V::load(reinterpret_cast<const float*>(panel) + k * kPanelWidth + lane);
  }
};

template <class V>
struct F16Weights {
  using F = typename V::F;
  static constexpr int kUnroll = 1;
  static F load(const std::byte* panel, int64_t k, int lane) noexcept {
    return V::load_f16(reinterpret_cast<const uint16_t*>(panel) + k * kPanelWidth + lane);
  }
};

/// Pairs of bfloat16; two steps at a time, so that the compiler reads a pair once.
template <class V>
struct Bf16Weights {
  using F = typename V::F;
  static constexpr int kUnroll = 2;
  static F load(const std::byte* panel, int64_t k, int lane) noexcept {
    const std::byte* pairs = panel + (k / 2 * kPanelWidth + lane) * 4;
    return k % 2 == 0 ? V::bf16_even(pairs) : V::bf16_odd(pairs);
  }
};

/// Products of fp32 activations with weights that widen to fp32.
template <class V, template <class> class Weights>
struct WidenedProduct {
  using F = typename V::F;
  using W = typename V::F;
  static constexpr int kUnroll = Weights<V>::kUnroll;
  static int64_t steps(int64_t k) noexcept { return k; }
  static W weights(const std::byte* panel, int64_t k, int lane) noexcept { return Weights<V>::load(panel, k, lane); }
  static F activation(const std::byte* row, int64_t k) noexcept { return V::broadcast(row + k * 4); }
  static F add(F sum, W w, F a) noexcept { return V::fma(a, w, sum); }
};

/// `Product` says how one step reads and multiplies; R x P is the tile (tiles.h).
template <class V, class Product, int R, int P>
struct FloatTile {
  static constexpr int kVectors = P * TileColumns<V>::kPerPanel;
  typename V::F sum[R][kVectors];

  void clear() noexcept {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = V::zero();
  }

  void step(const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes, int64_t k) noexcept {
    typename Product::W weights[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v)
      weights[v] = Product::weights(w + TileColumns<V>::panel(v) * panel_bytes, k, TileColumns<V>::lane(v));
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r) {
      const auto x = Product::activation(a + r * stride, k);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = Product::add(sum[r][v], weights[v], x);
    }
  }

  void store(const MatMulArgs& args, int64_t panel, int64_t row) const noexcept {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        store_outputs<V>(args, row + r, (panel + TileColumns<V>::panel(v)) * kPanelWidth + TileColumns<V>::lane(v),
                         sum[r][v]);
  }
};

/// V::kFloatRows x V::kPanels; few rows take more panels, for as many independent chains of additions.
template <class V, class Product>
struct FloatTiles {
  static constexpr int kRows = V::kFloatRows, kPanels = V::kPanels;
  static constexpr int kFewRows = V::kFloatRows / 2, kFewRowsPanels = 2 * V::kPanels;

  template <int R, int P>
  static void run(const MatMulArgs& args, int64_t panel, int64_t row) noexcept {
    const auto bytes = static_cast<int64_t>(panel_bytes(args.format, args.k));
    const std::byte *w = args.w + panel * bytes, *a = args.a + row * args.a_row_bytes;
    const int64_t steps = Product::steps(args.k);
    FloatTile<V, Product, R, P> tile;
    tile.clear();
    int64_t k = 0;
    for (; k + Product::kUnroll <= steps; k += Product::kUnroll)
#pragma GCC unroll 2
      for (int i = 0; i < Product::kUnroll; ++i) tile.step(a, args.a_row_bytes, w, bytes, k + i);
    for (; k < steps; ++k) tile.step(a, args.a_row_bytes, w, bytes, k);
    tile.store(args, panel, row);
  }
};

}  // namespace atb
