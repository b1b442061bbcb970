#include <atb/graph.h>

namespace atb {
namespace {

std::vector<ValueId> with_optional(std::vector<ValueId> inputs, ValueId last) {
  if (last != kNoValue) inputs.push_back(last);
  return inputs;
}

}  // namespace

ValueId embedding(Graph& g, ValueId table, ValueId ids, std::string path) {
  return g.add(Op::kEmbedding, NoAttrs{}, {table, ids}, std::move(path));
}

ValueId matmul(Graph& g, ValueId x, ValueId w, std::string path, WeightLayout layout) {
  return g.add(Op::kMatMul, MatMulAttrs{layout}, {x, w}, std::move(path));
}

ValueId add(Graph& g, ValueId a, ValueId b, std::string path) {
  return g.add(Op::kAdd, NoAttrs{}, {a, b}, std::move(path));
}

ValueId mul(Graph& g, ValueId a, ValueId b, std::string path) {
  return g.add(Op::kMul, NoAttrs{}, {a, b}, std::move(path));
}

ValueId layer_norm(Graph& g, ValueId x, ValueId w, ValueId b, LayerNormAttrs attrs, std::string path) {
  return g.add(Op::kLayerNorm, attrs, with_optional({x, w}, b), std::move(path));
}

ValueId rms_norm(Graph& g, ValueId x, ValueId w, RmsNormAttrs attrs, std::string path) {
  return g.add(Op::kRmsNorm, attrs, {x, w}, std::move(path));
}

ValueId activation(Graph& g, ValueId x, ActivationKind kind, std::string path) {
  return g.add(Op::kActivation, ActivationAttrs{kind}, {x}, std::move(path));
}

ValueId rope(Graph& g, ValueId x, ValueId positions, RopeAttrs attrs, std::string path, ValueId frequency_divisors) {
  return g.add(Op::kRope, attrs, with_optional({x, positions}, frequency_divisors), std::move(path));
}

ValueId kv_append(Graph& g, ValueId state, ValueId x, std::string path) {
  return g.add(Op::kKvAppend, NoAttrs{}, {state, x}, std::move(path));
}

ValueId scores(Graph& g, ValueId q, ValueId k, ScoresAttrs attrs, std::string path, ValueId mask) {
  return g.add(Op::kScores, attrs, with_optional({q, k}, mask), std::move(path));
}

ValueId softmax(Graph& g, ValueId x, std::string path) { return g.add(Op::kSoftmax, NoAttrs{}, {x}, std::move(path)); }

ValueId values(Graph& g, ValueId p, ValueId v, ValuesAttrs attrs, std::string path) {
  return g.add(Op::kValues, attrs, {p, v}, std::move(path));
}

ValueId cast(Graph& g, ValueId x, DType dtype, std::string path) {
  return g.add(Op::kCast, CastAttrs{dtype}, {x}, std::move(path));
}

ValueId take_rows(Graph& g, ValueId x, ValueId indices, std::string path) {
  return g.add(Op::kTakeRows, NoAttrs{}, {x, indices}, std::move(path));
}

}  // namespace atb
