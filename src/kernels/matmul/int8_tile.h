// Quantised weights times int8 activations. Per group of activations: an integer dot product, exact in int32, then in
// fp32
//   c += float(dot) * (weight scale * activation scale);   c += min * (activation scale * sum(q))
// in this order and with these roundings on every ISA that has fused multiply-add. See tiles.h for the rules of such
// files.
#pragma once

#include "kernels/matmul/tiles.h"

namespace atb {

/// Offsets within one group of a panel (packed.h).
template <PackKind kKind_, int kGroup_, ScaleType kScale_, bool kMin_>
struct BlockLayout {
  static constexpr PackKind kKind = kKind_;
  static constexpr int kGroup = kGroup_;
  static constexpr ScaleType kScale = kScale_;
  static constexpr bool kMin = kMin_;
  static constexpr int kScaleBytes = kScale == ScaleType::kF16 ? 2 : 4;
  static constexpr int kMins = kPanelWidth * kScaleBytes;
  static constexpr int kIntegers = kMins * (kMin ? 2 : 1);
  static constexpr int kBytes = kIntegers + kPanelWidth * kGroup / (kKind == PackKind::kQ4 ? 2 : 1);
  /// Activations per scale, and the groups of them (each followed by its stats) that meet one group of weights.
  static constexpr int kActivations = kKind == PackKind::kQ4 ? kNibbleActivations : kGroup;
  static constexpr int kPartBytes = kActivations + static_cast<int>(sizeof(GroupStats));
  static constexpr int kActivationBytes = kGroup / kActivations * kPartBytes;
};

template <class V, class B, int R, int P>
struct Int8Tile {
  using F = typename V::F;
  using I = typename V::I;
  using Columns = TileColumns<V>;
  static constexpr int kVectors = P * Columns::kPerPanel;
  F sum[R][kVectors];

  void clear() noexcept {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sum[r][v] = V::zero();
  }

  static const GroupStats* stats(const std::byte* a) noexcept {
    return reinterpret_cast<const GroupStats*>(a + B::kActivations);
  }

  /// Register j holds k = 4j.. in its low nibbles and k = 16 + 4j.. in its high ones: one kind per part.
  template <bool kHigh>
  static void dot_q4(const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes,
                     I (&dot)[R][kVectors]) noexcept {
    using Q = typename V::Q4;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) dot[r][v] = Q::begin(B::kMin ? nullptr : &stats(a + r * stride)->start_q4);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      I weights[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        weights[v] =
            V::template load_nibbles<kHigh>(w + Columns::panel(v) * panel_bytes + 64 * j + 4 * Columns::lane(v));
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const I x = V::broadcast_word(a + r * stride + 4 * j);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) dot[r][v] = Q::add(dot[r][v], weights[v], x);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        dot[r][v] = Q::end(dot[r][v], B::kMin ? nullptr : &stats(a + r * stride)->start_q4);
  }

