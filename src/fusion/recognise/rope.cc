// Rotary embeddings whose cosines and sines come in as values: x*cos + turned(x)*sin, where turned takes a pair (a, b)
// to (-b, a). Pairs are halves of the head or neighbours; the rest of the head may pass by.
#include "fusion/recognise/recogniser.h"
#include "fusion/recognise/views.h"

namespace atb::recognising {
namespace {

struct Turned {
  ValueId x;
  RopePairing pairing;
  std::vector<ValueId> interior;
};

std::optional<ValueId> negated(const Editor& g, ValueId id) {
  if (const Node* neg = g.unary(id, UnaryKind::kNeg)) return neg->inputs[0];
  const auto scaled = g.scaled(id);
  return scaled && scaled->c == -1 ? std::optional(scaled->x) : std::nullopt;
}

bool on_last_axis(const Editor& g, ValueId id, int64_t axis) {
  return axis == -1 || axis + 1 == static_cast<int64_t>(g.rank(id));
}

// The source of a slice of the last axis that holds `count` elements from `start` in steps of `step`.
std::optional<ValueId> sliced(const Editor& g, ValueId id, int64_t start, int64_t step, int64_t count) {
  const Node* node = g.made_by(id, Op::kSlice);
  if (!node) return std::nullopt;
  const SliceAttrs& s = g.attrs<SliceAttrs>(*node);
  const bool matches = on_last_axis(g, id, s.axis) && s.start == start && s.step == step;
  return matches && g.shape(id).back() == Dim(count) ? std::optional(node->inputs[0]) : std::nullopt;
}

const Node* concat_of_two(const Editor& g, ValueId id) {
  const Node* node = g.made_by(id, Op::kConcat);
  return node && node->inputs.size() == 2 && on_last_axis(g, id, g.attrs<ConcatAttrs>(*node).axis) ? node : nullptr;
}

// concat(-x[n:], x[:n])
std::optional<Turned> turned_halves(const Editor& g, ValueId id, int64_t n) {
  const Node* concat = concat_of_two(g, id);
  const auto second = concat ? negated(g, concat->inputs[0]) : std::nullopt;
  const auto x = second ? sliced(g, *second, n, 1, n) : std::nullopt;
  if (!x || sliced(g, concat->inputs[1], 0, 1, n) != x) return std::nullopt;
  return Turned{*x, RopePairing::kHalf, {id, concat->inputs[0]}};
}

// stack(-x[1::2], x[0::2]) along a new last axis, flattened
std::optional<Turned> turned_neighbours(const Editor& g, ValueId id, int64_t n) {
  const Node* flatten = g.made_by(id, Op::kReshape);
  const Node* stack = flatten ? concat_of_two(g, flatten->inputs[0]) : nullptr;
  const Node* odd = stack ? g.made_by(stack->inputs[0], Op::kReshape) : nullptr;
  const Node* even = stack ? g.made_by(stack->inputs[1], Op::kReshape) : nullptr;
  if (!odd || !even || g.shape(stack->output).back() != Dim(2) || g.rank(stack->output) != g.rank(id) + 1)
    return std::nullopt;
  const auto second = negated(g, odd->inputs[0]);
  const auto x = second ? sliced(g, *second, 1, 2, n) : std::nullopt;
  if (!x || sliced(g, even->inputs[0], 0, 2, n) != x) return std::nullopt;
  return Turned{*x, RopePairing::kInterleaved, {id, stack->output, odd->output, odd->inputs[0]}};
}

std::optional<Turned> turned(const Editor& g, ValueId id) {
  if (g.rank(id) < 2 || !g.shape(id).back().is_constant() || g.shape(id).back().constant() % 2 != 0)
    return std::nullopt;
  const int64_t n = g.shape(id).back().constant() / 2;
  auto found = turned_halves(g, id, n);
  if (!found) found = turned_neighbours(g, id, n);
  return found && g.shape(found->x) == g.shape(id) ? found : std::nullopt;
}

struct TurnedTerm {
  Turned turned;
  ValueId sin;
};
std::optional<TurnedTerm> turned_term(const Editor& g, ValueId id) {
  const Node* product = g.made_by(id, Op::kMul);
  if (!product) return std::nullopt;
  for (const size_t side : {0u, 1u})
    if (auto found = turned(g, product->inputs[side])) return TurnedTerm{*found, product->inputs[1 - side]};
  return std::nullopt;
}

// A table has a row of its own width for each position: nothing that broadcasts along the head.
bool is_table(const Editor& g, ValueId id, ValueId x) {
  return g.rank(id) >= 2 && g.rank(id) <= g.rank(x) && g.shape(id).back() == g.shape(x).back();
}

bool write(Editor& g, ValueId root, const TurnedTerm& term, ValueId straight) {
  const ValueId x = term.turned.x;
  const auto cos = g.beside(straight, Op::kMul, x);
  if (!cos || g.shape(root) != g.shape(x)) return false;
  if (!is_table(g, *cos, x) || !is_table(g, term.sin, x))
    return g.refuse(root, "table_width", "cos and sin are no tables of one number per component");
  const int64_t width = g.shape(x).back().constant();
  const RopeAttrs attrs{.head_dim = width, .rotary_dim = width, .pairing = term.turned.pairing, .tables = true};
  std::vector<ValueId> nodes = term.turned.interior;
  nodes.insert(nodes.end(), {straight, root});
  g.replace(root, g.add(Op::kRope, attrs, {x, *cos, term.sin}, shared_path(g, nodes)));
  return true;
}

const Node* rope_by_tables(const Editor& g, ValueId id) {
  const Node* rope = g.made_by(id, Op::kRope);
  return rope && g.attrs<RopeAttrs>(*rope).tables ? rope : nullptr;
}

// A table [.., 1, T, r] or [.., T, 1, r], whose axis of heads is `heads_from_end`, without that axis.
std::optional<ValueId> without_heads(Editor& g, ValueId table, size_t heads_from_end, const std::string& path) {
  const Shape shape = g.shape(table);
  if (shape.size() <= heads_from_end) return heads_from_end == 2 ? std::optional(table) : std::nullopt;
  if (shape[shape.size() - 1 - heads_from_end] != Dim(1)) return std::nullopt;
  if (heads_from_end == 2) table = exchanged(g, table, 1, 2, path);
  Shape rows = g.shape(table);
  rows.erase(rows.end() - 2);
  if (rows.size() < 2) return std::nullopt;
  return reshaped(g, table, rows, path);
}

// rope of x [.., T, H, r] as rope of x [.., T, H*r], seen as [.., T, H, r] again.
std::optional<ValueId> side_by_side(Editor& g, const Node& rope, ValueId x, size_t heads_from_end) {
  const auto flat = merged_heads(g.shape(x));
  if (!flat || flat->size() < 2 || !reshape_attrs(g.shape(x), *flat)) return std::nullopt;
  std::vector<ValueId> inputs = {x};
  for (const size_t i : {1u, 2u}) {
    const auto table = without_heads(g, rope.inputs[i], heads_from_end, rope.path);
    if (!table) return std::nullopt;
    inputs.push_back(*table);
  }
  inputs[0] = reshaped(g, x, *flat, rope.path);
  return reshaped(g, g.add(Op::kRope, rope.attrs, inputs, rope.path), g.shape(x), rope.path);
}

bool is_split_or_normed(const Editor& g, ValueId x) {
  return g.made_by(x, Op::kReshape) || g.made_by(x, Op::kRmsNorm) || g.made_by(x, Op::kLayerNorm);
}

}  // namespace

bool rope_tables(Editor& g, ValueId root) {
  const Node* sum = g.made_by(root, Op::kAdd);
  if (!sum) return false;
  for (const size_t side : {0u, 1u}) {
    const ValueId straight = sum->inputs[1 - side];
    if (const auto term = turned_term(g, sum->inputs[side])) return write(g, root, *term, straight);
  }
  return false;
}

bool rope_partial(Editor& g, ValueId root) {
  const Node* concat = concat_of_two(g, root);
  const Node* rope = concat ? rope_by_tables(g, concat->inputs[0]) : nullptr;
  if (!rope || !g.closed(root, {{rope->output}})) return false;
  RopeAttrs attrs = g.attrs<RopeAttrs>(*rope);
  const int64_t width = attrs.rotary_dim;
  const Dim& head = g.shape(root).back();
  if (attrs.head_dim != width || g.shape(rope->output).back() != Dim(width)) return false;
  const auto x = sliced(g, rope->inputs[0], 0, 1, width);
  const auto rest = sliced(g, concat->inputs[1], width, 1, head.constant() - width);
  if (!x || rest != x || g.shape(*x) != g.shape(root)) return false;
  attrs.head_dim = head.constant();
  g.replace(root, g.add(Op::kRope, attrs, {*x, rope->inputs[1], rope->inputs[2]}, rope->path));
  return true;
}

bool rope_heads(Editor& g, ValueId root) {
  const Node* found = rope_by_tables(g, root);
  if (!found || g.attrs<RopeAttrs>(*found).head_dim != g.shape(root).back().constant()) return false;
  const Node rope = *found;
  const ValueId x = rope.inputs[0];
  if (g.rank(x) < 3) return false;
  if (const Node* view = g.made_by(x, Op::kTranspose)) {
    const TransposeAttrs turn = g.attrs<TransposeAttrs>(*view);
    const std::string path = view->path;
    if (turn.permutation != exchange(g.rank(x), 1, 2)) return false;
    const auto rows = side_by_side(g, rope, view->inputs[0], 2);
    if (rows) g.replace(root, g.add(Op::kTranspose, turn, {*rows}, path));
    return rows.has_value();
  }
  const auto rows = is_split_or_normed(g, x) ? side_by_side(g, rope, x, 1) : std::nullopt;
  if (rows) g.replace(root, *rows);
  return rows.has_value();
}

}  // namespace atb::recognising
