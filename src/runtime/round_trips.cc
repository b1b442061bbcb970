#include "runtime/round_trips.h"

#include <algorithm>
#include <set>

namespace atb {
namespace {

bool is_view(Op op) { return op_info(op).kind == OpKind::kView; }
/// A view of the same elements.
bool keeps_tensor(Op op) { return op == Op::kReshape || op == Op::kTranspose; }

}  // namespace

RoundTrips::RoundTrips(const Graph& graph)
    : graph_(graph), users_(graph.users()), weights_(graph.values().size()), outputs_(graph.values().size()) {
  for (size_t v = 0; v < weights_.size(); ++v) {
    const ValueKind kind = graph.value(static_cast<ValueId>(v)).kind;
    weights_[v] = kind == ValueKind::kParam || kind == ValueKind::kConstant;
  }
  for (const Node& node : graph.nodes())
    weights_[static_cast<size_t>(node.output)] = std::all_of(
        node.inputs.begin(), node.inputs.end(), [&](ValueId in) { return in == kNoValue || is_weight(in); });
  for (const auto& [name, id] : graph.outputs()) outputs_[static_cast<size_t>(id)] = true;
}

template <class Accept>
ValueId RoundTrips::behind(ValueId id, Accept looks_through) const {
  for (NodeId p = graph_.value(id).producer; p != kNoNode && looks_through(graph_.node(p).op);
       p = graph_.value(id).producer)
    id = graph_.node(p).inputs[0];
  return id;
}

ValueId RoundTrips::base(ValueId id) const { return behind(id, keeps_tensor); }

bool RoundTrips::is_activation(ValueId id) const {
  const Value& v = graph_.value(id);
  if (v.kind == ValueKind::kInput) return dtype_info(v.dtype).floating || v.dtype == DType::kBool;
  if (v.kind != ValueKind::kResult || is_weight(id)) return false;
  const Value& root = graph_.value(behind(id, is_view));
  return root.kind != ValueKind::kState && (root.producer == kNoNode || graph_.node(root.producer).op != Op::kKvAppend);
}

bool RoundTrips::produces(const Inside& nodes, ValueId id) const {
  const NodeId producer = graph_.value(id).producer;
  return producer != kNoNode && std::binary_search(nodes.begin(), nodes.end(), producer);
}

/// Is it read outside, or an output of the graph? Views of it count as itself.
bool RoundTrips::escapes(const Inside& nodes, ValueId id) const {
  if (outputs_[static_cast<size_t>(id)]) return true;
  const auto& users = users_[static_cast<size_t>(id)];
  return std::any_of(users.begin(), users.end(), [&](NodeId user) {
    const Node& node = graph_.node(user);
    return is_view(node.op) ? escapes(nodes, node.output) : !std::binary_search(nodes.begin(), nodes.end(), user);
  });
}

int RoundTrips::of(const std::vector<NodeId>& nodes) const {
  std::set<ValueId> read;
  int written = 0;
  for (NodeId id : nodes) {
    const Node& node = graph_.node(id);
    for (ValueId input : node.inputs) {
      if (input == kNoValue || produces(nodes, behind(input, is_view))) continue;
      if (is_activation(base(input))) read.insert(base(input));
    }
    written += is_activation(base(node.output)) && escapes(nodes, node.output);
  }
  return static_cast<int>(read.size()) + written;
}

}  // namespace atb
