#include "fusion/recognise/heads.h"

#include <algorithm>
#include <numeric>

#include "fusion/recognise/views.h"

namespace atb::recognising {
namespace {

std::vector<int64_t> rows_heads_dims(size_t rank, bool keys_last) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  const auto r = static_cast<int64_t>(rank);
  // [.., H, D, T] and [.., H, T, D], read as [.., T, H, D]
  const std::vector<int64_t> tail =
      keys_last ? std::vector<int64_t>{r - 1, r - 3, r - 2} : std::vector<int64_t>{r - 2, r - 3, r - 1};
  std::copy(tail.begin(), tail.end(), order.end() - 3);
  return order;
}

bool repeats_heads(const Editor& g, const Node& node, const std::vector<int64_t>& order) {
  if (node.op != Op::kRepeat) return false;
  const int64_t axis = g.attrs<RepeatAttrs>(node).axis, rank = static_cast<int64_t>(order.size());
  return (axis < 0 ? axis + rank : axis) == order[order.size() - 2];
}

}  // namespace

std::optional<HeadsView> heads_view(const Editor& g, ValueId matrices, bool keys_last) {
  if (g.rank(matrices) < 3) return std::nullopt;
  HeadsView view{matrices, rows_heads_dims(g.rank(matrices), keys_last), 0, 0, 1};
  bool turned = false;
  for (const Node* node = g.producer(view.base); node; node = g.producer(view.base)) {
    if (node->op == Op::kTranspose) {
      const auto& permutation = g.attrs<TransposeAttrs>(*node).permutation;
      for (int64_t& axis : view.order) axis = permutation[static_cast<size_t>(axis)];
      turned = true;
    } else if (repeats_heads(g, *node, view.order)) {
      view.repeats *= g.attrs<RepeatAttrs>(*node).times;
    } else {
      break;
    }
    view.base = node->inputs[0];
  }
  const bool in_place = std::is_sorted(view.order.begin(), view.order.end());
  if (!in_place && (turned || keys_last)) return std::nullopt;
  const auto size = [&](size_t from_end) {
    return g.shape(view.base)[static_cast<size_t>(view.order[view.order.size() - 1 - from_end])];
  };
  if (!size(1).is_constant() || !size(0).is_constant()) return std::nullopt;
  view.heads = size(1).constant();
  view.head_dim = size(0).constant();
  return view;
}

ValueId side_by_side(Editor& g, const HeadsView& view, const std::string& path) {
  const bool in_place = std::is_sorted(view.order.begin(), view.order.end());
  const ValueId rows = in_place ? view.base : g.add(Op::kTranspose, TransposeAttrs{view.order}, {view.base}, path);
  if (const Node* split = g.made_by(rows, Op::kReshape))
    if (g.shape(split->inputs[0]) == *merged_heads(g.shape(rows))) return split->inputs[0];
  return reshaped(g, rows, *merged_heads(g.shape(rows)), path);
}

}  // namespace atb::recognising
