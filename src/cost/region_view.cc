#include "cost/region_view.h"

#include <algorithm>

#include "base/check.h"
#include "cost/op_work.h"

namespace atb {
namespace {

bool is_view(Op op) { return op_info(op).kind == OpKind::kView; }

/// A view of the same elements.
bool keeps_tensor(Op op) { return op == Op::kReshape || op == Op::kTranspose; }

}  // namespace

RegionView::RegionView(const CostModel& model, std::span<const NodeId> nodes)
    : model_(model), nodes_(nodes.begin(), nodes.end()), symbols_(model.workload_.symbols()) {
  std::sort(nodes_.begin(), nodes_.end());
  nodes_.erase(std::unique(nodes_.begin(), nodes_.end()), nodes_.end());
  ATB_CHECK(nodes_.empty() ||
            (nodes_.front() >= 0 && static_cast<size_t>(nodes_.back()) < model.graph_.nodes().size()));
}

bool RegionView::contains(NodeId id) const { return std::binary_search(nodes_.begin(), nodes_.end(), id); }

ValueId RegionView::base(ValueId id) const {
  while (value(id).producer != kNoNode && keeps_tensor(node(value(id).producer).op))
    id = node(value(id).producer).inputs[0];
  return id;
}

ValueId RegionView::root(ValueId id) const {
  while (value(id).producer != kNoNode && is_view(node(value(id).producer).op)) id = node(value(id).producer).inputs[0];
  return id;
}

bool RegionView::is_state(ValueId id) const {
  id = root(id);
  return value(id).kind == ValueKind::kState ||
         (value(id).producer != kNoNode && node(value(id).producer).op == Op::kKvAppend);
}

bool RegionView::is_activation(ValueId id) const {
  const Value& v = value(id);
  if (v.kind == ValueKind::kInput) return dtype_info(v.dtype).floating || v.dtype == DType::kBool;
  return v.kind == ValueKind::kResult && !is_weight(id) && !is_state(id);
}

bool RegionView::escapes(ValueId id) const {
  if (model_.output_[static_cast<size_t>(id)]) return true;
  for (NodeId user : users(id)) {
    if (is_view(node(user).op) ? escapes(node(user).output) : !contains(user)) return true;
  }
  return false;
}

double RegionView::elements(ValueId id) const {
  const double factor = is_weight(id) ? 1 : model_.batch_factor_;
  return factor * element_count(value(id), symbols_);
}

double RegionView::bytes(ValueId id) const {
  const DTypeInfo& type = dtype_info(value(id).dtype);
  return elements(id) * type.block_bytes / type.block_size;
}

double RegionView::row_bytes(ValueId id) const {
  const Value& v = value(id);
  if (!v.shape.empty() && !v.shape.back().is_constant())
    return dim_size(v.shape.back(), symbols_) * dtype_info(v.dtype).block_bytes;
  return bytes(id) / static_cast<double>(model_.workload_.rows());
}

}  // namespace atb
