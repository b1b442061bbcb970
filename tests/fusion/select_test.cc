#include "fusion/select.h"

#include <gtest/gtest.h>

#include <random>

namespace atb {
namespace {

double saving_of(const std::vector<Candidate>& all, const std::vector<size_t>& chosen) {
  double sum = 0;
  for (const size_t i : chosen) sum += all[i].saving;
  return sum;
}

/// Tries every subset.
double best_of_all(const std::vector<Candidate>& all) {
  double best = 0;
  for (uint32_t subset = 0; subset < (1u << all.size()); ++subset) {
    Mask used = 0;
    double sum = 0;
    bool disjoint = true;
    for (size_t i = 0; i < all.size() && disjoint; ++i) {
      if ((subset >> i & 1) == 0) continue;
      disjoint = (used & all[i].nodes) == 0;
      used |= all[i].nodes;
      sum += all[i].saving;
    }
    if (disjoint) best = std::max(best, sum);
  }
  return best;
}

TEST(Select, TakesTwoSmallOnesOverTheOneThatGreedyTakes) {
  const std::vector<Candidate> all = {{0b0011, 2}, {0b0110, 3}, {0b1100, 2}};
  EXPECT_EQ(select(all), (std::vector<size_t>{0, 2}));
}

TEST(Select, TakesNothingFromNothing) { EXPECT_TRUE(select({}).empty()); }

TEST(Select, IsAsGoodAsTryingAllSubsets) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<Candidate> all;
    for (int i = 0; i < 12; ++i) {
      const int first = static_cast<int>(random() % 60), length = 1 + static_cast<int>(random() % 5);
      Mask nodes = 0;
      for (int n = first; n < std::min(first + length, kMaxWindow); ++n)
        if (random() % 4 != 0) nodes |= bit(n % 12);
      if (nodes != 0) all.push_back({nodes, 1.0 + static_cast<double>(random() % 100)});
    }
    const std::vector<size_t> chosen = select(all);
    Mask used = 0;
    for (const size_t i : chosen) {
      EXPECT_EQ(used & all[i].nodes, 0u);
      used |= all[i].nodes;
    }
    EXPECT_DOUBLE_EQ(saving_of(all, chosen), best_of_all(all));
  }
}

}  // namespace
}  // namespace atb
