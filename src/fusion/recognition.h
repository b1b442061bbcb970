// What stage 1 found: the graph in semantic operators, where each came from, and what it left alone and why.
#pragma once

#include <atb/fusion.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace atb {

struct Recognition {
  Graph graph;
  std::vector<std::set<NodeId>> sources;  ///< per node of `graph`, the nodes of the original that it stands for
  std::vector<NearMiss> near_misses;      ///< sites that nearly had the form of a semantic operator
  std::map<std::string, int> counts;      ///< how often each recogniser fired
};
Recognition recognise_explained(const Graph& graph);

}  // namespace atb
