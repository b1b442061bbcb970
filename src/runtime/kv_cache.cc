#include "runtime/kv_cache.h"

#include <atb/error.h>

#include <algorithm>

#include "base/check.h"
#include "runtime/memory_block.h"

namespace atb {
namespace {

constexpr int64_t kFirstPages = 4;

int64_t pages_for(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }

}  // namespace

struct KvCache::Impl {
  std::vector<StateSpec> states;
  int64_t capacity, length = 0, page_count = 0;
  std::vector<std::vector<std::byte*>> pages;  // per state
  std::vector<MemoryBlock> blocks;
  size_t bytes = 0;

  size_t bytes_per_page() const {
    size_t sum = 0;
    for (const auto& state : states) sum += state.layout.page_bytes();
    return sum;
  }

  /// Adds pages to every state; the pages of one state lie next to each other.
  void grow(int64_t more) {
    MemoryBlock block(bytes_per_page() * static_cast<size_t>(more), LargePages::kNo, "KV cache");
    for (auto& list : pages) list.reserve(static_cast<size_t>(page_count + more));
    blocks.reserve(blocks.size() + 1);
    std::byte* next = block.data();
    for (size_t s = 0; s < states.size(); ++s)
      for (int64_t i = 0; i < more; ++i, next += states[s].layout.page_bytes()) pages[s].push_back(next);
    bytes += block.size();
    blocks.push_back(std::move(block));
    page_count += more;
  }
};

KvCache::KvCache(std::vector<StateSpec> states, int64_t capacity) {
  if (capacity < 1)
    throw Error(ErrorCode::kUsage, "a context of " + std::to_string(capacity) + " tokens", "context", "use at least 1");
  impl_ = std::make_unique<Impl>();
  impl_->pages.resize(states.size());
  impl_->states = std::move(states);
  impl_->capacity = capacity;
}

KvCache::~KvCache() = default;
KvCache::KvCache(KvCache&&) noexcept = default;
KvCache& KvCache::operator=(KvCache&&) noexcept = default;

const std::vector<StateSpec>& KvCache::states() const noexcept { return impl_->states; }
int64_t KvCache::length() const noexcept { return impl_->length; }
int64_t KvCache::capacity() const noexcept { return impl_->capacity; }
size_t KvCache::bytes() const noexcept { return impl_->bytes; }

void KvCache::reserve(int64_t tokens) {
  auto& k = *impl_;
  ATB_CHECK(tokens >= 0);
  if (tokens > k.capacity - k.length)
    throw Error(ErrorCode::kResources,
                "the sequence would have " + std::to_string(k.length) + " + " + std::to_string(tokens) +
                    " tokens, the context holds " + std::to_string(k.capacity),
                "KV cache", "use a shorter prompt or a larger context");
  const int64_t needed = pages_for(k.length + tokens);
  if (needed <= k.page_count) return;
  // Half as much again each time: the number of allocations grows with the logarithm of the length.
  const int64_t wanted = std::max({needed, kFirstPages, k.page_count + k.page_count / 2});
  k.grow(std::min(wanted, pages_for(k.capacity)) - k.page_count);
}

void KvCache::advance(int64_t tokens) noexcept { impl_->length += tokens; }

void KvCache::truncate(int64_t length) {
  if (length < 0 || length > impl_->length)
    throw Error(ErrorCode::kUsage,
                "cannot cut a sequence of " + std::to_string(impl_->length) + " tokens to " + std::to_string(length),
                "KV cache", "use a length between 0 and the present one");
  impl_->length = length;
}

KvPages KvCache::pages(int state) const noexcept { return {impl_->pages[static_cast<size_t>(state)].data()}; }

}  // namespace atb
