// What a kernel costs on a device: roofline over matrix, vector and memory, plus launch, capacity and instruction
// cache.
#pragma once

#include <atb/graph.h>

#include <span>
#include <vector>

#include "cost/profile.h"

namespace atb {

/// Sizes of one run: rows of a call, tokens before it, sequences.
struct Workload {
  int64_t tokens = 1, past = 0, batch = 1;
  SymbolValues symbols() const;  ///< tokens, past, outputs, batch
};

/// One kernel: one node, or the nodes of one region.
struct KernelCost {
  int64_t operators = 0;        ///< views not counted
  int64_t round_trips = 0;      ///< activation tensors read plus written
  double activation_bytes = 0;  ///< of those round trips
  double weight_bytes = 0;
  double cube_ops = 0, vector_ops = 0;
  double seconds = 0;  ///< predicted
};
KernelCost kernel_cost(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                       const DeviceProfile& profile);

/// On-chip bytes that the nodes need as one kernel (activation tile, statistics, double-buffered weight tile,
/// accumulators), and what there is. Profiles that are not row-tiled follow the article's whole-tensor rule.
struct Capacity {
  int64_t used = 0, available = 0;
  int64_t tile_rows = 0;  ///< the planner's tile height; 0 if not even one row fits
  bool fits() const noexcept { return tile_rows > 0; }
};
Capacity region_capacity(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                         const DeviceProfile& profile);

/// A whole graph as a list of kernels.
struct GraphCost {
  std::vector<KernelCost> kernels;
  KernelCost total;
};

}  // namespace atb
