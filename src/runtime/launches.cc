#include "runtime/launches.h"

#include <algorithm>

#include "base/check.h"

namespace atb {
namespace {

class LaunchOrder {
 public:
  LaunchOrder(const Graph& graph, const std::vector<Region>& regions)
      : graph_(graph), launch_of_(graph.nodes().size(), kNone) {
    for (const Region& region : regions) add({region.nodes, &region});
    for (NodeId id = 0; static_cast<size_t>(id) < launch_of_.size(); ++id)
      if (launch_of_[static_cast<size_t>(id)] == kNone) add({{id}, nullptr});
    states_.assign(launches_.size(), State::kNew);
  }

  std::vector<Launch> run() {
    for (size_t launch : launch_of_) visit(launch);
    return std::move(ordered_);
  }

 private:
  static constexpr size_t kNone = static_cast<size_t>(-1);
  enum class State : uint8_t { kNew, kWaiting, kDone };

  void add(Launch launch) {
    ATB_CHECK(std::is_sorted(launch.nodes.begin(), launch.nodes.end()));
    for (NodeId id : launch.nodes) {
      ATB_CHECK(id >= 0 && static_cast<size_t>(id) < launch_of_.size());
      size_t& owner = launch_of_[static_cast<size_t>(id)];
      ATB_CHECK(owner == kNone);
      owner = launches_.size();
    }
    launches_.push_back(std::move(launch));
  }

  void visit(size_t launch) {
    if (states_[launch] == State::kDone) return;
    ATB_CHECK(states_[launch] == State::kNew);
    states_[launch] = State::kWaiting;
    for (NodeId id : launches_[launch].nodes) {
      for (ValueId input : graph_.node(id).inputs) {
        const NodeId producer = input == kNoValue ? kNoNode : graph_.value(input).producer;
        if (producer == kNoNode) continue;
        const size_t before = launch_of_[static_cast<size_t>(producer)];
        if (before != launch) visit(before);
      }
    }
    states_[launch] = State::kDone;
    ordered_.push_back(launches_[launch]);
  }

  const Graph& graph_;
  std::vector<size_t> launch_of_;  // per node
  std::vector<Launch> launches_, ordered_;
  std::vector<State> states_;
};

}  // namespace

std::vector<Launch> order_launches(const Graph& graph, const std::vector<Region>& regions) {
  return LaunchOrder(graph, regions).run();
}

}  // namespace atb
