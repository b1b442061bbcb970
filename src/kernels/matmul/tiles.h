// How a matmul kernel walks its outputs. A tile T::run<R, P> computes R rows of P neighbouring panels; panels are the
// outer loop, so that weights stream once while the rows' activations stay in the private cache.
//
// Included by ISA files only. Whatever is instantiated with a vector type of an anonymous namespace stays local to the
// object file, so that no code compiled for a higher ISA can be linked elsewhere; nothing here may call an inline
// function that is not such a template.
#pragma once

#include "kernels/matmul/matmul.h"

namespace atb {

/// The last R or fewer rows, from `row` on.
template <class T, int R, int P>
void run_last_rows(const MatMulArgs& args, int64_t panel, int64_t row) noexcept {
  if constexpr (R > 0) {
    if (args.m - row == R)
      T::template run<R, P>(args, panel, row);
    else
      run_last_rows<T, R - 1, P>(args, panel, row);
  }
}

/// All panels of [begin, end), P at a time, the rest with fewer.
template <class T, int R, int P>
void run_panels(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  for (; begin + P <= end; begin += P) {
    int64_t row = 0;
    for (; row + R <= args.m; row += R) T::template run<R, P>(args, begin, row);
    run_last_rows<T, R - 1, P>(args, begin, row);
  }
  if constexpr (P > 1) run_panels<T, R, P / 2>(args, begin, end);
}

/// T::kRows x T::kPanels is the tile for many rows, T::kFewRows x T::kFewRowsPanels the one for a decode step.
template <class T>
void run_matmul(const MatMulArgs& args, int64_t begin, int64_t end) noexcept {
  if (args.m <= T::kFewRows)
    run_panels<T, T::kFewRows, T::kFewRowsPanels>(args, begin, end);
  else
    run_panels<T, T::kRows, T::kPanels>(args, begin, end);
}

/// Where vector v of a tile (of vectors of W outputs) lies: panels side by side, each cut into 16 / W vectors.
template <class V>
struct TileColumns {
  static constexpr int kPerPanel = kPanelWidth / V::kWidth;
  static constexpr int panel(int v) noexcept { return v / kPerPanel; }
  static constexpr int lane(int v) noexcept { return v % kPerPanel * V::kWidth; }
};

/// Writes one vector of outputs, without those beyond n.
template <class V>
void store_outputs(const MatMulArgs& args, int64_t row, int64_t column, typename V::F value) noexcept {
  const int64_t left = args.n - column;
  float* c = args.c + row * args.ldc + column;
  if (left >= V::kWidth)
    V::store(c, value);
  else if (left > 0)
    V::store_first(c, value, static_cast<int>(left));
}

}  // namespace atb
