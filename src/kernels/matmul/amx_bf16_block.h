// bf16 weights times bf16 activations on tiles: blocks of 32 rows x 2 panels, or 16 rows x 4 panels where there are no
// more rows. An output's additions do not depend on the block. See tiles.h for the rules of such files.
#pragma once

#include "kernels/matmul/amx_tiles.h"
#include "kernels/matmul/tiles.h"

namespace atb {

template <class V, class Tiles>
class AmxBf16 {
 public:
  static void run(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
    if (args.m <= kTileRows)
      run_panels<4>(args, begin, end);
    else
      run_panels<2>(args, begin, end);
  }

 private:
  static constexpr int kDepth = 32;  // k per tile
  static constexpr int kPanelTileBytes = kTileRows * kTileBytes;

  template <int P>
  static void run_panels(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
    for (; begin + P <= end; begin += P)
      for (int64_t row = 0; row < args.m; row += 2 * kTileRows) run_rows<P>(args, begin, row);
    if constexpr (P > 1) run_panels<P / 2>(args, begin, end);
  }

  template <int P>
  static void run_rows(const MatMulArgs& args, int64_t panel, int64_t row) noexcept {
    const int64_t left = args.m - row;
    const int rows = left < 2 * kTileRows ? static_cast<int>(left) : 2 * kTileRows;
    if (rows <= kTileRows) {
      run_block<1, P>(args, {{rows, rows}}, panel, row);
    } else if constexpr (P <= 2) {
      run_block<2, P>(args, {{kTileRows, rows - kTileRows}}, panel, row);
    }
  }

  /// R x P tiles of C: number r * 2 + p for two blocks of rows, p for one.
  template <int R, int P>
  static void run_block(const MatMulArgs& args, const TileShape& shape, int64_t panel, int64_t row) noexcept {
    const auto bytes = static_cast<int64_t>(panel_bytes(args.format, args.k));
    const std::byte *a = args.a + row * args.a_row_bytes, *w = args.w + panel * bytes;
    Tiles tiles(shape);
    int64_t k = 0;
    for (; k + kDepth <= args.k; k += kDepth)
      step<R, P>(tiles, a + k * 2, args.a_row_bytes, w + k / 2 * kTileBytes, bytes);
    if (k < args.k) last_step<R, P>(tiles, a + k * 2, args.a_row_bytes, w + k / 2 * kTileBytes, bytes, args.k - k);
    store_all<R, P>(tiles, args, shape, panel, row);
  }

  template <int R, int P>
  static void step(Tiles& tiles, const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes) noexcept {
    tiles.template load_rows<0>(a, stride);
    if constexpr (R > 1) tiles.template load_rows<1>(a + kTileRows * stride, stride);
    multiply<R, P, 0>(tiles, w, panel_bytes);
  }

  template <int R, int P, int I>
  static void multiply(Tiles& tiles, const std::byte* w, int64_t panel_bytes) noexcept {
    if constexpr (I < P) {
      tiles.template load_panel<I % 2>(w + I * panel_bytes);
      tiles.template dot_bf16<I, 0, I % 2>();
      if constexpr (R > 1) tiles.template dot_bf16<2 + I, 1, I % 2>();
      multiply<R, P, I + 1>(tiles, w, panel_bytes);
    }
  }

  /// Fewer than 32 k: activation rows are padded with zeros already, panels get a padded copy.
  template <int R, int P>
  static void last_step(Tiles& tiles, const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes,
                        int64_t count) noexcept {
    alignas(64) std::byte padded[P * kPanelTileBytes] = {};
    for (int p = 0; p < P; ++p)
      __builtin_memcpy(padded + p * kPanelTileBytes, w + p * panel_bytes,
                       static_cast<size_t>((count + 1) / 2 * kTileBytes));
    step<R, P>(tiles, a, stride, padded, kPanelTileBytes);
  }

  template <int R, int P, int C = 0>
  static void store_all(const Tiles& tiles, const MatMulArgs& args, const TileShape& shape, int64_t panel,
                        int64_t row) noexcept {
    constexpr int kRowBlock = R > 1 ? C / 2 : 0, kPanel = R > 1 ? C % 2 : C;
    if constexpr (C < (R > 1 ? 4 : P)) {
      if constexpr (kPanel < P)
        store_tile<C>(tiles, args, shape.rows[kRowBlock], panel + kPanel, row + kRowBlock * kTileRows);
      store_all<R, P, C + 1>(tiles, args, shape, panel, row);
    }
  }

  /// Straight to c, or by way of a copy where the last panel has outputs beyond n.
  template <int C>
  static void store_tile(const Tiles& tiles, const MatMulArgs& args, int rows, int64_t panel, int64_t row) noexcept {
    const int64_t column = panel * kPanelWidth;
    if (column + kPanelWidth <= args.n) {
      tiles.template store<C>(args.c + row * args.ldc + column, args.ldc * 4);
      return;
    }
    alignas(64) float copy[kTileRows][kPanelWidth];
    tiles.template store<C>(copy, kTileBytes);
    for (int r = 0; r < rows; ++r)
      for (int n = 0; n < kPanelWidth; n += V::kWidth)
        store_outputs<V>(args, row + r, column + n, V::load(&copy[r][n]));
  }
};

}  // namespace atb
