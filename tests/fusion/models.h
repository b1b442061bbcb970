// Small graphs shaped like the layers of known models, for the tests of fusion.
#pragma once

#include <atb/graph.h>

#include <string>

namespace atb::test {

struct LlamaShape {
  int64_t layers = 1, hidden = 576, heads = 9, kv_heads = 3, head_dim = 64, intermediate = 1536, vocab = 1000;
  DType dtype = DType::kBF16;
};

/// LLaMA: pre-norm, rotated queries and keys, a gated MLP.
inline Graph llama(const LlamaShape& m = {}) {
  Graph g("llama");
  const Dim tokens = Dim::symbol("tokens");
  const ValueId positions = g.input("positions", DType::kI32, {tokens});
  const ValueId ids = g.input("tokens", DType::kI32, {tokens});
  const auto weight = [&](const std::string& name, Shape shape) { return g.param(name + ".weight", m.dtype, shape); };
  const auto linear = [&](ValueId x, const std::string& path, int64_t out, int64_t in) {
    return matmul(g, x, weight(path, {out, in}), path);
  };
  const auto norm = [&](ValueId x, const std::string& path) {
    return rms_norm(g, x, weight(path, {m.hidden}), {}, path);
  };
  ValueId x = embedding(g, weight("embed", {m.vocab, m.hidden}), ids, "embed");
  for (int64_t i = 0; i < m.layers; ++i) {
    const std::string layer = "layers." + std::to_string(i), attn = layer + ".attn", mlp = layer + ".mlp";
    const int64_t q_size = m.heads * m.head_dim, kv_size = m.kv_heads * m.head_dim;
    const RopeAttrs rotation{.head_dim = m.head_dim, .rotary_dim = m.head_dim};
    const ValueId n = norm(x, layer + ".attn_norm");
    ValueId q = linear(n, attn + ".q", q_size, m.hidden), k = linear(n, attn + ".k", kv_size, m.hidden);
    ValueId v = linear(n, attn + ".v", kv_size, m.hidden);
    q = rope(g, q, positions, rotation, attn + ".q_rope");
    k = rope(g, k, positions, rotation, attn + ".k_rope");
    k = kv_append(g, g.state(layer + ".k", m.dtype, {Dim::symbol("past"), kv_size}), k, attn + ".k_cache");
    v = kv_append(g, g.state(layer + ".v", m.dtype, {Dim::symbol("past"), kv_size}), v, attn + ".v_cache");
    const ScoresAttrs scoring{.heads = m.heads, .kv_heads = m.kv_heads, .head_dim = m.head_dim, .causal = true};
    const ValueId p = softmax(g, scores(g, q, k, scoring, attn + ".scores"), attn + ".softmax");
    const ValueId o = values(g, p, v, {m.heads, m.kv_heads, m.head_dim}, attn + ".values");
    x = add(g, x, linear(o, attn + ".o", m.hidden, q_size), attn + ".residual");
    const ValueId h = norm(x, layer + ".mlp_norm");
    const ValueId gate = linear(h, mlp + ".gate", m.intermediate, m.hidden);
    const ValueId up = linear(h, mlp + ".up", m.intermediate, m.hidden);
    const ValueId hidden = mul(g, activation(g, gate, ActivationKind::kSilu, mlp + ".act"), up, mlp + ".mul");
    x = add(g, x, linear(hidden, mlp + ".down", m.hidden, m.intermediate), mlp + ".residual");
  }
  x = norm(x, "norm");
  g.output("logits", matmul(g, x, weight("lm_head", {m.vocab, m.hidden}), "lm_head"));
  return g;
}

}  // namespace atb::test
