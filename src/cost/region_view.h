// The nodes of one kernel as the cost model looks at them: what comes in, what goes out, what stays.
#pragma once

#include <span>
#include <vector>

#include "cost/cost_model.h"

namespace atb {

class RegionView {
 public:
  RegionView(const CostModel& model, std::span<const NodeId> nodes);

  const std::vector<NodeId>& nodes() const noexcept { return nodes_; }  ///< in execution order, each once
  const Node& node(NodeId id) const { return model_.graph_.node(id); }
  const Value& value(ValueId id) const { return model_.graph_.value(id); }
  OpKind kind(NodeId id) const { return op_info(node(id).op).kind; }
  bool contains(NodeId id) const;
  bool produces(ValueId id) const { return value(id).producer != kNoNode && contains(value(id).producer); }
  bool is_weight(ValueId id) const { return model_.weight_[static_cast<size_t>(id)]; }
  /// The cache of a state, before or after an append, also through a view.
  bool is_state(ValueId id) const;
  /// A tensor that round trips count.
  bool is_activation(ValueId id) const;
  /// Is it read outside of the region, or an output of the graph? Views of it count as itself.
  bool escapes(ValueId id) const;
  /// The tensor behind reshapes and transposes.
  ValueId base(ValueId id) const;
  const std::vector<NodeId>& users(ValueId id) const { return model_.users_[static_cast<size_t>(id)]; }

  /// The tensor behind any view: what must be there for this value to be.
  ValueId root(ValueId id) const;

  /// Under the workload, for all sequences.
  double elements(ValueId id) const;
  double bytes(ValueId id) const;
  /// Of one row of the call, while the region works on a tile of rows. Along an axis of keys (a last size that is no
  /// number) one head's row counts: heads take turns.
  double row_bytes(ValueId id) const;
  const CostModel& model() const noexcept { return model_; }

 private:
  const CostModel& model_;
  std::vector<NodeId> nodes_;
  SymbolValues symbols_;
};

}  // namespace atb
