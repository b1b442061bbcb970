// Views that do nothing, and chains of views that are one.
#include "fusion/recognise/views.h"

#include <algorithm>
#include <numeric>

#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

size_t axis_of(const Editor& g, ValueId x, int64_t axis) {
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(g.rank(x)) : axis);
}

bool is_identity(const std::vector<int64_t>& permutation) {
  return std::is_sorted(permutation.begin(), permutation.end());
}

// Whether the node hands its first input on as it is.
bool does_nothing(const Editor& g, const Node& node) {
  const ValueId x = node.inputs[0];
  switch (node.op) {
    case Op::kCast:
      return g.attrs<CastAttrs>(node).dtype == g.dtype(x);
    case Op::kReshape:
    case Op::kSlice:  // a slice as long as its input starts at 0 with step 1
      return g.shape(node.output) == g.shape(x);
    case Op::kTranspose:
      return is_identity(g.attrs<TransposeAttrs>(node).permutation);
    case Op::kConcat:
      return node.inputs.size() == 1;
    case Op::kRepeat:
      return g.attrs<RepeatAttrs>(node).times == 1;
    case Op::kMul:
      return g.number(node.inputs[1]) == 1.0 && !g.number(x) && g.dtype(x) == g.dtype(node.output);
    case Op::kBinary:
      return g.attrs<BinaryAttrs>(node).kind == BinaryKind::kDiv && g.number(node.inputs[1]) == 1.0 && !g.number(x) &&
             g.dtype(x) == g.dtype(node.output);
    default:
      return false;
  }
}

// The inner node of two of the same operator in a row.
const Node* same_before(const Editor& g, ValueId root, Op op) {
  const Node* outer = g.made_by(root, op);
  return outer ? g.made_by(outer->inputs[0], op) : nullptr;
}

}  // namespace

std::optional<ReshapeAttrs> reshape_attrs(const Shape& from, const Shape& to) {
  ReshapeAttrs attrs;
  bool same_so_far = true;
  for (size_t i = 0; i < to.size(); ++i) {
    const bool stays = i < from.size() && from[i] == to[i];
    same_so_far &= stays;
    if (!to[i].is_constant() && !stays) return std::nullopt;
    attrs.shape.push_back(same_so_far || !to[i].is_constant() ? -1 : to[i].constant());
  }
  for (size_t i = 0; i < from.size(); ++i)
    if (!from[i].is_constant() && (i >= to.size() || !(to[i] == from[i]))) return std::nullopt;
  return attrs;
}

ValueId reshaped(Editor& g, ValueId x, const Shape& to, const std::string& path) {
  if (g.shape(x) == to) return x;
  return g.add(Op::kReshape, *reshape_attrs(g.shape(x), to), {x}, path);
}

std::vector<int64_t> exchange(size_t rank, size_t a_from_end, size_t b_from_end) {
  std::vector<int64_t> permutation(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 1 - a_from_end], permutation[rank - 1 - b_from_end]);
  return permutation;
}

ValueId exchanged(Editor& g, ValueId x, size_t a_from_end, size_t b_from_end, const std::string& path) {
  return g.add(Op::kTranspose, TransposeAttrs{exchange(g.rank(x), a_from_end, b_from_end)}, {x}, path);
}

std::optional<Shape> merged_heads(const Shape& heads) {
  if (heads.size() < 2) return std::nullopt;
  const Dim &h = heads[heads.size() - 2], &d = heads.back();
  if (!h.is_constant() || !d.is_constant()) return std::nullopt;
  Shape flat(heads.begin(), heads.end() - 2);
  flat.push_back(h * d.constant());
  return flat;
}

Shape split_heads(const Shape& flat, int64_t heads, int64_t head_dim) {
  Shape split(flat.begin(), flat.end() - 1);
  split.insert(split.end(), {Dim(heads), Dim(head_dim)});
  return split;
}

bool noop(Editor& g, ValueId root) {
  const Node& node = *g.producer(root);
  if (!does_nothing(g, node)) return false;
  g.replace(root, node.inputs[0]);
  return true;
}

