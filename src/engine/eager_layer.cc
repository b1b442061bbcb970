#include "engine/eager_layer.h"

#include <algorithm>
#include <map>
#include <string>

namespace atb {
namespace {

constexpr int64_t kHidden = 4096, kIntermediate = 11008, kHeads = 32, kHeadDim = kHidden / kHeads;
constexpr DType kType = DType::kF16;

class EagerLayers {
 public:
  Graph build(int layers) {
    cos_ = g_.input("cos", kType, {tokens_, kHeadDim});
    sin_ = g_.input("sin", kType, {tokens_, kHeadDim});
    mask_ = g_.input("mask", kType, {tokens_, Dim::symbol("past") + tokens_});
    ValueId x = g_.input("x", kType, {tokens_, kHidden});
    for (int i = 0; i < layers; ++i) {
      layer_ = "layers." + std::to_string(i) + ".";
      x = add(g_, attention(norm(x, layer_ + "attn_norm")), x, layer_ + "attn.residual");
      x = add(g_, feed_forward(norm(x, layer_ + "mlp_norm")), x, layer_ + "mlp.residual");
    }
    g_.output("y", x);
    return std::move(g_);
  }

 private:
  /// x * rsqrt(mean(x^2) + eps), in fp32, then the weight: seven launches and a cast.
  ValueId norm(ValueId x, const std::string& path) {
    const ValueId wide = cast(g_, x, DType::kF32, path);
    const ValueId square = g_.add(Op::kUnary, UnaryAttrs{UnaryKind::kSquare}, {wide}, path);
    const ValueId mean = g_.add(Op::kReduce, ReduceAttrs{ReduceKind::kMean, -1}, {square}, path);
    const ValueId shifted = add(g_, mean, g_.constant(1e-5), path);
    const ValueId scale = g_.add(Op::kUnary, UnaryAttrs{UnaryKind::kRsqrt}, {shifted}, path);
    const ValueId normed = cast(g_, mul(g_, wide, scale, path), kType, path);
    return mul(g_, g_.param(path + ".weight", kType, {kHidden}), normed, path);
  }

  ValueId linear(ValueId x, int64_t out, int64_t in, const std::string& path) {
    return matmul(g_, x, g_.param(path + ".weight", kType, {out, in}), path);
  }

  /// [tokens, heads*head_dim] -> [heads, tokens, head_dim]
  ValueId split_heads(ValueId x, const std::string& path) {
    const ValueId heads = g_.add(Op::kReshape, ReshapeAttrs{{-1, kHeads, kHeadDim}}, {x}, path);
    return g_.add(Op::kTranspose, TransposeAttrs{{1, 0, 2}}, {heads}, path);
  }

  /// x * cos + rotate_half(x) * sin: five launches.
  ValueId rotate(ValueId x, const std::string& path) {
    const ValueId low = g_.add(Op::kSlice, SliceAttrs{2, 0, kHeadDim / 2}, {x}, path);
    const ValueId high = g_.add(Op::kSlice, SliceAttrs{2, kHeadDim / 2, kHeadDim}, {x}, path);
    const ValueId negated = g_.add(Op::kUnary, UnaryAttrs{UnaryKind::kNeg}, {high}, path);
    const ValueId half = g_.add(Op::kConcat, ConcatAttrs{2}, {negated, low}, path);
    return add(g_, mul(g_, x, cos_, path), mul(g_, half, sin_, path), path);
  }

  ValueId grow_cache(ValueId x, const std::string& name) {
    const ValueId past = g_.input(layer_ + name, kType, {kHeads, Dim::symbol("past"), kHeadDim});
    return g_.add(Op::kConcat, ConcatAttrs{1}, {past, x}, layer_ + "attn." + name);
  }

