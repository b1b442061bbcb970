// The keys and values of one sequence: for every state of the graph a list of pages, all from one allocation per step
// of growth, so that appending never moves what is there.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/attention/kv_page.h"

namespace atb {

/// One state of the graph ("layers.3.k") and how it is stored.
struct StateSpec {
  std::string name;
  KvLayout layout;
};

class KvCache {
 public:
  /// `capacity` in tokens is the most that reserve() may ask for; >= 1, else Error{kUsage}.
  KvCache(std::vector<StateSpec> states, int64_t capacity);
  ~KvCache();
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;

  const std::vector<StateSpec>& states() const noexcept;
  int64_t length() const noexcept;
  int64_t capacity() const noexcept;
  size_t bytes() const noexcept;  ///< allocated now
  /// Makes room for `tokens` more. Error{kResources} beyond the capacity, with both numbers.
  void reserve(int64_t tokens);
  void advance(int64_t tokens) noexcept;  ///< after a step has written them; room must have been reserved
  /// Forgets the tokens from `length` on; the memory stays. Error{kUsage} if there are fewer.
  void truncate(int64_t length);
  KvPages pages(int state) const noexcept;  ///< valid until the next reserve()

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atb
