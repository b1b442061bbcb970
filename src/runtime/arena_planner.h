// Offsets for buffers that live for a while: best fit into the gaps, lowest address among equals.
#pragma once

#include <cstddef>
#include <map>

namespace atb {

class ArenaPlanner {
 public:
  /// An offset, a multiple of 64, for a buffer of that size (0 gives a buffer of its own, too).
  size_t allocate(size_t bytes);
  void release(size_t offset);
  size_t peak() const noexcept { return peak_; }  ///< bytes of the arena

 private:
  std::map<size_t, size_t> gaps_;  // offset -> bytes, not adjacent
  std::map<size_t, size_t> used_;
  size_t peak_ = 0;
};

}  // namespace atb
