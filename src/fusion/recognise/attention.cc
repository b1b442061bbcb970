// Attention from matrix products over views of heads. What a mask, a soft cap or a scale is called is decided by its
// place in the chain above the softmax: softmax(mask(cap * tanh(scale * q k' / cap))).
#include <cmath>
#include <limits>

#include "fusion/recognise/heads.h"
#include "fusion/recognise/recogniser.h"
#include "fusion/recognise/views.h"

namespace atb::recognising {
namespace {

// The chain from the product up, as far as it is read.
struct Chain {
  ValueId product = kNoValue, mask = kNoValue;
  double scale = 1, softcap = 0;
  MaskKind mask_kind = MaskKind::kNone;
  std::vector<ValueId> interior;
};

bool is_batched_product(const Editor& g, ValueId id) {
  const Node* product = g.made_by(id, Op::kMatMul);
  return product && g.rank(product->inputs[1]) >= 3;
}

// scale * q k', and below it nothing else
bool match_scaled(const Editor& g, ValueId id, Chain& chain) {
  chain.interior.push_back(id);
  if (const auto scaled = g.scaled(id)) {
    chain.scale *= scaled->c;
    return match_scaled(g, scaled->x, chain);
  }
  chain.product = id;
  return is_batched_product(g, id);
}

// cap * tanh(s / cap)
bool match_capped(const Editor& g, ValueId id, Chain& chain) {
  const auto outer = g.scaled(id);
  const Node* tanh = outer ? g.activation(outer->x, ActivationKind::kTanh) : nullptr;
  const auto inner = tanh ? g.scaled(tanh->inputs[0]) : std::nullopt;
  if (!inner) return match_scaled(g, id, chain);
  // What stands inside is scale / cap: whatever is not 1 / cap is part of the scale.
  chain.softcap = outer->c;
  chain.scale = inner->c * outer->c;
  if (is_literal(chain.scale, 1)) chain.scale = 1;
  chain.interior.insert(chain.interior.end(), {id, tanh->output, tanh->inputs[0]});
  return outer->c > 0 && match_scaled(g, inner->x, chain);
}

double lowest(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return -65504;
    case DType::kBF16:
      return -0x1.fep127;
    default:
      return std::numeric_limits<float>::lowest();
  }
}

// where(mask, s, -inf)
std::optional<Chain> match_where(Editor& g, ValueId id) {
  const Node node = *g.producer(id);
  Chain chain;
  if (!match_capped(g, node.inputs[1], chain)) {
    Chain swapped;
    if (match_capped(g, node.inputs[2], swapped))
      g.refuse(id, "mask_polarity", "the mask is true where it hides; ours is true where a query attends");
    return std::nullopt;
  }
  const auto hidden = g.number(node.inputs[2]);
  if (!hidden || *hidden > lowest(g.dtype(id))) {
    g.refuse(id, "mask_value", "hidden scores are not set to -inf or the lowest finite number");
    return std::nullopt;
  }
  chain.interior.push_back(id);
  chain.mask = node.inputs[0];
  chain.mask_kind = MaskKind::kBool;
  return chain;
}

// s + mask, in either order
std::optional<Chain> match_sum(Editor& g, ValueId id) {
  const Node node = *g.producer(id);
  for (const size_t side : {0u, 1u}) {
    Chain chain;
    if (!match_capped(g, node.inputs[side], chain)) continue;
    chain.interior.push_back(id);
    chain.mask = node.inputs[1 - side];
    chain.mask_kind = MaskKind::kAdditive;
    return chain;
  }
  for (const ValueId input : node.inputs)
    if (g.made_by(input, Op::kAdd) && match_sum(g, input))
      g.refuse(id, "one_mask", "two masks or biases are added to the scores");
  return std::nullopt;
}

std::optional<Chain> match_chain(Editor& g, ValueId id) {
  if (g.made_by(id, Op::kWhere)) return match_where(g, id);
  if (g.made_by(id, Op::kAdd)) return match_sum(g, id);
  Chain chain;
  return match_capped(g, id, chain) ? std::optional(chain) : std::nullopt;
}

// A number that q or k was multiplied by before the product, taken into the scale.
ValueId without_scale(const Editor& g, ValueId x, double& scale) {
  const auto scaled = g.scaled(x);
  if (!scaled || !g.single_use(x)) return x;
  scale *= scaled->c;
  return scaled->x;
}

std::string attention_path(const Editor& g, const Chain& chain) { return g.producer(chain.product)->path; }

// The product itself is read by the chain alone, and so is every step of it but the last.
bool is_private(Editor& g, const Chain& chain, ValueId top) {
  std::vector<ValueId> inner;
  for (const ValueId id : chain.interior)
    if (id != top) inner.push_back(id);
  return g.closed(top, inner);
}

bool write_scores(Editor& g, ValueId top, const Chain& found) {
  Chain chain = found;
  const Node product = *g.producer(chain.product);
  const bool keys_last = g.attrs<MatMulAttrs>(product).layout == WeightLayout::kInOut;
  const ValueId q4 = without_scale(g, product.inputs[0], chain.scale);
  const ValueId k4 = without_scale(g, product.inputs[1], chain.scale);
  const auto q = heads_view(g, q4, false), k = heads_view(g, k4, keys_last);
  if (!q || q->repeats != 1) return g.refuse(chain.product, "heads_view", "q is no view of heads side by side");
  if (!k) return g.refuse(chain.product, "keys_transposed", "the right operand is not the transpose of keys");
  if (g.shape(top) != g.shape(chain.product) || !is_private(g, chain, top)) return false;
  const std::string path = attention_path(g, chain);
  const ValueId q_rows = without_scale(g, side_by_side(g, *q, path), chain.scale);
  const ValueId k_rows = without_scale(g, side_by_side(g, *k, path), chain.scale);
  const ScoresAttrs attrs = {.heads = q->heads,
                             .kv_heads = k->heads,
                             .head_dim = q->head_dim,
                             .scale = static_cast<float>(chain.scale),
                             .softcap = static_cast<float>(chain.softcap),
                             .mask = chain.mask_kind};
  std::vector<ValueId> inputs = {q_rows, k_rows};
  if (chain.mask != kNoValue) inputs.push_back(chain.mask);
  g.replace(top, g.add(Op::kScores, attrs, inputs, path));
  return true;
}

// The softmax of p, behind a cast or not.
bool is_probabilities(const Editor& g, ValueId p) {
  const Node* cast = g.made_by(p, Op::kCast);
  return g.made_by(cast ? cast->inputs[0] : p, Op::kSoftmax) != nullptr;
}

}  // namespace

