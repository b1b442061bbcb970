// What of a plan runs between two barriers.
#pragma once

#include "runtime/plan_impl.h"

namespace atb {

/// Every step alone: all threads share its tiles.
std::vector<Phase> phases_by_step(const Plan::Impl& plan);

/// A tile this small reads every weight for too few rows; a larger one than most() gains nothing more.
inline constexpr int64_t kLeastTileRows = 16, kMostTileRows = 64;

struct Tiling {
  std::vector<Phase> phases;
  std::vector<size_t> slab_row;  ///< as in Schedule
  int64_t tile_rows = 0;         ///< 0: nothing can be tiled
};

/// The steps of each region grouped where rows do not need each other: a new phase where a step reads a state that the
/// one before wrote, and one for each step that needs more than its own rows. Buffers that live within a phase become
/// slabs. A region whose slab does not hold kLeastTileRows stays by step, so do steps outside of regions.
Tiling tile_phases(const Plan::Impl& plan);

}  // namespace atb
