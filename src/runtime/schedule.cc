// Where buffers lie and where threads must wait, for batches up to some number of rows.
#include <algorithm>

#include "runtime/arena_planner.h"
#include "runtime/barriers.h"
#include "runtime/phases.h"

namespace atb {
namespace {

/// With few rows memory is small, and a buffer that waits a while before it is used again saves the barrier between its
/// last reader and its next writer: about one layer's steps.
constexpr size_t kStepsBeforeReuse = 16;

/// A buffer that a thread writes alone in less time than a barrier takes, times a few: 64 KiB.
constexpr size_t kMostPrivateBytes = size_t{64} << 10;

/// Rows per thread from which tiles pay: with fewer, every thread would read all weights for next to nothing.
constexpr int64_t kRowsToTile = 32;

class Scheduler {
 public:
  Scheduler(const Plan::Impl& plan, int64_t max_rows) : plan_(plan), symbols_{max_rows, max_rows, 0} {
    schedule_.max_rows = max_rows;
  }

  /// Columns: the threads share every step.
  Schedule by_step() {
    schedule_.phases = phases_by_step(plan_);
    schedule_.slab_row.assign(plan_.buffers.size(), 0);
    choose_redundant();
    finish();
    return std::move(schedule_);
  }

  /// Rows: the threads share the tiles of regions.
  Schedule by_tiles(Tiling tiling) {
    schedule_.phases = std::move(tiling.phases);
    schedule_.slab_row = std::move(tiling.slab_row);
    schedule_.tile_rows = tiling.tile_rows;
    for (size_t row : schedule_.slab_row) schedule_.is_private.push_back(row > 0);
    schedule_.redundant.assign(plan_.steps.size(), false);
    finish();
    return std::move(schedule_);
  }

 private:
  void finish() {
    place_buffers();
    place_barriers(plan_, symbols_, schedule_);
  }

  /// Few rows: light steps run on every thread, into private buffers.
  void choose_redundant() {
    auto& is_private = schedule_.is_private;
    for (const Buffer& b : plan_.buffers)
      is_private.push_back(symbols_.tokens <= kFewRows && !b.shared && !b.scores &&
                           b.bytes(symbols_) <= kMostPrivateBytes);
    for (const BoundStep& step : plan_.steps)
      if (step.operands.heavy && step.operands.output.buffer != kNoBuffer)
        is_private[static_cast<size_t>(step.operands.output.buffer)] = false;
    for (const BoundStep& step : plan_.steps)
      schedule_.redundant.push_back(step.operands.output.buffer != kNoBuffer &&
                                    is_private[static_cast<size_t>(step.operands.output.buffer)]);
  }

  /// Where a buffer's memory is taken, and where it is given back.
  struct Lifetime {
    size_t begin, end;
  };

  Lifetime lifetime(const Buffer& buffer, bool slab, const std::vector<Phase>& phase_of) const {
    const size_t rest = symbols_.tokens <= kFewRows && !buffer.scores ? kStepsBeforeReuse : 0;
    Lifetime life{static_cast<size_t>(buffer.first), static_cast<size_t>(buffer.last)};
    if (!slab) {  // other tiles may be at any step of the phase
      life.begin = static_cast<size_t>(phase_of[life.begin].first);
      if (life.end < phase_of.size()) life.end = static_cast<size_t>(phase_of[life.end].last) - 1;
    }
    life.end += rest;
    return life;
  }

  std::vector<Phase> phase_of_steps() const {
    std::vector<Phase> phase_of;
    for (const Phase& phase : schedule_.phases)
      for (int i = phase.first; i < phase.last; ++i) phase_of.push_back(phase);
    return phase_of;
  }

  size_t bytes_of(size_t b) const {
    const size_t row = schedule_.slab_row[b];
    return row > 0 ? row * static_cast<size_t>(schedule_.tile_rows) : plan_.buffers[b].bytes(symbols_);
  }

  void place_buffers() {
    const auto& buffers = plan_.buffers;
    const std::vector<Phase> phase_of = phase_of_steps();
    std::vector<std::vector<size_t>> starting(plan_.steps.size()), ending(plan_.steps.size() + 1 + kStepsBeforeReuse);
    for (size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].first < 0) continue;
      const Lifetime life = lifetime(buffers[b], schedule_.slab_row[b] > 0, phase_of);
      starting[life.begin].push_back(b);
      ending[life.end].push_back(b);
    }
    schedule_.offset.assign(buffers.size(), 0);
    ArenaPlanner arenas[2];
    std::vector<bool> slot_used;
    for (size_t step = 0; step < plan_.steps.size(); ++step) {
      for (size_t b : starting[step])
        schedule_.offset[b] =
            buffers[b].scores ? take_slot(slot_used) : arenas[schedule_.is_private[b]].allocate(bytes_of(b));
      for (size_t b : ending[step]) {
        if (buffers[b].scores)
          slot_used[schedule_.offset[b]] = false;
        else
          arenas[schedule_.is_private[b]].release(schedule_.offset[b]);
      }
    }
    schedule_.shared_bytes = arenas[0].peak();
    schedule_.private_bytes = arenas[1].peak();
  }

  static size_t take_slot(std::vector<bool>& used) {
    const auto free = std::find(used.begin(), used.end(), false);
    const auto slot = static_cast<size_t>(free - used.begin());
    if (free == used.end()) used.push_back(true);
    used[slot] = true;
    return slot;
  }

  const Plan::Impl& plan_;
  const Symbols symbols_;
  Schedule schedule_;
};

}  // namespace

size_t Buffer::bytes(const Symbols& symbols) const noexcept {
  size_t total = unit_bytes;
  for (const Extent& e : shape) total *= static_cast<size_t>(e.at(symbols));
  return total;
}

const Schedule& Plan::Impl::schedule_for(int64_t rows) const noexcept {
  for (const Schedule& s : schedules)
    if (rows <= s.max_rows) return s;
  return schedules.back();
}

int64_t Schedule::tile_height(int64_t rows, int threads) const noexcept {
  const int64_t at_once = threads * tile_rows, tiles = (rows + at_once - 1) / at_once * threads;
  return (rows + tiles - 1) / tiles;
}

void make_schedules(Plan::Impl& plan, int threads) {
  const int64_t max_rows = plan.options.max_rows, fewest_tiled = threads * kRowsToTile;
  Tiling tiling = tile_phases(plan);
  const bool tiled = tiling.tile_rows > 0 && max_rows >= fewest_tiled;
  const int64_t most_by_step = tiled ? std::min(max_rows, fewest_tiled - 1) : max_rows;
  plan.schedules.push_back(Scheduler(plan, std::min(kFewRows, max_rows)).by_step());
  if (most_by_step > kFewRows) plan.schedules.push_back(Scheduler(plan, most_by_step).by_step());
  if (tiled) plan.schedules.push_back(Scheduler(plan, max_rows).by_tiles(std::move(tiling)));
  for (const Schedule& schedule : plan.schedules) {
    for (size_t b = 0; b < plan.buffers.size(); ++b) {
      if (!plan.buffers[b].scores || plan.buffers[b].first < 0) continue;
      const size_t slot = schedule.offset[b];
      if (slot >= plan.slot_heads.size()) plan.slot_heads.resize(slot + 1, 0);
      plan.slot_heads[slot] = std::max(plan.slot_heads[slot], plan.buffers[b].heads);
    }
  }
}

}  // namespace atb