// Views and copies of the same value are one: each layer of a capture cuts the same tables again. Arithmetic is left
// where it is, so that a region can have its own.
bool computed_twice(Editor& g, ValueId root) {
  const Node& node = *g.producer(root);
  const OpKind kind = op_info(node.op).kind;
  if (kind != OpKind::kView && kind != OpKind::kData) return false;
  for (const ValueId other : g.users(node.inputs[0])) {
    const Node& twin = *g.producer(other);
    if (other >= root || twin.op != node.op || twin.inputs != node.inputs || !(twin.attrs == node.attrs)) continue;
    g.replace(root, other);
    return true;
  }
  return false;
}

bool reshape_twice(Editor& g, ValueId root) {
  const Node* inner = same_before(g, root, Op::kReshape);
  if (!inner) return false;
  const ValueId x = inner->inputs[0];
  const auto attrs = reshape_attrs(g.shape(x), g.shape(root));
  if (!attrs) return false;
  const std::string path = g.producer(root)->path;
  g.replace(root, g.shape(x) == g.shape(root) ? x : g.add(Op::kReshape, *attrs, {x}, path));
  return true;
}

bool transpose_twice(Editor& g, ValueId root) {
  const Node* inner = same_before(g, root, Op::kTranspose);
  if (!inner) return false;
  const auto &first = g.attrs<TransposeAttrs>(*inner).permutation,
             &then = g.attrs<TransposeAttrs>(*g.producer(root)).permutation;
  TransposeAttrs both;
  for (const int64_t axis : then) both.permutation.push_back(first[static_cast<size_t>(axis)]);
  const ValueId x = inner->inputs[0];
  const std::string path = g.producer(root)->path;
  g.replace(root, is_identity(both.permutation) ? x : g.add(Op::kTranspose, both, {x}, path));
  return true;
}

// reshape(slice(reshape(x [.., P*D], [.., P, D]), i), [.., D]) is x[.., i*D : (i+1)*D]; and if the parts are the last
// axis [.., D, P], it is x[.., i::P].
bool packed_part(Editor& g, ValueId root) {
  const Node* drop = g.made_by(root, Op::kReshape);
  const Node* pick = drop ? g.made_by(drop->inputs[0], Op::kSlice) : nullptr;
  const Node* split = pick ? g.made_by(pick->inputs[0], Op::kReshape) : nullptr;
  if (!split) return false;
  const ValueId x = split->inputs[0], parts = split->output;
  const Shape packed = g.shape(parts);
  const auto flat = merged_heads(packed);
  if (!flat || *flat != g.shape(x)) return false;
  const size_t axis = axis_of(g, parts, g.attrs<SliceAttrs>(*pick).axis);
  const bool inner = axis + 1 == packed.size(), outer = axis + 2 == packed.size();
  if ((!inner && !outer) || g.shape(pick->output)[axis] != Dim(1)) return false;
  const int64_t part = g.attrs<SliceAttrs>(*pick).start, length = packed[packed.size() - (inner ? 2 : 1)].constant();
  Shape kept(packed.begin(), packed.end() - 2);
  kept.emplace_back(length);
  if (kept != g.shape(root)) return false;
  const int64_t step = inner ? packed.back().constant() : 1, start = inner ? part : part * length;
  const SliceAttrs attrs{-1, start, start + (length - 1) * step + 1, step};
  g.replace(root, g.add(Op::kSlice, attrs, {x}, pick->path));
  return true;
}

// Repeating an axis of 1 behind an axis A is repeating each slice of A in place. A concat of copies would order them in
// another way, and is not this.
bool repeat_kv(Editor& g, ValueId root) {
  const Node* found = g.made_by(root, Op::kRepeat);
  if (!found) return false;
  const Node repeat = *found;
  const ValueId x = repeat.inputs[0];
  RepeatAttrs attrs = g.attrs<RepeatAttrs>(repeat);
  const size_t axis = axis_of(g, x, attrs.axis);
  if (axis == 0 || axis + 1 == g.rank(x) || g.shape(x)[axis] != Dim(1)) return false;
  Shape merged = g.shape(x);
  merged.erase(merged.begin() + static_cast<std::ptrdiff_t>(axis));
  if (!merged[axis - 1].is_constant() || !reshape_attrs(g.shape(x), merged)) return false;
  attrs.axis = static_cast<int64_t>(axis) - 1;
  const ValueId each = g.add(Op::kRepeat, attrs, {reshaped(g, x, merged, repeat.path)}, repeat.path);
  g.replace(root, reshaped(g, each, g.shape(root), repeat.path));
  return true;
}

}  // namespace atb::recognising
