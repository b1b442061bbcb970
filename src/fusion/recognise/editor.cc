#include "fusion/recognise/editor.h"

#include <algorithm>
#include <cmath>

namespace atb::recognising {
namespace {

template <class A, class Kind>
const Node* of_kind(const Node* node, Kind kind) {
  return node && std::get<A>(node->attrs).kind == kind ? node : nullptr;
}

}  // namespace

bool is_literal(double found, double literal) noexcept {
  return std::fabs(found - literal) <= std::ldexp(std::fabs(literal), -24);
}

const Node* Editor::made_by(ValueId id, Op op) const {
  const Node* node = producer(id);
  return node && node->op == op ? node : nullptr;
}

const Node* Editor::unary(ValueId id, UnaryKind kind) const {
  return of_kind<UnaryAttrs>(made_by(id, Op::kUnary), kind);
}

const Node* Editor::binary(ValueId id, BinaryKind kind) const {
  return of_kind<BinaryAttrs>(made_by(id, Op::kBinary), kind);
}

const Node* Editor::activation(ValueId id, ActivationKind kind) const {
  return of_kind<ActivationAttrs>(made_by(id, Op::kActivation), kind);
}

const Node* Editor::reduce(ValueId id, ReduceKind kind) const {
  const Node* node = of_kind<ReduceAttrs>(made_by(id, Op::kReduce), kind);
  if (!node) return nullptr;
  const int64_t axis = attrs<ReduceAttrs>(*node).axis;
  return axis == -1 || axis + 1 == static_cast<int64_t>(rank(id)) ? node : nullptr;
}

std::optional<double> Editor::number(ValueId id) const {
  const Value& v = value(id);
  return v.kind == ValueKind::kConstant ? std::optional(v.constant) : std::nullopt;
}

std::optional<WithConstant> Editor::scaled(ValueId id) const {
  if (const Node* product = made_by(id, Op::kMul)) {
    if (const auto c = number(product->inputs[1])) return WithConstant{product->inputs[0], *c};
    if (const auto c = number(product->inputs[0])) return WithConstant{product->inputs[1], *c};
  }
  if (const Node* ratio = binary(id, BinaryKind::kDiv))
    if (const auto c = number(ratio->inputs[1])) return WithConstant{ratio->inputs[0], 1 / *c};
  return std::nullopt;
}

std::optional<WithConstant> Editor::shifted(ValueId id) const {
  const Node* sum = made_by(id, Op::kAdd);
  if (!sum) return std::nullopt;
  if (const auto c = number(sum->inputs[1])) return WithConstant{sum->inputs[0], *c};
  if (const auto c = number(sum->inputs[0])) return WithConstant{sum->inputs[1], *c};
  return std::nullopt;
}

std::optional<ValueId> Editor::beside(ValueId id, Op op, ValueId one) const {
  const Node* node = made_by(id, op);
  if (!node) return std::nullopt;
  if (node->inputs[0] == one) return node->inputs[1];
  if (node->inputs[1] == one) return node->inputs[0];
  return std::nullopt;
}

bool Editor::is_weight(ValueId id, int steps) const {
  const ValueKind kind = value(id).kind;
  if (kind == ValueKind::kParam || kind == ValueKind::kConstant) return true;
  const Node* node = producer(id);
  if (!node || steps == 0 || (node->op != Op::kCast && node->op != Op::kAdd)) return false;
  return std::all_of(node->inputs.begin(), node->inputs.end(),
                     [&](ValueId input) { return is_weight(input, steps - 1); });
}

bool Editor::closed(ValueId root, std::span<const ValueId> interior) {
  const auto inside = [&](ValueId user) {
    return user == root || std::find(interior.begin(), interior.end(), user) != interior.end();
  };
  for (const ValueId id : interior) {
    if (is_output(id)) return refuse(id, "single_use", "is an output of the graph");
    const auto outside = static_cast<size_t>(
        std::count_if(users(id).begin(), users(id).end(), [&](ValueId user) { return !inside(user); }));
    if (outside > 0) return refuse(id, "single_use", "has " + std::to_string(outside) + " other consumer(s)");
  }
  return true;
}

bool Editor::refuse(ValueId at, const char* clause, const std::string& detail) {
  const Node* node = producer(at);
  near_misses.push_back({recogniser, node && !node->path.empty() ? node->path : value(at).name, clause, detail});
  return false;
}

std::string shared_path(const Editor& g, std::span<const ValueId> ids) {
  std::vector<std::string> paths;
  for (const ValueId id : ids)
    if (const Node* node = g.producer(id)) paths.push_back(node->path);
  return common_path(paths);
}

}  // namespace atb::recognising