bool softmax_core(Editor& g, ValueId root) {
  const Node* ratio = g.binary(root, BinaryKind::kDiv);
  const Node* exp = ratio ? g.unary(ratio->inputs[0], UnaryKind::kExp) : nullptr;
  const Node* sum = exp ? g.reduce(ratio->inputs[1], ReduceKind::kSum) : nullptr;
  const Node* shifted = sum && sum->inputs[0] == exp->output ? g.binary(exp->inputs[0], BinaryKind::kSub) : nullptr;
  const Node* max = shifted ? g.reduce(shifted->inputs[1], ReduceKind::kMax) : nullptr;
  if (!max || max->inputs[0] != shifted->inputs[0]) return false;
  const std::vector<ValueId> interior = {exp->output, sum->output, shifted->output, max->output};
  const ValueId x = max->inputs[0];
  if (!g.closed(root, interior)) return false;
  g.replace(root, g.add(Op::kSoftmax, NoAttrs{}, {x}, shared_path(g, interior)));
  return true;
}

bool attention_scores(Editor& g, ValueId root) {
  const Node* softmax = g.made_by(root, Op::kSoftmax);
  if (!softmax) return false;
  const Node* cast = g.made_by(softmax->inputs[0], Op::kCast);
  const ValueId top = cast ? cast->inputs[0] : softmax->inputs[0];
  const auto chain = match_chain(g, top);
  return chain && write_scores(g, top, *chain);
}

bool attention_values(Editor& g, ValueId root) {
  if (!is_batched_product(g, root)) return false;
  const Node product = *g.producer(root);
  if (!is_probabilities(g, product.inputs[0])) return false;
  const auto v = heads_view(g, product.inputs[1], g.attrs<MatMulAttrs>(product).layout == WeightLayout::kOutIn);
  if (!v) return g.refuse(root, "heads_view", "v is no view of heads side by side");
  const int64_t heads = v->heads * v->repeats;
  const ValuesAttrs attrs{heads, v->heads, v->head_dim};
  const ValueId rows = side_by_side(g, *v, product.path);
  const ValueId o = g.add(Op::kValues, attrs, {product.inputs[0], rows}, product.path);
  const ValueId split = reshaped(g, o, split_heads(g.shape(o), heads, v->head_dim), product.path);
  g.replace(root, exchanged(g, split, 1, 2, product.path));
  return true;
}

// The heads that share a key-value head stand side by side, as a repeat in place leaves them.
bool grouped_heads(Editor& g, ValueId root) {
  Node node = *g.producer(root);
  if (node.op != Op::kScores && node.op != Op::kValues) return false;
  const Node* flat = g.made_by(node.inputs[1], Op::kReshape);
  const Node* repeat = flat ? g.made_by(flat->inputs[0], Op::kRepeat) : nullptr;
  if (!repeat || merged_heads(g.shape(repeat->output)) != g.shape(flat->output)) return false;
  const RepeatAttrs attrs = g.attrs<RepeatAttrs>(*repeat);
  const ValueId few = repeat->inputs[0];
  const auto rank = static_cast<int64_t>(g.rank(few));
  if ((attrs.axis < 0 ? attrs.axis + rank : attrs.axis) != rank - 2) return false;
  const auto set = [&](auto& typed) {
    const bool same = g.shape(repeat->output)[static_cast<size_t>(rank - 2)] == Dim(typed.kv_heads);
    if (same) typed.kv_heads /= attrs.times;
    return same;
  };
  const bool fits =
      node.op == Op::kScores ? set(std::get<ScoresAttrs>(node.attrs)) : set(std::get<ValuesAttrs>(node.attrs));
  if (!fits) return false;
  node.inputs[1] = reshaped(g, few, *merged_heads(g.shape(few)), flat->path);
  g.replace(root, g.add(node.op, node.attrs, node.inputs, node.path));
  return true;
}

}  // namespace atb::recognising