  ValueId attention(ValueId x) {
    const ValueId q =
        rotate(split_heads(linear(x, kHidden, kHidden, layer_ + "attn.q"), layer_ + "attn.q"), layer_ + "attn.q_rope");
    const ValueId k_new =
        rotate(split_heads(linear(x, kHidden, kHidden, layer_ + "attn.k"), layer_ + "attn.k"), layer_ + "attn.k_rope");
    const ValueId k = grow_cache(k_new, "k_cache");
    const ValueId v =
        grow_cache(split_heads(linear(x, kHidden, kHidden, layer_ + "attn.v"), layer_ + "attn.v"), "v_cache");
    const ValueId k_columns = g_.add(Op::kTranspose, TransposeAttrs{{0, 2, 1}}, {k}, layer_ + "attn.scores");
    const ValueId scores = matmul(g_, q, k_columns, layer_ + "attn.scores", WeightLayout::kInOut);
    const ValueId scale = g_.constant(0.08838834764831845, kType);  // 1 / sqrt(head_dim)
    const ValueId masked = add(g_, mul(g_, scores, scale, layer_ + "attn.scale"), mask_, layer_ + "attn.mask");
    const ValueId p = softmax(g_, cast(g_, masked, DType::kF32, layer_ + "attn.softmax"), layer_ + "attn.softmax");
    const ValueId o =
        matmul(g_, cast(g_, p, kType, layer_ + "attn.softmax"), v, layer_ + "attn.values", WeightLayout::kInOut);
    const ValueId rows = g_.add(Op::kTranspose, TransposeAttrs{{1, 0, 2}}, {o}, layer_ + "attn.values");
    return linear(g_.add(Op::kReshape, ReshapeAttrs{{-1, kHidden}}, {rows}, layer_ + "attn.values"), kHidden, kHidden,
                  layer_ + "attn.o");
  }

  ValueId feed_forward(ValueId x) {
    const ValueId gate = activation(g_, linear(x, kIntermediate, kHidden, layer_ + "mlp.gate"), ActivationKind::kSilu,
                                    layer_ + "mlp.act");
    const ValueId up = linear(x, kIntermediate, kHidden, layer_ + "mlp.up");
    return linear(mul(g_, gate, up, layer_ + "mlp.mul"), kHidden, kIntermediate, layer_ + "mlp.down");
  }

  Graph g_{"eager_layers"};
  std::string layer_;
  const Dim tokens_ = Dim::symbol("tokens");
  ValueId cos_ = kNoValue, sin_ = kNoValue, mask_ = kNoValue;
};

bool is_launch(const Node& node) { return op_info(node.op).kind != OpKind::kView; }

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Launches that go away when every norm takes in the addition before it and the products that read it.
int64_t launches_saved(const Graph& graph) {
  std::map<std::string, int64_t> size_of;  // of a norm's kernel, by the norm's path
  for (const Node& node : graph.nodes()) {
    const bool in_norm = ends_with(node.path, "_norm");
    if (in_norm) ++size_of[node.path];
    for (ValueId input : node.inputs) {
      const NodeId before = graph.value(input).producer;
      if (before == kNoNode) continue;
      const Node& producer = graph.node(before);
      if (in_norm && ends_with(producer.path, ".residual")) ++size_of[node.path];
      if (node.op == Op::kMatMul && ends_with(producer.path, "_norm")) ++size_of[producer.path];
    }
  }
  int64_t saved = 0;
  for (const auto& [path, size] : size_of) saved += size - 1;
  return saved;
}

int64_t kernels_of(int layers, bool norms_fused) {
  const Graph graph = eager_layers(layers);
  return std::count_if(graph.nodes().begin(), graph.nodes().end(), is_launch) -
         (norms_fused ? launches_saved(graph) : 0);
}

}  // namespace

Graph eager_layers(int layers) { return EagerLayers().build(layers); }

int64_t eager_kernels_per_layer(bool norms_fused) { return kernels_of(2, norms_fused) - kernels_of(1, norms_fused); }

}  // namespace atb
