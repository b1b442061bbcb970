#include "runtime/barriers.h"

#include <algorithm>

#include "base/check.h"

namespace atb {
namespace {

/// One access of a step to memory that all threads see.
struct Access {
  enum class Space : uint8_t { kArena, kScores, kState } space;
  size_t begin, end;
  BufferId buffer;
  bool write;
  Partition partition;
  Extent origin;  // rows are counted from here
};

/// Two accesses of which one writes, unless every thread only touches rows that it touched before.
bool must_order(const Access& a, const Access& b) {
  const bool overlap = a.space == b.space && a.begin < b.end && b.begin < a.end;
  if (!overlap || !(a.write || b.write)) return false;
  const bool rows_follow_tiles =
      a.partition.kind != Partition::Kind::kFree && a.partition.kind != Partition::Kind::kFixed;
  return !(rows_follow_tiles && a.buffer == b.buffer && a.partition == b.partition && a.origin == b.origin);
}

bool must_order(const std::vector<Access>& before, const std::vector<Access>& after) {
  return std::any_of(after.begin(), after.end(), [&](const Access& b) {
    return std::any_of(before.begin(), before.end(), [&](const Access& a) { return must_order(a, b); });
  });
}

class Accesses {
 public:
  Accesses(const Plan::Impl& plan, const Symbols& most, const Schedule& schedule)
      : plan_(plan), most_(most), schedule_(schedule) {}

  std::vector<Access> of(const Phase& phase) const {
    std::vector<Access> all;
    for (int i = phase.first; i < phase.last; ++i) {
      const std::vector<Access> now = of_step(static_cast<size_t>(i), phase.tiled);
      ATB_CHECK(!must_order(all, now));  // tiles of a phase run in any order
      all.insert(all.end(), now.begin(), now.end());
    }
    return all;
  }

 private:
  std::vector<Access> of_step(size_t i, bool tiled) const {
    const StepOperands& operands = plan_.steps[i].operands;
    Partition partition = schedule_.redundant[i] ? Partition{} : plan_.steps[i].step->partition();
    if (tiled) partition = {Partition::Kind::kRowTiles, schedule_.tile_rows};
    std::vector<Access> all;
    for (const RowsRef& in : operands.inputs) add_rows(all, in, false, partition);
    add_rows(all, operands.output, true, partition);
    add_state(all, operands.state_read, false);
    add_state(all, operands.state_written, true);
    return all;
  }

  static void add_state(std::vector<Access>& all, int state, bool write) {
    if (state < 0) return;
    const auto s = static_cast<size_t>(state);
    all.push_back({Access::Space::kState, s, s + 1, kNoBuffer, write, {}, {}});
  }

  void add_rows(std::vector<Access>& all, const RowsRef& ref, bool write, Partition partition) const {
    const auto index = static_cast<size_t>(ref.buffer);
    if (ref.buffer == kNoBuffer || schedule_.is_private[index]) return;
    const Buffer& buffer = plan_.buffers[index];
    const size_t begin = schedule_.offset[index];
    const Extent origin{0, ref.offset.tokens, ref.offset.outputs, 0};
    const auto space = buffer.scores ? Access::Space::kScores : Access::Space::kArena;
    const size_t end = begin + (buffer.scores ? 1 : buffer.bytes(most_));
    all.push_back({space, begin, end, ref.buffer, write, partition, origin});
  }

  const Plan::Impl& plan_;
  const Symbols most_;
  const Schedule& schedule_;
};

}  // namespace

void place_barriers(const Plan::Impl& plan, const Symbols& most, Schedule& schedule) {
  const Accesses accesses(plan, most, schedule);
  std::vector<Access> since_barrier;
  for (Phase& phase : schedule.phases) {
    const std::vector<Access> now = accesses.of(phase);
    phase.barrier_before = must_order(since_barrier, now);
    if (phase.barrier_before) since_barrier.clear();
    since_barrier.insert(since_barrier.end(), now.begin(), now.end());
  }
}

}  // namespace atb
