// The choice of regions for a whole graph: window by window, each structure solved once.
#pragma once

#include <atb/fusion.h>

#include <map>
#include <vector>

#include "cost/cost_model.h"
#include "fusion/local_graph.h"

namespace atb {

/// What is chosen for one window; nodes are relative to it.
struct Choice {
  struct Chosen {
    Mask nodes = 0;
    double saving = 0, bytes_saved = 0;
    Capacity capacity;
  };
  /// A candidate that lost to a chosen one it overlaps.
  struct Loser {
    Mask nodes, winner;
    double saving, winner_saving;
  };
  std::vector<Chosen> regions;
  std::vector<Loser> losers;
  std::vector<Mask> too_large;  ///< whole blocks that do not fit on chip, nor does any other form of them
};

/// One region of the plan.
struct Planned {
  std::vector<NodeId> nodes;
  double saving = 0, bytes_saved = 0;
  Capacity capacity;
};

class Planner {
 public:
  Planner(const Facts& facts, const Links& links, const CostModel& cost) : facts_(facts), links_(links), cost_(cost) {}

  void run();
  const std::vector<Planned>& regions() const noexcept { return regions_; }
  const std::vector<Conflict>& conflicts() const noexcept { return conflicts_; }
  const std::vector<std::vector<NodeId>>& too_large() const noexcept { return too_large_; }
  size_t searches() const noexcept { return memo_.size(); }  ///< windows that were really searched

 private:
  const Choice& choose(const LocalGraph& window);
  Choice search(const LocalGraph& window) const;
  Choice::Chosen rate(const LocalGraph& window, Mask nodes) const;
  void take(const LocalGraph& window, const Choice& choice);
  void join_windows();
  void join(const Link& link);
  Choice::Chosen rate_joined(const LocalGraph& window, Mask seed);
  std::vector<NodeId> region_or_alone(NodeId node) const;
  double saving_of(NodeId node) const;

  const Facts& facts_;
  const Links& links_;
  const CostModel& cost_;
  std::map<std::vector<int64_t>, Choice> memo_;
  std::map<std::vector<int64_t>, Choice::Chosen> joined_;  ///< by structure and nodes
  std::vector<Planned> regions_;
  std::vector<Conflict> conflicts_;
  std::vector<std::vector<NodeId>> too_large_;
  std::vector<NodeId> window_of_;  ///< per node, where its window begins
  std::vector<int> region_of_;     ///< per node, -1: alone
};

}  // namespace atb