  static void dot_q8(const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes,
                     I (&dot)[R][kVectors]) noexcept {
    using Q = typename V::Q8;
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) dot[r][v] = Q::begin(&stats(a + r * stride)->start_q8);
#pragma GCC unroll 8
    for (int j = 0; j < B::kGroup / 4; ++j) {
      typename Q::W weights[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        weights[v] = Q::load(w + Columns::panel(v) * panel_bytes + 64 * j + 4 * Columns::lane(v));
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const I x = V::broadcast_word(a + r * stride + 4 * j);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) dot[r][v] = Q::add(dot[r][v], weights[v], x);
      }
    }
  }

  static F load_scales(const std::byte* scales, int lane) noexcept {
    if constexpr (B::kScale == ScaleType::kF16)
      return V::load_f16(reinterpret_cast<const uint16_t*>(scales) + lane);
    else
      return V::load(reinterpret_cast<const float*>(scales) + lane);
  }

  void add_scaled(const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes,
                  const I (&dot)[R][kVectors]) noexcept {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const std::byte* scales = w + Columns::panel(v) * panel_bytes;
      const F scale = load_scales(scales, Columns::lane(v));
      const F min = B::kMin ? load_scales(scales + B::kMins, Columns::lane(v)) : V::zero();
#pragma GCC unroll 16
      for (int r = 0; r < R; ++r) {
        const GroupStats* s = stats(a + r * stride);
        sum[r][v] = V::fma(V::to_float(dot[r][v]), V::mul(scale, V::broadcast(&s->scale)), sum[r][v]);
        if constexpr (B::kMin) sum[r][v] = V::fma(min, V::broadcast(&s->scaled_sum), sum[r][v]);
      }
    }
  }

  void group(const std::byte* a, int64_t stride, const std::byte* w, int64_t panel_bytes) noexcept {
    I dot[R][kVectors];
    if constexpr (B::kKind == PackKind::kQ4) {
      dot_q4<false>(a, stride, w + B::kIntegers, panel_bytes, dot);
      add_scaled(a, stride, w, panel_bytes, dot);
      dot_q4<true>(a + B::kPartBytes, stride, w + B::kIntegers, panel_bytes, dot);
      add_scaled(a + B::kPartBytes, stride, w, panel_bytes, dot);
    } else {
      dot_q8(a, stride, w + B::kIntegers, panel_bytes, dot);
      add_scaled(a, stride, w, panel_bytes, dot);
    }
  }

  void store(const MatMulArgs& args, int64_t panel, int64_t row) const noexcept {
#pragma GCC unroll 16
    for (int r = 0; r < R; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v)
        store_outputs<V>(args, row + r, (panel + Columns::panel(v)) * kPanelWidth + Columns::lane(v), sum[r][v]);
  }
};

/// Few rows read several panels at a time, each a sequential stream: on Emerald Rapids four streams read memory 1.4
/// times as fast as one.
template <class V, class B>
struct Int8Tiles {
  static constexpr int kRows = V::kInt8Rows, kPanels = V::kPanels;
  static constexpr int kFewRows = V::kInt8FewRows, kFewRowsPanels = 2 * V::kPanels;

  template <int R, int P>
  static void run(const MatMulArgs& args, int64_t panel, int64_t row) noexcept {
    const auto bytes = static_cast<int64_t>(panel_bytes(args.format, args.k));
    const std::byte *w = args.w + panel * bytes, *a = args.a + row * args.a_row_bytes;
    Int8Tile<V, B, R, P> tile;
    tile.clear();
    for (int64_t k = 0; k < args.k; k += B::kGroup, a += B::kActivationBytes, w += B::kBytes)
      tile.group(a, args.a_row_bytes, w, bytes);
    tile.store(args, panel, row);
  }
};

template <class V, class B>
bool has_layout(const PackedFormat& f) noexcept {
  return f.group == B::kGroup && f.scale == B::kScale && f.has_min == B::kMin;
}

/// Runs the first of Layouts that the weights have; exact_format makes no other.
template <class V, class... Layouts>
void run_layouts(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  static_cast<void>(
      ((has_layout<V, Layouts>(args.format) && (run_matmul<Int8Tiles<V, Layouts>>(args, begin, end), true)) || ...));
}

template <class V>
void run_q4(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  using enum ScaleType;
  run_layouts<V, BlockLayout<PackKind::kQ4, 32, kF16, true>, BlockLayout<PackKind::kQ4, 32, kF16, false>,
              BlockLayout<PackKind::kQ4, 32, kF32, true>>(args, begin, end);
}

template <class V>
void run_q8(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  using enum ScaleType;
  run_layouts<V, BlockLayout<PackKind::kQ8, 32, kF16, false>, BlockLayout<PackKind::kQ8, 16, kF32, false>,
              BlockLayout<PackKind::kQ8, 32, kF16, true>, BlockLayout<PackKind::kQ8, 32, kF32, true>>(args, begin, end);
}

}  // namespace atb
