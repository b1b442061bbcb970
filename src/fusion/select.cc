#include "fusion/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <unordered_map>

namespace atb {
namespace {

class Search {
 public:
  explicit Search(const std::vector<Candidate>& candidates) : candidates_(candidates) {
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Candidate& c = candidates[i];
      const double share = c.saving / std::popcount(c.nodes);
      starting_[static_cast<size_t>(std::countr_zero(c.nodes))].push_back(i);
      for (const int node : bits(c.nodes))
        shares_[static_cast<size_t>(node)] = std::max(share, shares_[static_cast<size_t>(node)]);
    }
    for (auto& list : starting_)
      std::stable_sort(list.begin(), list.end(), [&](size_t a, size_t b) { return saving(a) > saving(b); });
  }

  std::vector<size_t> run() {
    seed_with_greedy();
    branch(0, 0, 0);
    std::sort(best_.begin(), best_.end());
    return best_;
  }

 private:
  double saving(size_t i) const { return candidates_[i].saving; }

  void seed_with_greedy() {
    std::vector<size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return saving(a) > saving(b); });
    Mask used = 0;
    for (const size_t i : order) {
      if ((candidates_[i].nodes & used) != 0) continue;
      used |= candidates_[i].nodes;
      best_.push_back(i);
      best_saving_ += saving(i);
    }
  }

  /// No choice among free nodes saves more than each node's best share of a candidate.
  double bound(int from, Mask used) const {
    double sum = 0;
    for (int node = from; node < kMaxWindow; ++node)
      if ((used & bit(node)) == 0) sum += shares_[static_cast<size_t>(node)];
    return sum;
  }

  /// Whether the same nodes were free at the same place before, with as much saved: what is left is the same problem.
  bool seen_better(int node, Mask used, double saved) {
    const auto [entry, fresh] = seen_[static_cast<size_t>(node)].try_emplace(used >> node, saved);
    if (fresh) return false;
    if (entry->second >= saved) return true;
    entry->second = saved;
    return false;
  }

  /// Decides the candidates that start at `node`, then those after it.
  void branch(int node, Mask used, double saved) {
    if (saved > best_saving_) {
      best_saving_ = saved;
      best_ = chosen_;
    }
    if (node >= kMaxWindow || saved + bound(node, used) <= best_saving_ || seen_better(node, used, saved)) return;
    if ((used & bit(node)) == 0) {
      for (const size_t i : starting_[static_cast<size_t>(node)]) {
        if ((candidates_[i].nodes & used) != 0) continue;
        chosen_.push_back(i);
        branch(node + 1, used | candidates_[i].nodes, saved + saving(i));
        chosen_.pop_back();
      }
    }
    branch(node + 1, used | bit(node), saved);
  }

  const std::vector<Candidate>& candidates_;
  std::array<std::vector<size_t>, kMaxWindow> starting_;  ///< by the candidate's first node, best first
  std::array<double, kMaxWindow> shares_{};
  std::array<std::unordered_map<Mask, double>, kMaxWindow> seen_;
  std::vector<size_t> best_, chosen_;
  double best_saving_ = 0;
};

}  // namespace

std::vector<size_t> select(const std::vector<Candidate>& candidates) { return Search(candidates).run(); }

}  // namespace atb
