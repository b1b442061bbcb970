#include "runtime/phases.h"

#include <algorithm>
#include <map>

#include "runtime/arena_planner.h"

namespace atb {
namespace {

constexpr Symbols kNoRow{}, kOneRow{1, 0, 0}, kLeastTile{kLeastTileRows, 0, 0};

/// Bytes of a buffer that belong to one row of the batch; 0 if its size does not follow the rows alone.
size_t row_bytes(const Buffer& buffer) {
  const Symbols one_output{0, 1, 0};
  const bool follows_rows = !buffer.scores && buffer.bytes(kNoRow) == 0 && buffer.bytes(one_output) == 0;
  return follows_rows ? buffer.bytes(kOneRow) : 0;
}

class Tiler {
 public:
  explicit Tiler(const Plan::Impl& plan) : plan_(plan) {
    starting_.resize(plan.steps.size());
    for (size_t b = 0; b < plan.buffers.size(); ++b) {
      row_bytes_.push_back(row_bytes(plan.buffers[b]));
      if (plan.buffers[b].first >= 0) starting_[static_cast<size_t>(plan.buffers[b].first)].push_back(b);
    }
  }

  Tiling make() {
    tiling_.slab_row.assign(plan_.buffers.size(), 0);
    for (int i = 0; i < count(); i = group_end_) {
      find_group(i);
      const int64_t height = tile_rows(i);
      if (height < kLeastTileRows) {
        for (int k = i; k < group_end_; ++k) tiling_.phases.push_back({k, k + 1});
      } else {
        add_tiled(i, height);
      }
    }
    return std::move(tiling_);
  }

 private:
  int count() const { return static_cast<int>(plan_.steps.size()); }
  const BoundStep& step(int i) const { return plan_.steps[static_cast<size_t>(i)]; }
  int64_t slab_bytes(int i) const { return plan_.slab_bytes[static_cast<size_t>(launch(i))]; }
  int launch(int i) const { return step(i).launch; }

  /// Sets group_end_: the steps that may share a phase with step i.
  void find_group(int i) {
    group_end_ = i + 1;
    if (!can_tile(i)) return;
    std::vector<int> written = {step(i).operands.state_written};
    for (; group_end_ < count() && launch(group_end_) == launch(i) && can_tile(group_end_); ++group_end_) {
      const StepOperands& next = step(group_end_).operands;
      if (next.state_read >= 0 && std::find(written.begin(), written.end(), next.state_read) != written.end()) return;
      written.push_back(next.state_written);
    }
  }

  bool can_tile(int i) const {
    const BoundStep& s = step(i);
    if (s.launch < 0 || slab_bytes(i) == 0 || s.step->row_local() == nullptr) return false;
    const StepOperands& o = s.operands;
    return (o.output.buffer == kNoBuffer || follows_rows(o.output)) &&
           std::all_of(o.inputs.begin(), o.inputs.end(),
                       [&](const RowsRef& in) { return follows_rows(in) || is_fixed(in); });
  }

  /// Does row r of the batch lie in the r-th part of the buffer?
  bool follows_rows(const RowsRef& ref) const {
    if (ref.buffer == kNoBuffer) return false;
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(ref.buffer)];
    if (buffer.scores) return true;
    const bool in_floats = buffer.unit_bytes == sizeof(float);
    const int64_t bytes = ref.rows.tokens * ref.stride * (in_floats ? static_cast<int64_t>(sizeof(float)) : 1);
    return bytes > 0 && ref.rows == Extent{0, ref.rows.tokens, 0, 0} && ref.offset.is_fixed() &&
           static_cast<size_t>(bytes) == row_bytes_[static_cast<size_t>(ref.buffer)];
  }

  /// The same for every batch: weights.
  bool is_fixed(const RowsRef& ref) const {
    if (ref.buffer == kNoBuffer) return true;
    const Buffer& buffer = plan_.buffers[static_cast<size_t>(ref.buffer)];
    return !buffer.scores &&
           std::all_of(buffer.shape.begin(), buffer.shape.end(), [](const Extent& e) { return e.is_fixed(); });
  }

  /// The buffers that live in steps [begin, group_end_) alone.
  std::vector<size_t> slab_buffers(int begin) const {
    std::vector<size_t> inside;
    for (int i = begin; i < group_end_; ++i)
      for (size_t b : starting_[static_cast<size_t>(i)])
        if (row_bytes_[b] > 0 && !plan_.buffers[b].shared && plan_.buffers[b].last < group_end_) inside.push_back(b);
    return inside;
  }

  /// Rows whose slab fits; 0 for steps that cannot be tiled.
  int64_t tile_rows(int begin) const {
    if (!can_tile(begin)) return 0;
    const std::vector<size_t> buffers = slab_buffers(begin);
    ArenaPlanner slab;
    std::multimap<int, size_t> ending;  // last step -> offset
    int now = begin;
    for (size_t b : buffers) {
      for (; now < plan_.buffers[b].first; ++now) release(slab, ending, now);
      ending.emplace(plan_.buffers[b].last, slab.allocate(plan_.buffers[b].bytes(kLeastTile)));
    }
    const auto row = static_cast<int64_t>(slab.peak()) / kLeastTileRows;
    return row == 0 ? kMostTileRows : std::min(kMostTileRows, slab_bytes(begin) / row);
  }

  static void release(ArenaPlanner& slab, const std::multimap<int, size_t>& ending, int step) {
    const auto [from, to] = ending.equal_range(step);
    for (auto it = from; it != to; ++it) slab.release(it->second);
  }

  /// One height for all: a thread then has the same rows in every phase, and need not wait in between.
  void add_tiled(int begin, int64_t height) {
    tiling_.phases.push_back({begin, group_end_, true});
    tiling_.tile_rows = tiling_.tile_rows == 0 ? height : std::min(tiling_.tile_rows, height);
    for (size_t b : slab_buffers(begin)) tiling_.slab_row[b] = row_bytes_[b];
  }

  const Plan::Impl& plan_;
  std::vector<size_t> row_bytes_;              // per buffer
  std::vector<std::vector<size_t>> starting_;  // per step, buffers
  int group_end_ = 0;
  Tiling tiling_;
};

}  // namespace

std::vector<Phase> phases_by_step(const Plan::Impl& plan) {
  std::vector<Phase> phases;
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) phases.push_back({i, i + 1});
  return phases;
}

Tiling tile_phases(const Plan::Impl& plan) { return Tiler(plan).make(); }

}  // namespace atb
