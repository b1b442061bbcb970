// The parts of a graph, for the parser and for passes that rewrite in place. Whoever changes them calls verify() after.
#pragma once

#include <atb/graph.h>

namespace atb {

struct GraphAccess {
  static std::vector<Value>& values(Graph& g) { return g.values_; }
  static std::vector<Node>& nodes(Graph& g) { return g.nodes_; }
  static std::vector<std::pair<std::string, ValueId>>& outputs(Graph& g) { return g.outputs_; }
  /// Gives a value another name. Error{kModel} if it is taken or malformed.
  static void rename(Graph& g, ValueId id, std::string name);
};

}  // namespace atb
