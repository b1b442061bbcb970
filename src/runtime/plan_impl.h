// What a plan is made of; written by the lowering, read by the executor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "runtime/plan.h"
#include "runtime/tensor_ref.h"
#include "runtime/weights.h"

namespace atb {

/// Memory of one value (or of something prepared from it).
struct Buffer {
  Extents shape;          ///< its size is the product of these ...
  size_t unit_bytes = 4;  ///< ... times this
  bool scores = false;    ///< heads * sum of rows * score_stride floats instead
  int64_t heads = 1;
  int first = -1, last = -1;  ///< steps that write it first and use it last
  bool shared = false;        ///< read by the caller, or written by several threads together

  size_t bytes(const Symbols& symbols) const noexcept;
};

/// What a step reads and writes.
struct StepOperands {
  std::vector<RowsRef> inputs = {};
  RowsRef output = {};  ///< buffer kNoBuffer: it writes a state
  int state_read = -1, state_written = -1;
  bool heavy = false;  ///< worth sharing among threads even for few rows
};

struct BoundStep {
  std::unique_ptr<Step> step;
  StepOperands operands;
  int launch = -1;           ///< steps of one launch follow each other
  bool ends_launch = false;  ///< where it is counted
  int round_trips = 0;       ///< of the launch, counted there too
};

/// Steps that the threads run without waiting for each other: one, shared out by its tiles, or several on tiles of
/// rows, each tile by one thread through all of them.
struct Phase {
  int first = 0, last = 0;  ///< steps [first, last)
  bool tiled = false;
  bool barrier_before = false;
};

/// How the steps run for batches up to a number of rows.
struct Schedule {
  int64_t max_rows = 0;
  std::vector<Phase> phases;
  int64_t tile_rows = 0;         ///< most rows of a tile
  std::vector<bool> redundant;   ///< per step: every thread computes all of it into memory of its own
  std::vector<bool> is_private;  ///< per buffer: one copy per thread
  std::vector<size_t> offset;    ///< per buffer: bytes in the shared or private arena; for scores the slot
  std::vector<size_t> slab_row;  ///< per buffer: bytes of a row if it holds the rows of one tile only, else 0
  size_t shared_bytes = 0, private_bytes = 0;

  /// Rows of every tile but the last: the same number of tiles for every thread, if there are rows enough.
  int64_t tile_height(int64_t rows, int threads) const noexcept;
};

struct Plan::Impl {
  Impl(Graph g, const PlanOptions& o);

  Graph graph;
  PlanOptions options;
  Weights weights;
  std::vector<StateSpec> states;
  std::vector<Buffer> buffers;
  std::vector<BoundStep> steps;
  std::vector<StepInfo> infos;      ///< per launch
  std::vector<int64_t> slab_bytes;  ///< per launch: what a region may use of a private cache; 0: no region
  std::vector<Schedule> schedules;  ///< by ascending max_rows; the last holds any batch
  std::vector<int64_t> slot_heads;  ///< per slot for scores, the most heads of its values
  RowsRef logits;
  int64_t input_limits[kGraphInputCount];  ///< token ids, positions, ... are below it
  std::string cube, precision;

  const Schedule& schedule_for(int64_t rows) const noexcept;
};

/// Few rows: an operator on them costs less than a barrier, so every thread computes it for itself.
inline constexpr int64_t kFewRows = 4;

/// Fills Impl::schedules and slot_heads from its steps and buffers, for a pool of that many threads.
void make_schedules(Plan::Impl& plan, int threads);

}  // namespace atb
