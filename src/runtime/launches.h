// A graph's nodes as launches: each region is one, every other node one of its own.
#pragma once

#include <atb/fusion.h>

#include <vector>

namespace atb {

struct Launch {
  std::vector<NodeId> nodes;       ///< in execution order
  const Region* region = nullptr;  ///< nullptr: a single node
};

/// All nodes, ordered so that a launch follows those whose results it reads; without regions the graph's own order. The
/// regions must be disjoint, name nodes of the graph in ascending order, and not wait for each other in a circle.
std::vector<Launch> order_launches(const Graph& graph, const std::vector<Region>& regions);

}  // namespace atb
