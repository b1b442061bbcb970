#include "runtime/kv_cache.h"

#include <atb/error.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>

namespace atb {
namespace {

std::vector<StateSpec> two_states() {
  return {{"layers.0.k", {DType::kF16, 2, 8}}, {"layers.0.v", {DType::kF32, 3, 4}}};
}

TEST(KvCache, StartsEmpty) {
  KvCache cache(two_states(), 100);
  EXPECT_EQ(cache.length(), 0);
  EXPECT_EQ(cache.capacity(), 100);
  EXPECT_EQ(cache.bytes(), 0u);
}

TEST(KvCache, PagesDoNotMoveOrOverlap) {
  KvCache cache(two_states(), 5000);
  std::vector<std::byte*> first;
  for (int step = 0; step < 50; ++step) {
    cache.reserve(100);
    first.push_back(cache.pages(0).pages[step * 100 / kPageTokens]);
    cache.advance(100);
  }
  for (int step = 0; step < 50; ++step)
    EXPECT_EQ(cache.pages(0).pages[step * 100 / kPageTokens], first[static_cast<size_t>(step)]);
  std::set<std::pair<std::byte*, std::byte*>> ranges;
  for (int s = 0; s < 2; ++s)
    for (int p = 0; p < (5000 + kPageTokens - 1) / kPageTokens; ++p) {
      std::byte* page = cache.pages(s).pages[p];
      const size_t bytes = two_states()[static_cast<size_t>(s)].layout.page_bytes();
      std::memset(page, p, bytes);
      ranges.insert({page, page + bytes});
    }
  std::byte* end = nullptr;
  for (const auto& [begin, stop] : ranges) {
    EXPECT_GE(begin, end);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(begin) % 64, 0u);
    end = stop;
  }
}

TEST(KvCache, MemoryFollowsTheLength) {
  KvCache cache(two_states(), int64_t{1} << 40);
  cache.reserve(1);
  const size_t per_page = 2 * 8 * 32 * 2 + 3 * 4 * 32 * 4;
  EXPECT_LE(cache.bytes(), 4 * per_page);
  cache.advance(1);
  cache.reserve(10000);
  EXPECT_GE(cache.bytes(), 10001 / 32 * per_page);
  EXPECT_LE(cache.bytes(), (10001 / 32 + 1) * 3 / 2 * per_page);
}

TEST(KvCache, RefusesMoreThanItsCapacity) {
  KvCache cache(two_states(), 64);
  cache.reserve(60);
  cache.advance(60);
  try {
    cache.reserve(5);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kResources);
    EXPECT_NE(e.message().find("60 + 5"), std::string::npos) << e.what();
    EXPECT_NE(e.message().find("64"), std::string::npos) << e.what();
  }
  EXPECT_EQ(cache.length(), 60);
  cache.reserve(4);
}

TEST(KvCache, TruncateForgetsTheTail) {
  KvCache cache(two_states(), 64);
  cache.reserve(40);
  cache.advance(40);
  cache.truncate(33);
  EXPECT_EQ(cache.length(), 33);
  EXPECT_THROW(cache.truncate(34), Error);
  EXPECT_THROW(cache.truncate(-1), Error);
  cache.reserve(31);
}

TEST(KvCache, RejectsAnEmptyContext) { EXPECT_THROW(KvCache(two_states(), 0), Error); }

}  // namespace
}  // namespace atb
