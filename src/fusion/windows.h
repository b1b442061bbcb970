// Cuts a graph into layer-sized windows of nodes in execution order.
#pragma once

#include <vector>

#include "fusion/facts.h"

namespace atb {

struct Window {
  NodeId begin, end;
};

/// A window is a layer by the paths of its nodes ("layers.3"). Longer runs without such paths are cut where only one
/// activation is alive, at the latest after 64 nodes.
std::vector<Window> cut_windows(const Facts& facts);

}  // namespace atb
