#include "fusion/report/dims.h"

#include <algorithm>

namespace atb {
namespace {

bool is_one(const Dim& dim) { return dim == Dim(1); }

}  // namespace

RegionDims::RegionDims(const Graph& graph, const std::vector<NodeId>& nodes, SymbolValues bounds)
    : graph_(graph), bounds_(std::move(bounds)) {
  for (const NodeId id : nodes) read(id);
  name_dims(nodes);
}

bool RegionDims::has(Axis axis) const {
  return -axis.second <= static_cast<int>(graph_.value(axis.first).shape.size());
}

const Dim& RegionDims::size(Axis axis) const {
  const Shape& shape = graph_.value(axis.first).shape;
  return shape[shape.size() + static_cast<size_t>(static_cast<int64_t>(axis.second))];
}

RegionDims::Axis RegionDims::root(Axis axis) const {
  const auto [entry, fresh] = parent_.try_emplace(axis, axis);
  if (entry->second == axis) return axis;
  const Axis top = root(entry->second);
  return parent_[axis] = top;
}

/// An axis of size 1 is broadcast and runs with nothing.
void RegionDims::unify(Axis a, Axis b) {
  if (!has(a) || !has(b) || size(a) != size(b) || is_one(size(a))) return;
  parent_[root(b)] = root(a);
}

void RegionDims::role(NodeId node, Axis axis, AxisRole role) {
  if (has(axis) && !is_one(size(axis))) roles_[node].emplace_back(axis, role);
}

void RegionDims::read(NodeId id) {
  const Node& node = graph_.node(id);
  switch (node.op) {
    case Op::kMatMul:
      return read_product(id);
    case Op::kScores:
      return read_scores(id);
    case Op::kValues:
      return read_values(id);
    case Op::kKvAppend:
      return read_append(id);
    case Op::kEmbedding:
    case Op::kTakeRows:
      return read_embedding(id);
    default:
      return op_info(node.op).kind == OpKind::kView ? read_view(id) : read_elementwise(id);
  }
}

/// Result and operands run together from the right; a row-wise operator reduces the last axis.
void RegionDims::read_elementwise(NodeId id) {
  const Node& node = graph_.node(id);
  const bool rowwise = op_info(node.op).kind == OpKind::kRowwise;
  const int rank = static_cast<int>(graph_.value(node.output).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    for (const ValueId input : node.inputs) unify({node.output, axis}, {input, axis});
    role(id, {node.output, axis}, rowwise && axis == -1 ? AxisRole::kReduce : AxisRole::kParallel);
  }
  if (const auto* reduce = std::get_if<ReduceAttrs>(&node.attrs)) {
    const int axis = static_cast<int>(reduce->axis);
    role(id, {node.inputs[0], axis < 0 ? axis : axis - rank}, AxisRole::kReduce);
  }
}

/// y[..., m, n] = sum over k of x[..., m, k] * W[n, k] (or W[k, n]).
void RegionDims::read_product(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId x = node.inputs[0], w = node.inputs[1], y = node.output;
  const bool out_in = std::get<MatMulAttrs>(node.attrs).layout == WeightLayout::kOutIn;
  unify({x, -1}, {w, out_in ? -1 : -2});
  unify({y, -1}, {w, out_in ? -2 : -1});
  const int rank = static_cast<int>(graph_.value(y).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    if (axis < -1) unify({y, axis}, {x, axis});
    if (axis < -2) unify({y, axis}, {w, axis});
    role(id, {y, axis}, AxisRole::kParallel);
  }
  role(id, {x, -1}, AxisRole::kContract);
}

/// s[..., h, i, j] from q[..., i, h*d] and k[..., j, g*d]: contracts inside of each head.
void RegionDims::read_scores(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId q = node.inputs[0], k = node.inputs[1], s = node.output;
  unify({s, -2}, {q, -2});
  unify({s, -1}, {k, -2});
  const int rank = static_cast<int>(graph_.value(s).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    if (axis < -3) unify({s, axis}, {q, axis + 1}), unify({s, axis}, {k, axis + 1});
    if (node.inputs.size() > 2) unify({s, axis}, {node.inputs[2], axis});
    role(id, {s, axis}, AxisRole::kParallel);
  }
  role(id, {q, -1}, AxisRole::kContract);
}

/// o[..., i, h*d] = sum over j of p[..., h, i, j] * v[..., j, g*d].
void RegionDims::read_values(NodeId id) {
  const Node& node = graph_.node(id);
  const ValueId p = node.inputs[0], v = node.inputs[1], o = node.output;
  unify({o, -2}, {p, -2});
  unify({p, -1}, {v, -2});
  const int rank = static_cast<int>(graph_.value(o).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    if (axis < -2) unify({o, axis}, {p, axis - 1}), unify({o, axis}, {v, axis});
    role(id, {o, axis}, AxisRole::kParallel);
  }
  role(id, {p, -1}, AxisRole::kContract);
}

/// The new rows stand behind those of the state: only the width runs together.
void RegionDims::read_append(NodeId id) {
  const Node& node = graph_.node(id);
  for (const ValueId input : node.inputs) unify({node.output, -1}, {input, -1});
  role(id, {node.inputs[1], -2}, AxisRole::kParallel);
  role(id, {node.inputs[1], -1}, AxisRole::kParallel);
}

/// y[..., t, :] = table[index[..., t], :].
void RegionDims::read_embedding(NodeId id) {
  const Node& node = graph_.node(id);
  const int rank = static_cast<int>(graph_.value(node.output).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    if (axis == -1) unify({node.output, axis}, {node.inputs[0], axis});
    if (axis < -1) unify({node.output, axis}, {node.inputs[1], axis + 1});
    role(id, {node.output, axis}, AxisRole::kParallel);
  }
}

/// A transpose permutes; of other views, axes of one size at one place (from either end) are the same.
void RegionDims::read_view(NodeId id) {
  const Node& node = graph_.node(id);
  const int rank = static_cast<int>(graph_.value(node.output).shape.size());
  const int input_rank = static_cast<int>(graph_.value(node.inputs[0]).shape.size());
  for (int i = 0; i < rank; ++i) {
    const auto* transpose = std::get_if<TransposeAttrs>(&node.attrs);
    const int from = transpose != nullptr ? static_cast<int>(transpose->permutation[static_cast<size_t>(i)]) : i;
    if (from < input_rank) unify({node.output, i - rank}, {node.inputs[0], from - input_rank});
    if (transpose == nullptr && rank != input_rank) unify({node.output, i - rank}, {node.inputs[0], i - rank});
  }
}

std::string RegionDims::unique(const std::string& wanted) const {
  const auto taken = [&](const std::string& name) {
    return std::any_of(name_.begin(), name_.end(), [&](const auto& entry) { return entry.second == name; });
  };
  std::string name = wanted;
  for (int i = 2; taken(name); ++i) name = wanted + "_" + std::to_string(i);
  return name;
}

/// A dim is called by its size: "tokens", "past+tokens", "n576".
void RegionDims::name_dims(const std::vector<NodeId>& nodes) {
  const auto visit = [&](ValueId value) {
    const int rank = static_cast<int>(graph_.value(value).shape.size());
    for (int axis = -rank; axis < 0; ++axis) {
      const Axis top = root({value, axis});
      if (is_one(size(top)) || name_.count(top) != 0) continue;
      const Dim& dim = size(top);
      name_.emplace(top, unique(dim.is_constant() ? "n" + dim.to_string() : dim.to_string()));
      order_.push_back(top);
    }
  };
  for (const NodeId id : nodes) {
    for (const ValueId input : graph_.node(id).inputs) visit(input);
    visit(graph_.node(id).output);
  }
}

std::vector<RegionDim> RegionDims::dims() const {
  std::vector<RegionDim> dims;
  for (const Axis& axis : order_) {
    SymbolValues bounds = bounds_;
    for (const auto& [symbol, factor] : size(axis).terms()) bounds.try_emplace(symbol, bounds_.at("tokens"));
    RegionDim dim{name_.at(axis), size(axis).to_string(), size(axis).evaluate(bounds), false, false, false};
    for (const auto& [node, roles] : roles_) {
      for (const auto& [used, role] : roles) {
        if (root(used) != axis) continue;
        (role == AxisRole::kParallel ? dim.parallel : role == AxisRole::kReduce ? dim.reduce : dim.contract) = true;
      }
    }
    dims.push_back(std::move(dim));
  }
  return dims;
}

std::vector<std::string> RegionDims::names(ValueId value) const {
  std::vector<std::string> names;
  const int rank = static_cast<int>(graph_.value(value).shape.size());
  for (int axis = -rank; axis < 0; ++axis) {
    const auto found = name_.find(root({value, axis}));
    names.push_back(found == name_.end() ? size({value, axis}).to_string() : found->second);
  }
  return names;
}

std::vector<std::string> RegionDims::along(NodeId node, AxisRole wanted) const {
  std::vector<std::string> names;
  const auto roles = roles_.find(node);
  if (roles == roles_.end()) return names;
  for (const auto& [axis, role] : roles->second)
    if (role == wanted) names.push_back(name_.at(root(axis)));
  return names;
}

}  // namespace atb
