// What a kernel costs on a device: roofline over matrix, vector and memory, plus launch, capacity and instruction
// cache. docs/cost_model.md has the formulas.
//
// What is counted, everywhere:
// - operator: a node that reads or writes a tensor. Views are none, and neither is a node whose operands are all
//   weights (its result is a weight, computed once).
// - activation: a tensor that is no weight, no index (integer input) and no part of a state. Reshape and transpose are
//   the tensor that they look at; a slice is a tensor of its own.
// - round trip: one distinct activation read by a kernel, or one written by it and needed outside.
// - state traffic: rows of a KV cache that scores and values read and kv_append writes. These are bytes, never round
//   trips: they move whether a kernel is fused or not.
#pragma once

#include <atb/graph.h>

#include <span>
#include <vector>

#include "cost/profile.h"

namespace atb {

/// Sizes of one run: rows of a call per sequence, tokens before it, sequences. In a graph without the symbol "batch"
/// every activation and state stands for one sequence and is counted `batch` times. Any other symbol counts as tokens.
struct Workload {
  int64_t tokens = 1, past = 0, batch = 1;
  int64_t rows() const noexcept { return tokens * batch; }
  SymbolValues symbols() const;  ///< tokens, past, outputs, batch
};

/// One kernel: one node, or the nodes of one region.
struct KernelCost {
  int64_t operators = 0;
  int64_t round_trips = 0;      ///< activation tensors read plus written
  double activation_bytes = 0;  ///< of those round trips
  double weight_bytes = 0;      ///< counted once
  double state_bytes = 0;
  int64_t weight_passes = 1;  ///< how often the weights stream by: once per tile height, over all cores
  double cube_ops = 0, vector_ops = 0;
  double cube_seconds = 0, vector_seconds = 0, memory_seconds = 0;  ///< each as if alone
  double seconds = 0;                                               ///< predicted, with launch and overlap
};

/// On-chip bytes that the nodes need as one kernel (activation tile, statistics, double-buffered weight tile,
/// accumulators), and what there is. Profiles that are not row-tiled follow the article's whole-tensor rule: every
/// tensor that one operator of the region hands to a norm or a matrix product of it must fit whole.
struct Capacity {
  int64_t used = 0, available = 0;
  int64_t tile_rows = 0;  ///< the planner's tile height; 0 if not even one row fits
  bool fits() const noexcept { return tile_rows > 0; }
};

/// A whole graph as a list of kernels, in execution order of their first nodes.
struct GraphCost {
  std::vector<KernelCost> kernels;
  KernelCost total;  ///< sums; seconds include the profile's `step`
};

class RegionView;

/// Costs of many kernels of one graph. The graph must outlive it and stay as it is.
class CostModel {
 public:
  CostModel(const Graph& graph, const Workload& workload, const DeviceProfile& profile);

  KernelCost kernel(std::span<const NodeId> nodes) const;
  Capacity capacity(std::span<const NodeId> nodes) const;
  /// Each region as one kernel, every other operator alone. The regions must be disjoint.
  GraphCost graph(std::span<const std::vector<NodeId>> regions = {}) const;

  const DeviceProfile& profile() const noexcept { return profile_; }
  const Workload& workload() const noexcept { return workload_; }
  /// An operator as counted above: no view, and not computed from weights alone.
  bool is_operator(NodeId node) const;

 private:
  friend class RegionView;
  void count_work(NodeId id, KernelCost& cost) const;
  int64_t icache_limit() const noexcept;
  bool splits_columns() const noexcept;  ///< too few rows for a tile per core
  int64_t weight_passes(const RegionView& region, const KernelCost& cost) const;
  double memory_seconds(const RegionView& region, const KernelCost& cost) const;
  double overhead_seconds(const RegionView& region, const KernelCost& cost) const;

  const Graph& graph_;
  Workload workload_;
  DeviceProfile profile_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> weight_, output_;  ///< per value
  double batch_factor_;                ///< sequences that a value of the graph stands for
};

/// The same for a single kernel.
KernelCost kernel_cost(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                       const DeviceProfile& profile);
Capacity region_capacity(const Graph& graph, std::span<const NodeId> nodes, const Workload& workload,
                         const DeviceProfile& profile);

}  // namespace atb
