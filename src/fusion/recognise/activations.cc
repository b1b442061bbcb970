// Activations of one line: sigmoid, SiLU, quick GELU, ReLU, and the order of a gated product.
#include "fusion/recognise/product.h"
#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

void write(Editor& g, ValueId root, ActivationKind kind, ValueId x, std::vector<ValueId> interior) {
  interior.push_back(root);
  g.replace(root, g.add(Op::kActivation, ActivationAttrs{kind}, {x}, shared_path(g, interior)));
}

// x of 1 + exp(-x)
std::optional<ValueId> one_plus_exp_minus(const Editor& g, ValueId id, std::vector<ValueId>& interior) {
  const auto sum = g.shifted(id);
  const Node* exp = sum && sum->c == 1 ? g.unary(sum->x, UnaryKind::kExp) : nullptr;
  if (!exp) return std::nullopt;
  interior.insert(interior.end(), {id, exp->output, exp->inputs[0]});
  if (const Node* neg = g.unary(exp->inputs[0], UnaryKind::kNeg)) return neg->inputs[0];
  const auto minus = g.scaled(exp->inputs[0]);
  return minus && minus->c == -1 ? std::optional(minus->x) : std::nullopt;
}

// Another input of a product than sigmoid(u), and u.
struct Gated {
  ValueId x, u, gate;
};
std::optional<Gated> times_sigmoid(const Editor& g, ValueId root) {
  const Node* product = g.made_by(root, Op::kMul);
  if (!product) return std::nullopt;
  for (const size_t side : {0u, 1u})
    if (const Node* gate = g.activation(product->inputs[side], ActivationKind::kSigmoid))
      return Gated{product->inputs[1 - side], gate->inputs[0], gate->output};
  return std::nullopt;
}

}  // namespace

bool sigmoid(Editor& g, ValueId root) {
  const Node* inverse = g.unary(root, UnaryKind::kReciprocal);
  std::vector<ValueId> interior;
  const auto x = inverse ? one_plus_exp_minus(g, inverse->inputs[0], interior) : std::nullopt;
  if (!x || !g.closed(root, interior)) return false;
  write(g, root, ActivationKind::kSigmoid, *x, interior);
  return true;
}

bool silu(Editor& g, ValueId root) {
  std::vector<ValueId> interior;
  if (const Node* ratio = g.binary(root, BinaryKind::kDiv)) {
    const ValueId x = ratio->inputs[0];
    if (one_plus_exp_minus(g, ratio->inputs[1], interior) != x || !g.closed(root, interior)) return false;
    write(g, root, ActivationKind::kSilu, x, interior);
    return true;
  }
  const auto gated = times_sigmoid(g, root);
  if (!gated || gated->x != gated->u || !g.closed(root, {{gated->gate}})) return false;
  write(g, root, ActivationKind::kSilu, gated->x, {gated->gate});
  return true;
}

bool gelu_quick(Editor& g, ValueId root) {
  const auto gated = times_sigmoid(g, root);
  const auto scaled = gated ? g.scaled(gated->u) : std::nullopt;
  if (!scaled || scaled->x != gated->x) return false;
  if (!is_literal(scaled->c, 1.702))
    return g.refuse(root, "literal", std::to_string(scaled->c) + " stands where quick GELU has 1.702");
  const std::vector<ValueId> interior = {gated->gate, gated->u};
  if (!g.closed(root, interior)) return false;
  write(g, root, ActivationKind::kGeluQuick, gated->x, interior);
  return true;
}

bool relu(Editor& g, ValueId root) {
  const Node* max = g.binary(root, BinaryKind::kMax);
  if (!max) return false;
  const bool zero_last = g.number(max->inputs[1]) == 0.0;
  const ValueId x = max->inputs[zero_last ? 0 : 1];
  if ((!zero_last && g.number(max->inputs[0]) != 0.0) || !dtype_info(g.dtype(x)).floating || g.number(x)) return false;
  write(g, root, ActivationKind::kRelu, x, {});
  return true;
}

// Which operand is the gate is decided by where the activation stands, never by the order of operands.
bool glu_order(Editor& g, ValueId root) {
  const Node* product = g.made_by(root, Op::kMul);
  if (!product) return false;
  const ValueId a = product->inputs[0], b = product->inputs[1];
  if (g.made_by(a, Op::kActivation) || !g.made_by(b, Op::kActivation) || g.shape(a) != g.shape(b)) return false;
  if (g.is_weight(a)) return false;
  g.replace(root, g.add(Op::kMul, NoAttrs{}, {b, a}, product->path));
  return true;
}

}  // namespace atb::recognising
