// Weight, bias and rounding points of a norm whose statistics are found.
#include <algorithm>

#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

const Node* norm(const Editor& g, ValueId id) {
  const Node* node = g.producer(id);
  return node && (node->op == Op::kRmsNorm || node->op == Op::kLayerNorm) ? node : nullptr;
}

// A norm with the weight 1 and no bias: nothing is applied to its rows yet.
bool is_bare(const Editor& g, const Node& node) { return node.inputs.size() == 2 && g.number(node.inputs[1]) == 1.0; }

// One number per element of the row, the same for every row.
bool fits_row(const Editor& g, ValueId weight, ValueId x) {
  const Shape& shape = g.shape(weight);
  if (!g.is_weight(weight) || shape.empty() || !(shape.back() == g.shape(x).back())) return false;
  return std::all_of(shape.begin(), shape.end() - 1, [](const Dim& dim) { return dim == Dim(1); });
}

void rewrite(Editor& g, ValueId root, const Node& node, Attrs attrs, std::vector<ValueId> inputs) {
  const std::string path = node.path;
  g.replace(root, g.add(node.op, std::move(attrs), std::move(inputs), path));
}

// The norm among the operands of a root, and the other operand.
struct NormAndOther {
  Node norm;
  ValueId other;
};
std::optional<NormAndOther> norm_beside(const Editor& g, ValueId root, Op op) {
  const Node* node = g.made_by(root, op);
  if (!node) return std::nullopt;
  for (const size_t side : {0u, 1u})
    if (const Node* n = norm(g, node->inputs[side])) return NormAndOther{*n, node->inputs[1 - side]};
  return std::nullopt;
}

bool is_widening(DType from, DType to) { return to == DType::kF32 && (from == DType::kF16 || from == DType::kBF16); }

}  // namespace

bool norm_weight(Editor& g, ValueId root) {
  const auto found = norm_beside(g, root, Op::kMul);
  if (!found || !is_bare(g, found->norm) || !fits_row(g, found->other, found->norm.inputs[0])) return false;
  if (!g.closed(root, {{found->norm.output}})) return false;
  rewrite(g, root, found->norm, found->norm.attrs, {found->norm.inputs[0], found->other});
  return true;
}

bool layer_norm_bias(Editor& g, ValueId root) {
  const auto found = norm_beside(g, root, Op::kAdd);
  if (!found || found->norm.op != Op::kLayerNorm || found->norm.inputs.size() != 2) return false;
  if (!fits_row(g, found->other, found->norm.inputs[0]) || !g.closed(root, {{found->norm.output}})) return false;
  rewrite(g, root, found->norm, found->norm.attrs, {found->norm.inputs[0], found->norm.inputs[1], found->other});
  return true;
}

// (1 + w) is only Gemma's norm if it is added in fp32: in bf16 the sum 1 + 15.8125 is 16.75.
bool one_plus_weight(Editor& g, ValueId root) {
  const Node* node = g.made_by(root, Op::kRmsNorm);
  const auto sum = node ? g.shifted(node->inputs[1]) : std::nullopt;
  RmsNormAttrs attrs = node ? g.attrs<RmsNormAttrs>(*node) : RmsNormAttrs{};
  if (!sum || sum->c != 1 || attrs.one_plus_weight) return false;
  if (g.dtype(node->inputs[1]) != DType::kF32)
    return g.refuse(root, "one_plus_in_fp32", std::string("1 + weight is added in ") + dtype_name(g.dtype(sum->x)));
  attrs.one_plus_weight = true;
  rewrite(g, root, Node(*node), attrs, {node->inputs[0], sum->x});
  return true;
}

// A norm computes in fp32 and rounds once, at its end; before the weight if that is where the cast stands. LayerNorm
// has no such rounding point.
bool norm_rounding(Editor& g, ValueId root) {
  const Node* narrow = g.made_by(root, Op::kCast);
  const Node* inner = narrow ? norm(g, narrow->inputs[0]) : nullptr;
  const Node* widen = inner ? g.made_by(inner->inputs[0], Op::kCast) : nullptr;
  if (!widen || !is_widening(g.dtype(widen->inputs[0]), g.dtype(widen->output))) return false;
  if (g.dtype(widen->inputs[0]) != g.dtype(root)) return false;
  Node node = *inner;
  const bool bare = is_bare(g, node);
  if (node.op == Op::kLayerNorm && bare)
    return g.refuse(root, "rounding_point", "the normalised row is rounded before the weight");
  if (auto* attrs = std::get_if<RmsNormAttrs>(&node.attrs)) {
    if (attrs->round_before_weight) return false;
    attrs->round_before_weight = bare;
  }
  if (!g.closed(root, {{node.output}})) return false;
  node.inputs[0] = widen->inputs[0];
  rewrite(g, root, node, node.attrs, node.inputs);
  return true;
}

bool norm_weight_cast(Editor& g, ValueId root) {
  const Node* found = norm(g, root);
  if (!found) return false;
  Node node = *found;
  bool changed = false;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    const Node* cast = g.made_by(node.inputs[i], Op::kCast);
    if (!cast || !is_widening(g.dtype(cast->inputs[0]), g.dtype(cast->output))) continue;
    node.inputs[i] = cast->inputs[0];
    changed = true;
  }
  if (changed) rewrite(g, root, node, node.attrs, node.inputs);
  return changed;
}

bool norm_transpose(Editor& g, ValueId root) {
  const Node* found = norm(g, root);
  const Node* view = found ? g.made_by(found->inputs[0], Op::kTranspose) : nullptr;
  if (!view) return false;
  const TransposeAttrs turn = g.attrs<TransposeAttrs>(*view);
  if (turn.permutation.back() + 1 != static_cast<int64_t>(turn.permutation.size())) return false;
  Node node = *found;
  node.inputs[0] = view->inputs[0];
  const std::string view_path = view->path;
  const ValueId inner = g.add(node.op, node.attrs, node.inputs, node.path);
  g.replace(root, g.add(Op::kTranspose, turn, {inner}, view_path));
  return true;
}

}  // namespace atb::recognising
