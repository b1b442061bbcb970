// Which sets of operators are a region:
//
//   prologue (add, norm, quantise) -> products of one input -> epilogue
//     [-> products of one input -> epilogue]                    the FFN in one region
//     [-> attention -> products of one input -> epilogue]       attention in one region
//   or a chain of pointwise and row-wise operators alone, embeddings at its head
#pragma once

#include "fusion/local_graph.h"

namespace atb {

bool grammar_accepts(const LocalGraph& graph, Mask region);

}  // namespace atb
