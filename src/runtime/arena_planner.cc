#include "runtime/arena_planner.h"

#include <iterator>

#include "base/check.h"

namespace atb {
namespace {

constexpr size_t kCacheLine = 64, kPage = 4096;

/// Whole cache lines. Buffers of whole pages would all start at the same place of the first-level cache and evict each
/// other, so these get one line more.
size_t padded(size_t bytes) {
  const size_t lines = (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
  return lines == 0 || lines % kPage == 0 ? lines + kCacheLine : lines;
}

}  // namespace

size_t ArenaPlanner::allocate(size_t bytes) {
  bytes = padded(bytes);
  auto best = gaps_.end();
  for (auto gap = gaps_.begin(); gap != gaps_.end(); ++gap)
    if (gap->second >= bytes && (best == gaps_.end() || gap->second < best->second)) best = gap;
  size_t offset = peak_;
  if (best != gaps_.end()) {
    offset = best->first;
    if (best->second > bytes) gaps_[offset + bytes] = best->second - bytes;
    gaps_.erase(best);
  } else {
    // A gap at the end of the arena is extended.
    if (!gaps_.empty() && gaps_.rbegin()->first + gaps_.rbegin()->second == peak_) {
      offset = gaps_.rbegin()->first;
      gaps_.erase(offset);
    }
    peak_ = offset + bytes;
  }
  used_[offset] = bytes;
  return offset;
}

void ArenaPlanner::release(size_t offset) {
  const auto found = used_.find(offset);
  ATB_CHECK(found != used_.end());
  auto gap = gaps_.emplace(offset, found->second).first;
  used_.erase(found);
  if (const auto next = std::next(gap); next != gaps_.end() && gap->first + gap->second == next->first) {
    gap->second += next->second;
    gaps_.erase(next);
  }
  if (gap == gaps_.begin()) return;
  if (const auto before = std::prev(gap); before->first + before->second == gap->first) {
    before->second += gap->second;
    gaps_.erase(gap);
  }
}

}  // namespace atb
