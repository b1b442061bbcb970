// From links to candidates: the connected sets of links that the grammar accepts.
#pragma once

#include <vector>

#include "fusion/local_graph.h"

namespace atb {

/// All candidate regions of a window with at least two operators. At most `limit` sets are looked at; a real layer has
/// some hundreds.
std::vector<Mask> compose(const LocalGraph& graph, size_t limit = 20000);

/// The least set with all of `seed` that may be a region, as far as its interior goes: nodes between members, readers
/// of values that must not leave, further products of a group. Empty if there is none.
Mask close_region(const LocalGraph& graph, Mask seed);

/// Whether a closed set is a region: every interior edge is joined, and the grammar accepts it.
bool is_region(const LocalGraph& graph, Mask region);

}  // namespace atb
