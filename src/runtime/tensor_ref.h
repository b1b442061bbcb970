// Where the values of a graph lie at run time, as the plan knows it: in which buffer, at which offset, how strided.
#pragma once

#include "runtime/extent.h"
#include "runtime/step.h"

namespace atb {

using BufferId = int32_t;
inline constexpr BufferId kNoBuffer = -1;

/// A value as a strided tensor of floats. Constants and weights have a fixed address instead of a buffer.
struct TensorRef {
  BufferId buffer = kNoBuffer;
  const float* fixed = nullptr;
  Extent offset;  ///< floats
  Extents shape, strides;
  /// Scores: [heads, tokens, past+tokens] of each sequence on its own (SequenceRows); strides are not used.
  bool scores = false;
  int64_t heads = 1;
};

/// An operand of a step: a tensor that is a matrix of rows.
struct RowsRef {
  BufferId buffer = kNoBuffer;
  const float* fixed = nullptr;
  Extent offset;
  Extent rows;
  int64_t width = 0, stride = 0;
};

/// Row-major strides of a dense tensor. Error{kModel} as product().
Extents dense_strides(const Extents& shape);
bool is_dense(const TensorRef& tensor);
/// The tensor as a matrix of its last dimension, if its strides allow it.
bool collapse_rows(const TensorRef& tensor, RowsRef& rows);
/// The partition of a row-wise step over so many rows. Error{kModel} for rows like tokens+1.
Partition partition_of(const Extent& rows);

}  // namespace atb
