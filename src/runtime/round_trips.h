// How many activation tensors a kernel moves.
#pragma once

#include <atb/graph.h>

#include <vector>

namespace atb {

/// Counts for kernels of one graph, which must outlive it.
class RoundTrips {
 public:
  explicit RoundTrips(const Graph& graph);

  /// Activation tensors that the nodes, as one kernel, read, plus those that they write for others: each once, reshaped
  /// and transposed ones as the tensor behind, without weights, indices and the contents of states.
  int of(const std::vector<NodeId>& nodes) const;

 private:
  using Inside = std::vector<NodeId>;  // ascending
  bool is_weight(ValueId id) const { return weights_[static_cast<size_t>(id)]; }
  bool is_activation(ValueId id) const;
  bool produces(const Inside& nodes, ValueId id) const;
  bool escapes(const Inside& nodes, ValueId id) const;
  /// The tensor behind views that `looks_through` accepts.
  template <class Accept>
  ValueId behind(ValueId id, Accept looks_through) const;
  ValueId base(ValueId id) const;

  const Graph& graph_;
  std::vector<std::vector<NodeId>> users_;
  std::vector<bool> weights_, outputs_;  // per value
};

}  // namespace atb
