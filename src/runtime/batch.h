// What one step of the executor works on: the rows of all its sequences, one after the other.
#pragma once

#include <cstdint>
#include <span>

#include "runtime/extent.h"
#include "runtime/kv_cache.h"

namespace atb {

/// The inputs that a graph may have, by name.
enum class GraphInput : uint8_t { kTokens, kPositions, kLogitRows };
inline constexpr int kGraphInputCount = 3;

/// The rows of one sequence: batch rows [first_row, first_row + rows) are its tokens past, past + 1, ...
struct SequenceRows {
  const KvCache* cache;
  int64_t first_row, rows, past;
  /// Scores of one head lie in a block [rows][score_stride]; the blocks of all heads of a sequence follow each other,
  /// and so do the sequences: with H heads this sequence starts at float H * score_begin.
  int64_t score_begin, score_stride;

  int64_t context() const noexcept { return past + rows; }
};

struct Batch {
  int64_t rows = 0, outputs = 0;
  const int32_t* inputs[kGraphInputCount] = {};  ///< tokens and positions [rows], logit rows [outputs]
  std::span<const SequenceRows> sequences;

  Symbols symbols() const noexcept { return {rows, outputs, 0}; }
};

/// Splits tiles [begin, end) of `per_row` tiles per batch row among the sequences: sequence s owns the tiles
/// [per_row * first_row, per_row * (first_row + rows)). Calls visit(sequence, local begin, local end).
template <class Visit>
void for_each_sequence(const Batch& batch, int64_t per_row, int64_t begin, int64_t end, Visit visit) {
  for (const SequenceRows& s : batch.sequences) {
    const int64_t first = per_row * s.first_row, last = first + per_row * s.rows;
    const int64_t from = begin > first ? begin : first, to = end < last ? end : last;
    if (from < to) visit(s, from - first, to - first);
  }
}

}  // namespace atb
