// The statistics of RMSNorm and LayerNorm from their decompositions, over the last axis, with eps inside the root.
// What they write has the weight 1; norm_weight.cc adds the rest.
#include "fusion/recognise/recogniser.h"

namespace atb::recognising {
namespace {

// numerator / sqrt(radicand)
struct OverRoot {
  ValueId numerator, radicand;
  std::vector<ValueId> interior;
};

std::optional<OverRoot> over_root(const Editor& g, ValueId root) {
  if (const Node* product = g.made_by(root, Op::kMul)) {
    for (const int side : {1, 0})
      if (const Node* inverse = g.unary(product->inputs[static_cast<size_t>(side)], UnaryKind::kRsqrt))
        return OverRoot{product->inputs[static_cast<size_t>(1 - side)], inverse->inputs[0], {inverse->output}};
  }
  if (const Node* ratio = g.binary(root, BinaryKind::kDiv))
    if (const Node* denominator = g.unary(ratio->inputs[1], UnaryKind::kSqrt))
      return OverRoot{ratio->inputs[0], denominator->inputs[0], {denominator->output}};
  return std::nullopt;
}

// x of mean(x) along the last axis, also as sum(x) times 1/N.
std::optional<ValueId> averaged(const Editor& g, ValueId mean, std::vector<ValueId>& interior) {
  if (const Node* node = g.reduce(mean, ReduceKind::kMean)) {
    interior.push_back(mean);
    return node->inputs[0];
  }
  const auto scaled = g.scaled(mean);
  const Node* sum = scaled ? g.reduce(scaled->x, ReduceKind::kSum) : nullptr;
  if (!sum) return std::nullopt;
  const Dim& size = g.shape(sum->inputs[0]).back();
  if (!size.is_constant() || !is_literal(scaled->c, 1 / static_cast<double>(size.constant()))) return std::nullopt;
  interior.insert(interior.end(), {mean, sum->output});
  return sum->inputs[0];
}

// Whether `id` is mean(x²).
bool is_mean_square(const Editor& g, ValueId id, ValueId x, std::vector<ValueId>& interior) {
  const auto squares = averaged(g, id, interior);
  const Node* square = squares ? g.unary(*squares, UnaryKind::kSquare) : nullptr;
  if (!square || square->inputs[0] != x) return false;
  interior.push_back(square->output);
  return true;
}

// radicand = statistic + eps; eps is 0 where nothing is added.
WithConstant with_eps(const Editor& g, ValueId radicand, std::vector<ValueId>& interior) {
  const auto sum = g.shifted(radicand);
  if (!sum) return {radicand, 0};
  interior.push_back(radicand);
  return *sum;
}

bool refuse_eps_outside(Editor& g, ValueId root) {
  const auto denominator = [&]() -> ValueId {
    if (const Node* ratio = g.binary(root, BinaryKind::kDiv)) return ratio->inputs[1];
    const Node* product = g.made_by(root, Op::kMul);
    const Node* inverse = product ? g.unary(product->inputs[1], UnaryKind::kReciprocal) : nullptr;
    return inverse ? inverse->inputs[0] : kNoValue;
  }();
  const auto sum = denominator == kNoValue ? std::nullopt : g.shifted(denominator);
  const Node* sqrt = sum ? g.unary(sum->x, UnaryKind::kSqrt) : nullptr;
  std::vector<ValueId> interior;
  if (!sqrt || !averaged(g, sqrt->inputs[0], interior)) return false;
  return g.refuse(root, "eps_inside", "eps is added to the root, a norm adds it under the root");
}

void write_norm(Editor& g, ValueId root, const Node& norm, std::vector<ValueId> interior) {
  interior.push_back(root);
  g.replace(root, g.add(norm.op, norm.attrs, norm.inputs, shared_path(g, interior)));
}

// Whether `id` is x - mean(x).
std::optional<ValueId> centred(const Editor& g, ValueId id, std::vector<ValueId>& interior) {
  const Node* difference = g.binary(id, BinaryKind::kSub);
  if (!difference) return std::nullopt;
  const auto x = averaged(g, difference->inputs[1], interior);
  if (!x || *x != difference->inputs[0]) return std::nullopt;
  interior.push_back(id);
  return x;
}

}  // namespace

bool rms_norm_core(Editor& g, ValueId root) {
  auto ratio = over_root(g, root);
  if (!ratio) return refuse_eps_outside(g, root);
  const auto [statistic, eps] = with_eps(g, ratio->radicand, ratio->interior);
  const ValueId x = ratio->numerator;
  if (eps < 0 || g.shape(x) != g.shape(root) || !is_mean_square(g, statistic, x, ratio->interior)) return false;
  if (!g.closed(root, ratio->interior)) return false;
  const RmsNormAttrs attrs{.eps = static_cast<float>(eps)};
  write_norm(g, root, {Op::kRmsNorm, attrs, {x, g.constant(1)}, kNoValue, ""}, ratio->interior);
  return true;
}

bool layer_norm_core(Editor& g, ValueId root) {
  const Node* norm = g.made_by(root, Op::kRmsNorm);
  if (!norm) return false;
  const RmsNormAttrs attrs = g.attrs<RmsNormAttrs>(*norm);
  if (attrs.one_plus_weight || attrs.round_before_weight) return false;
  std::vector<ValueId> interior;
  const auto x = centred(g, norm->inputs[0], interior);
  if (!x || !g.closed(root, interior)) return false;
  write_norm(g, root, {Op::kLayerNorm, LayerNormAttrs{attrs.eps}, {*x, norm->inputs[1]}, kNoValue, ""}, interior);
  return true;
}

// The same variance as a difference of moments. Ours is computed without its cancellation.
bool layer_norm_moments(Editor& g, ValueId root) {
  auto ratio = over_root(g, root);
  if (!ratio) return false;
  std::vector<ValueId>& interior = ratio->interior;
  const auto x = centred(g, ratio->numerator, interior);
  const auto [variance, eps] = with_eps(g, ratio->radicand, interior);
  const Node* difference = g.binary(variance, BinaryKind::kSub);
  const Node* square = difference ? g.unary(difference->inputs[1], UnaryKind::kSquare) : nullptr;
  if (!x || eps < 0 || !square || !is_mean_square(g, difference->inputs[0], *x, interior)) return false;
  interior.insert(interior.end(), {variance, square->output});
  if (averaged(g, square->inputs[0], interior) != x || !g.closed(root, interior)) return false;
  const LayerNormAttrs attrs{static_cast<float>(eps)};
  write_norm(g, root, {Op::kLayerNorm, attrs, {*x, g.constant(1)}, kNoValue, ""}, interior);
  return true;
}

}  // namespace atb::recognising
