#include "fusion/windows.h"

#include <algorithm>

#include "fusion/local_graph.h"

namespace atb {
namespace {

constexpr NodeId kLeastWindow = 16;  // about half a layer: smaller windows would hide its regions

/// Per node, how many results of earlier nodes of the graph are read from it on.
std::vector<int> alive_before(const Facts& facts) {
  const size_t count = facts.graph.nodes().size();
  std::vector<int> change(count + 1);
  for (size_t i = 0; i < count; ++i) {
    const ValueId result = facts.graph.nodes()[i].output;
    const std::vector<NodeId>& users = facts.users_of(result);
    if (users.empty() || facts.is_weight(result)) continue;
    ++change[i + 1];
    --change[static_cast<size_t>(*std::max_element(users.begin(), users.end())) + 1];
  }
  for (size_t i = 1; i <= count; ++i) change[i] += change[i - 1];
  return change;
}

/// The end of the window that begins at `begin` in a run up to `end`.
NodeId next_cut(const std::vector<int>& alive, NodeId begin, NodeId end) {
  if (end - begin <= kMaxWindow) return end;
  for (NodeId at = begin + kLeastWindow; at <= begin + kMaxWindow; ++at)
    if (alive[static_cast<size_t>(at)] <= 1) return at;
  return begin + kMaxWindow;
}

}  // namespace

std::vector<Window> cut_windows(const Facts& facts) {
  const std::vector<int> alive = alive_before(facts);
  const auto count = static_cast<NodeId>(facts.graph.nodes().size());
  std::vector<Window> windows;
  for (NodeId begin = 0; begin < count;) {
    const std::string_view layer = layer_of(facts.node(begin).path);
    NodeId end = begin + 1;
    while (end < count && (layer_of(facts.node(end).path) == layer || facts.node(end).path.empty())) ++end;
    while (begin < end) {
      const NodeId cut = next_cut(alive, begin, end);
      windows.push_back({begin, cut});
      begin = cut;
    }
  }
  return windows;
}

}  // namespace atb
