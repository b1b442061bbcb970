// Where buffers lie and where threads must wait, for batches up to some number of rows.
#include <algorithm>

#include "runtime/arena_planner.h"
#include "runtime/plan_impl.h"

namespace atb {
namespace {

/// With few rows memory is small, and a buffer that waits a while before it is used again saves the barrier between its
/// last reader and its next writer: about one layer's steps.
constexpr size_t kStepsBeforeReuse = 16;

/// A buffer that a thread writes alone in less time than a barrier takes, times a few: 64 KiB.
constexpr size_t kMostPrivateBytes = size_t{64} << 10;

class Scheduler {
 public:
  Scheduler(const Plan::Impl& plan, int64_t max_rows) : plan_(plan), symbols_{max_rows, max_rows, 0} {
    schedule_.max_rows = max_rows;
  }

  Schedule make() {
    choose_redundant();
    place_buffers();
    place_barriers();
    return std::move(schedule_);
  }

 private:
  /// Few rows: light steps run on every thread, into private buffers.
  void choose_redundant() {
    auto& is_private = schedule_.is_private;
    for (const Buffer& b : plan_.buffers)
      is_private.push_back(symbols_.tokens <= kFewRows && !b.shared && !b.scores &&
                           b.bytes(symbols_) <= kMostPrivateBytes);
    for (const BoundStep& step : plan_.steps)
      if (step.operands.heavy && step.operands.output.buffer != kNoBuffer)
        is_private[index(step.operands.output)] = false;
    for (const BoundStep& step : plan_.steps)
      schedule_.redundant.push_back(step.operands.output.buffer != kNoBuffer &&
                                    is_private[index(step.operands.output)]);
  }

  void place_buffers() {
    const auto& buffers = plan_.buffers;
    const size_t rest = symbols_.tokens <= kFewRows ? kStepsBeforeReuse : 0;
    std::vector<std::vector<size_t>> starting(plan_.steps.size()), ending(plan_.steps.size() + 1 + rest);
    for (size_t b = 0; b < buffers.size(); ++b) {
      if (buffers[b].first < 0) continue;
      starting[static_cast<size_t>(buffers[b].first)].push_back(b);
      ending[static_cast<size_t>(buffers[b].last) + (buffers[b].scores ? 0 : rest)].push_back(b);
    }
    schedule_.offset.assign(buffers.size(), 0);
    ArenaPlanner arenas[2];
    std::vector<bool> slot_used;
    for (size_t step = 0; step < plan_.steps.size(); ++step) {
      for (size_t b : starting[step])
        schedule_.offset[b] = buffers[b].scores ? take_slot(slot_used)
                                                : arenas[schedule_.is_private[b]].allocate(buffers[b].bytes(symbols_));
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

  /// One access of a step to memory that all threads see.
  struct Access {
    enum class Space : uint8_t { kArena, kScores, kState } space;
    size_t begin, end;
    BufferId buffer;
    bool write;
    Partition partition;
    Extent origin;  // rows are counted from here
  };

  void place_barriers() {
    std::vector<Access> since_barrier;
    for (size_t i = 0; i < plan_.steps.size(); ++i) {
      const std::vector<Access> now = accesses(i);
      const bool wait = std::any_of(now.begin(), now.end(), [&](const Access& b) {
        return std::any_of(since_barrier.begin(), since_barrier.end(),
                           [&](const Access& a) { return must_order(a, b); });
      });
      if (wait) since_barrier.clear();
      schedule_.barrier_before.push_back(wait);
      since_barrier.insert(since_barrier.end(), now.begin(), now.end());
    }
  }

  std::vector<Access> accesses(size_t i) const {
    const BoundStep& step = plan_.steps[i];
    const Partition partition = schedule_.redundant[i] ? Partition{} : step.step->partition();
    std::vector<Access> all;
    for (const RowsRef& in : step.operands.inputs) add_access(all, in, false, partition);
    add_access(all, step.operands.output, true, partition);
    add_state(all, step.operands.state_read, false);
    add_state(all, step.operands.state_written, true);
    return all;
  }

  static void add_state(std::vector<Access>& all, int state, bool write) {
    if (state < 0) return;
    const auto s = static_cast<size_t>(state);
    all.push_back({Access::Space::kState, s, s + 1, kNoBuffer, write, {}, {}});
  }

  void add_access(std::vector<Access>& all, const RowsRef& ref, bool write, Partition partition) const {
    if (ref.buffer == kNoBuffer || schedule_.is_private[index(ref)]) return;
    const Buffer& buffer = plan_.buffers[index(ref)];
    const size_t begin = schedule_.offset[index(ref)];
    const Extent origin{0, ref.offset.tokens, ref.offset.outputs, 0};
    if (buffer.scores)
      all.push_back({Access::Space::kScores, begin, begin + 1, ref.buffer, write, partition, origin});
    else
      all.push_back(
          {Access::Space::kArena, begin, begin + buffer.bytes(symbols_), ref.buffer, write, partition, origin});
  }

  /// Two accesses of which one writes, unless every thread only touches rows that it touched before.
  static bool must_order(const Access& a, const Access& b) {
    const bool overlap = a.space == b.space && a.begin < b.end && b.begin < a.end;
    if (!overlap || !(a.write || b.write)) return false;
    const bool rows_follow_tiles =
        a.partition.kind != Partition::Kind::kFree && a.partition.kind != Partition::Kind::kFixed;
    return !(rows_follow_tiles && a.buffer == b.buffer && a.partition == b.partition && a.origin == b.origin);
  }

  static size_t index(const RowsRef& ref) { return static_cast<size_t>(ref.buffer); }

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

void make_schedules(Plan::Impl& plan) {
  const int64_t max_rows = plan.options.max_rows;
  plan.schedules.push_back(Scheduler(plan, std::min(kFewRows, max_rows)).make());
  if (max_rows > kFewRows) plan.schedules.push_back(Scheduler(plan, max_rows).make());
  for (size_t b = 0; b < plan.buffers.size(); ++b) {
    if (!plan.buffers[b].scores || plan.buffers[b].first < 0) continue;
    const size_t slot = plan.schedules.front().offset[b];
    if (slot >= plan.slot_heads.size()) plan.slot_heads.resize(slot + 1, 0);
    plan.slot_heads[slot] = std::max(plan.slot_heads[slot], plan.buffers[b].heads);
  }
}

}  // namespace atb
