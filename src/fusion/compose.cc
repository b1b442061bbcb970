#include "fusion/compose.h"

#include <algorithm>
#include <bit>
#include <unordered_set>

#include "fusion/grammar.h"

namespace atb {
namespace {

Mask between(const LocalGraph& graph, Mask set) {
  Mask above = 0, below = 0;
  for (const int i : bits(set)) {
    above |= graph.at(i).ancestors;
    below |= graph.at(i).descendants;
  }
  return above & below;
}

/// A value that is read inside stays inside, unless its rule yields it.
bool leaks(const LocalGraph& graph, Mask set, int i) {
  const LocalNode& node = graph.at(i);
  return (node.users & set) != 0 && !node.yields;
}

/// Edges of the set into node i that no link joins. `pending` are those that an absent link may still open.
struct Loose {
  Mask hard = 0, pending = 0;
};
Loose loose_edges(const LocalGraph& graph, Mask set, int i) {
  const LocalNode& node = graph.at(i);
  Loose loose{.hard = node.inputs & set & ~node.joined};
  for (const OpenEdge& open : node.open) {
    const Mask edge = bit(open.producer) & node.inputs & set & ~node.joined;
    loose.hard &= ~edge;
    if ((open.link & ~set) != 0) loose.pending |= edge;
  }
  return loose;
}

/// No superset of such a set is a region.
bool is_hopeless(const LocalGraph& graph, Mask set) {
  for (const int i : bits(set)) {
    const LocalNode& node = graph.at(i);
    if ((node.strangers & set) != 0 || loose_edges(graph, set, i).hard != 0) return true;
    if (node.outside && leaks(graph, set, i)) return true;
  }
  return false;
}

int operators_in(const LocalGraph& graph, Mask set) {
  int count = 0;
  for (const int i : bits(set)) count += is_view(graph.node(i)) ? 0 : 1;
  return count;
}

}  // namespace

Mask close_region(const LocalGraph& graph, Mask seed) {
  Mask set = seed;
  for (Mask before = 0; before != set;) {
    before = set;
    set |= between(graph, set);
    for (const int i : bits(set)) {
      if (leaks(graph, set, i)) set |= graph.at(i).users;
      const Mask group = graph.at(i).siblings;
      if (std::popcount(group & set) > 1) set |= group;
    }
  }
  return is_hopeless(graph, set) ? 0 : set;
}

bool is_region(const LocalGraph& graph, Mask region) {
  for (const int i : bits(region)) {
    const Loose loose = loose_edges(graph, region, i);
    if ((loose.hard | loose.pending) != 0) return false;
  }
  return grammar_accepts(graph, region);
}

std::vector<Mask> compose(const LocalGraph& graph, size_t limit) {
  std::vector<Mask> closed;
  std::unordered_set<Mask> seen;
  const auto visit = [&](Mask seed) {
    const Mask set = close_region(graph, seed);
    if (set == 0 || closed.size() >= limit || !grammar_accepts(graph, set) || !seen.insert(set).second) return;
    closed.push_back(set);
  };
  for (const LocalLink& link : graph.links()) visit(link.nodes);
  for (size_t next = 0; next < closed.size(); ++next) {
    const Mask set = closed[next];
    for (const LocalLink& link : graph.links())
      if ((link.nodes & set) != 0 && (link.nodes & ~set) != 0) visit(set | link.nodes);
  }
  std::erase_if(closed, [&](Mask set) { return operators_in(graph, set) < 2 || !is_region(graph, set); });
  std::sort(closed.begin(), closed.end());
  return closed;
}

}  // namespace atb
