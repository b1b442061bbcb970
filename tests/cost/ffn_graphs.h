// Small graphs for the tests of the cost model.
#pragma once

#include <atb/graph.h>

#include <numeric>
#include <string>
#include <vector>

namespace atb::testing {

inline std::vector<NodeId> all_nodes(const Graph& g) {
  std::vector<NodeId> nodes(g.nodes().size());
  std::iota(nodes.begin(), nodes.end(), 0);
  return nodes;
}

struct FfnShape {
  int64_t hidden = 4096, intermediate = 11008;
  bool gated = true, residual = true;
  DType dtype = DType::kF16;
};

/// norm -> gate, up -> SiLU * up -> down -> residual; without a gate: norm -> up -> SiLU -> down.
inline Graph ffn(const FfnShape& s) {
  Graph g("ffn");
  const ValueId x = g.input("x", s.dtype, {Dim::symbol("tokens"), s.hidden});
  const ValueId n = rms_norm(g, x, g.param("norm", s.dtype, {s.hidden}), {}, "norm");
  const auto project = [&](ValueId v, const char* name, int64_t out, int64_t in) {
    return matmul(g, v, g.param(name, s.dtype, {out, in}), name);
  };
  const ValueId first = project(n, "gate", s.intermediate, s.hidden);
  ValueId h = kNoValue;
  if (s.gated) {
    const ValueId up = project(n, "up", s.intermediate, s.hidden);
    h = mul(g, activation(g, first, ActivationKind::kSilu, "act"), up, "mul");
  } else {
    h = activation(g, first, ActivationKind::kSilu, "act");
  }
  ValueId y = project(h, "down", s.hidden, s.intermediate);
  if (s.residual) y = add(g, y, x, "residual");
  g.output("y", y);
  return g;
}

/// Norm, Q, K, V with a cache, attention, output projection, residual; no rotary embedding.
inline Graph attention_block(int64_t hidden, int64_t heads, DType dtype = DType::kF16) {
  Graph g("attention");
  const ValueId x = g.input("x", dtype, {Dim::symbol("tokens"), hidden});
  const ValueId n = rms_norm(g, x, g.param("norm", dtype, {hidden}), {}, "norm");
  const auto project = [&](ValueId v, const char* name) {
    return matmul(g, v, g.param(name, dtype, {hidden, hidden}), name);
  };
  const Shape cache = {Dim::symbol("past"), hidden};
  const ValueId q = project(n, "q");
  const ValueId k = kv_append(g, g.state("cache.k", dtype, cache), project(n, "k"), "k_append");
  const ValueId v = kv_append(g, g.state("cache.v", dtype, cache), project(n, "v"), "v_append");
  const int64_t dim = hidden / heads;
  const ValueId s = scores(g, q, k, {.heads = heads, .kv_heads = heads, .head_dim = dim, .causal = true}, "scores");
  const ValueId o = values(g, softmax(g, s, "softmax"), v, {heads, heads, dim}, "values");
  g.output("y", add(g, project(o, "o"), x, "residual"));
  return g;
}

}  // namespace atb::testing
