// The kernels of a graph, unfused and fused, and what flows between them: what the pictures show.
#pragma once

#include <atb/explain.h>

#include <vector>

namespace atb {

struct Kernel {
  const ExplainedRegion* region = nullptr;  ///< null: one operator alone
  std::vector<NodeId> operators;
  std::vector<size_t> sources;  ///< kernels whose results it reads, by index; ascending, before its own
};

/// In topological order. `layer` null: all of them; else only the kernels that begin in it.
std::vector<Kernel> unfused_kernels(const Explanation& explanation, const ExplainedLayer* layer = nullptr);
std::vector<Kernel> fused_kernels(const Explanation& explanation, const ExplainedLayer* layer = nullptr);

/// Per node, the region that it is in, or null.
std::vector<const ExplainedRegion*> regions_by_node(const Explanation& explanation);

}  // namespace atb
