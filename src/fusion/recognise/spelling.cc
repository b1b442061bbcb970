// One spelling for what frameworks write in several ways. All of these are exact.
#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

// Computed values first, then weights, then numbers.
int place(const Editor& g, ValueId id) {
  if (g.number(id)) return 2;
  return g.is_weight(id) ? 1 : 0;
}

bool respell(Editor& g, ValueId root, UnaryKind kind, ValueId x) {
  if (!dtype_info(g.dtype(x)).floating || g.number(x)) return false;
  g.replace(root, g.add(Op::kUnary, UnaryAttrs{kind}, {x}, g.producer(root)->path));
  return true;
}

}  // namespace

bool operand_order(Editor& g, ValueId root) {
  const Node node = *g.producer(root);
  if (node.op != Op::kAdd && node.op != Op::kMul) return false;
  const ValueId a = node.inputs[0], b = node.inputs[1];
  if (place(g, a) <= place(g, b)) return false;
  g.replace(root, g.add(node.op, node.attrs, {b, a}, node.path));
  return true;
}

bool square(Editor& g, ValueId root) {
  if (const Node* product = g.made_by(root, Op::kMul))
    return product->inputs[0] == product->inputs[1] && respell(g, root, UnaryKind::kSquare, product->inputs[0]);
  const Node* power = g.binary(root, BinaryKind::kPow);
  return power && g.number(power->inputs[1]) == 2.0 && respell(g, root, UnaryKind::kSquare, power->inputs[0]);
}

bool roots(Editor& g, ValueId root) {
  struct Power {
    double exponent;
    UnaryKind kind;
  };
  constexpr Power kPowers[] = {{0.5, UnaryKind::kSqrt}, {-0.5, UnaryKind::kRsqrt}, {-1, UnaryKind::kReciprocal}};
  if (const Node* power = g.binary(root, BinaryKind::kPow)) {
    for (const Power& p : kPowers)
      if (g.number(power->inputs[1]) == p.exponent) return respell(g, root, p.kind, power->inputs[0]);
  }
  if (const Node* ratio = g.binary(root, BinaryKind::kDiv))
    return g.number(ratio->inputs[0]) == 1.0 && respell(g, root, UnaryKind::kReciprocal, ratio->inputs[1]);
  if (const Node* inverse = g.unary(root, UnaryKind::kReciprocal))
    if (const Node* sqrt = g.unary(inverse->inputs[0], UnaryKind::kSqrt))
      return respell(g, root, UnaryKind::kRsqrt, sqrt->inputs[0]);
  return false;
}

bool transposed_weight(Editor& g, ValueId root) {
  const Node* product = g.made_by(root, Op::kMatMul);
  const Node* turned = product ? g.made_by(product->inputs[1], Op::kTranspose) : nullptr;
  if (!turned || g.attrs<TransposeAttrs>(*turned).permutation != std::vector<int64_t>{1, 0}) return false;
  if (!g.is_weight(turned->inputs[0])) return false;
  const bool in_out = g.attrs<MatMulAttrs>(*product).layout == WeightLayout::kInOut;
  const MatMulAttrs attrs{in_out ? WeightLayout::kOutIn : WeightLayout::kInOut};
  g.replace(root, g.add(Op::kMatMul, attrs, {product->inputs[0], turned->inputs[0]}, product->path));
  return true;
}

}  // namespace atb::recognising
