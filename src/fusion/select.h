// Which candidates of a window become regions: disjoint ones with the greatest predicted saving.
#pragma once

#include <vector>

#include "fusion/local_graph.h"

namespace atb {

struct Candidate {
  Mask nodes;
  double saving;  ///< seconds, > 0
};

/// Weighted set packing, exact: branch and bound, seeded by greedy. Indices of the chosen candidates, ascending.
/// Candidates of one saving are taken in their order, so the same input gives the same answer.
std::vector<size_t> select(const std::vector<Candidate>& candidates);

}  // namespace atb
