#include "fusion/families.h"

#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

namespace atb::testing {
namespace {

constexpr int64_t kHidden = 32, kHeads = 4, kHeadDim = 8, kIntermediate = 48;

// Primitive operators under the path of the module that they belong to. Every node is made in a statement of its own:
// the order of arguments is the compiler's choice, the order of nodes must not be.
class Module {
 public:
  explicit Module(const char* name) : g_(name) { x_ = input("hidden", {tokens(), kHidden}); }

  ValueId x() const { return x_; }
  static Dim tokens() { return Dim::symbol("tokens"); }
  void at(const std::string& path) { path_ = "layers.0." + path; }
  Graph finish(ValueId y) {
    g_.output("hidden", y);
    return std::move(g_);
  }

  ValueId input(const std::string& name, Shape shape) { return g_.input(name, DType::kF32, std::move(shape)); }
  ValueId param(const std::string& name, Shape shape) { return g_.param(path_ + "." + name, DType::kF32, shape); }
  ValueId number(double c) { return g_.constant(c); }
  ValueId op(Op op, Attrs attrs, std::vector<ValueId> inputs) {
    return g_.add(op, std::move(attrs), std::move(inputs), path_);
  }

  ValueId add(ValueId a, ValueId b) { return op(Op::kAdd, NoAttrs{}, {a, b}); }
  ValueId mul(ValueId a, ValueId b) { return op(Op::kMul, NoAttrs{}, {a, b}); }
  ValueId scaled(ValueId a, double c) { return mul(a, number(c)); }
  ValueId unary(UnaryKind kind, ValueId a) { return op(Op::kUnary, UnaryAttrs{kind}, {a}); }
  ValueId binary(BinaryKind kind, ValueId a, ValueId b) { return op(Op::kBinary, BinaryAttrs{kind}, {a, b}); }
  ValueId act(ActivationKind kind, ValueId a) { return op(Op::kActivation, ActivationAttrs{kind}, {a}); }
  ValueId mean(ValueId a) { return op(Op::kReduce, ReduceAttrs{}, {a}); }
  ValueId cast(ValueId a) { return op(Op::kCast, CastAttrs{DType::kF32}, {a}); }
  ValueId reshape(ValueId a, std::vector<int64_t> shape) { return op(Op::kReshape, ReshapeAttrs{shape}, {a}); }
  ValueId permute(ValueId a, std::vector<int64_t> axes) { return op(Op::kTranspose, TransposeAttrs{axes}, {a}); }
  ValueId slice(ValueId a, int64_t start, int64_t end, int64_t step = 1) {
    return op(Op::kSlice, SliceAttrs{-1, start, end, step}, {a});
  }
  ValueId concat(ValueId a, ValueId b) { return op(Op::kConcat, ConcatAttrs{-1}, {a, b}); }
  int64_t width(ValueId a) const { return g_.value(a).shape.back().constant(); }

  ValueId linear(ValueId a, const std::string& name, int64_t out, bool bias = false) {
    const std::string module = std::exchange(path_, path_ + "." + name);
    ValueId y = op(Op::kMatMul, MatMulAttrs{}, {a, param("weight", {out, width(a)})});
    if (bias) y = add(y, param("bias", {out}));
    path_ = module;
    return y;
  }
  // GPT-2's Conv1D: the weight is [in, out].
  ValueId conv1d(ValueId a, const std::string& name, int64_t out) {
    const std::string module = std::exchange(path_, path_ + "." + name);
    ValueId y = op(Op::kMatMul, MatMulAttrs{WeightLayout::kInOut}, {a, param("weight", {width(a), out})});
    y = add(y, param("bias", {out}));
    path_ = module;
    return y;
  }

  // LlamaRMSNorm: casts, pow, mean, rsqrt, weight last.
  ValueId rms_norm(ValueId a, const std::string& path, bool one_plus = false) {
    at(path);
    const ValueId f = cast(a), square = binary(BinaryKind::kPow, f, number(2));
    const ValueId variance = mean(square), root = unary(UnaryKind::kRsqrt, add(variance, number(1e-6)));
    const ValueId w = param("weight", {width(a)}), normed = mul(f, root);
    if (one_plus) {
      const ValueId one = number(1), scale = add(one, cast(w));
      return cast(mul(normed, scale));
    }
    return mul(w, cast(normed));
  }
  // A LayerNorm written out, as in models that do not call the library's.
  ValueId layer_norm(ValueId a, const std::string& path) {
    at(path);
    const ValueId centred = binary(BinaryKind::kSub, a, mean(a));
    const ValueId variance = mean(binary(BinaryKind::kPow, centred, number(2)));
    const ValueId root = unary(UnaryKind::kSqrt, add(variance, number(1e-12)));
    const ValueId normed = binary(BinaryKind::kDiv, centred, root);
    const ValueId weighted = mul(param("weight", {width(a)}), normed);
    return add(weighted, param("bias", {width(a)}));
  }

  ValueId gelu_erf(ValueId a) {
    const ValueId erf = unary(UnaryKind::kErf, binary(BinaryKind::kDiv, a, number(std::sqrt(2.0))));
    const ValueId half = scaled(a, 0.5), gate = add(number(1), erf);
    return mul(half, gate);
  }
  ValueId gelu_tanh(ValueId a) {
    const ValueId cube = binary(BinaryKind::kPow, a, number(3)), sum = add(a, mul(number(0.044715), cube));
    const ValueId tanh = act(ActivationKind::kTanh, mul(number(std::sqrt(2 / std::numbers::pi)), sum));
    const ValueId half = mul(number(0.5), a), gate = add(number(1), tanh);
    return mul(half, gate);
  }
  ValueId silu(ValueId a) { return mul(a, act(ActivationKind::kSigmoid, a)); }

  // Tables [tokens, width] for every layer.
  void tables(int64_t width, const std::string& kind = "") {
    cos_ = input("cos" + kind, {tokens(), width});
    sin_ = input("sin" + kind, {tokens(), width});
  }
  ValueId rotate_half(ValueId a) {
    const int64_t n = width(a);
    const ValueId first = slice(a, 0, n / 2), second = slice(a, n / 2, n);
    return concat(unary(UnaryKind::kNeg, second), first);
  }
  ValueId turn_half(ValueId a) {
    const ValueId straight = mul(a, cos_), turned = mul(rotate_half(a), sin_);
    return add(straight, turned);
  }
  // GLM: neighbours, on the first half of the head; the tables hold each angle twice, in halves.
  ValueId turn_neighbours(ValueId a) {
    const int64_t n = width(a), r = n / 2;
    const auto each_twice = [&](ValueId table) {
      return op(Op::kRepeat, RepeatAttrs{-1, 2}, {slice(table, 0, r / 2)});
    };
    const ValueId cos = each_twice(cos_), sin = each_twice(sin_), part = slice(a, 0, r), rest = slice(a, r, n);
    const auto column = [&](ValueId v) { return reshape(v, {-1, -1, r / 2, 1}); };
    const ValueId odd = unary(UnaryKind::kNeg, slice(part, 1, r, 2)), even = slice(part, 0, r, 2);
    const ValueId first = column(odd), second = column(even);
    const ValueId turned = mul(reshape(concat(first, second), {-1, -1, r}), sin), straight = mul(part, cos);
    return concat(add(straight, turned), rest);
  }

  // [tokens, n*d] -> [n, tokens, d]
  ValueId heads(ValueId a) { return permute(reshape(a, {-1, width(a) / kHeadDim, kHeadDim}), {1, 0, 2}); }
  ValueId merged(ValueId o) { return reshape(permute(o, {1, 0, 2}), {-1, kHidden}); }
  ValueId repeated(ValueId kv, int64_t times) { return op(Op::kRepeat, RepeatAttrs{0, times}, {kv}); }
  ValueId mask(const std::string& kind = "") { return input("attention_mask" + kind, {1, tokens(), tokens()}); }

  // Eager attention of the library: product, scale, cap, bias, softmax in fp32, product.
  ValueId attend(ValueId q, ValueId k, ValueId v, double scale, ValueId bias, double softcap = 0) {
    at("attn.scores");
    ValueId s = op(Op::kMatMul, MatMulAttrs{WeightLayout::kInOut}, {q, permute(k, {0, 2, 1})});
    s = scaled(s, scale);
    if (softcap > 0) {
      const ValueId tanh = act(ActivationKind::kTanh, binary(BinaryKind::kDiv, s, number(softcap)));
      s = scaled(tanh, softcap);
    }
    if (bias != kNoValue) s = add(s, bias);
    at("attn.softmax");
    const ValueId p = cast(op(Op::kSoftmax, NoAttrs{}, {cast(s)}));
    at("attn.values");
    const ValueId o = merged(op(Op::kMatMul, MatMulAttrs{WeightLayout::kInOut}, {p, v}));
    at("attn");
    return o;
  }
  ValueId residual(const std::string& block, ValueId a, ValueId b) {
    at(block + ".residual");
    return add(a, b);
  }
  // down(act(gate(f)) * up(f)), from two products.
  ValueId gated(ValueId f, ActivationKind kind) {
    at("mlp");
    const ValueId gate = linear(f, "gate", kIntermediate), up = linear(f, "up", kIntermediate);
    at("mlp.act");
    const ValueId activated = kind == ActivationKind::kSilu ? silu(gate) : gelu_tanh(gate);
    at("mlp.mul");
    const ValueId hidden = mul(activated, up);
    at("mlp");
    return linear(hidden, "down", kHidden);
  }
  // The same from the halves of one, with the operands in the order of the library's chunk.
  ValueId packed_gated(ValueId f) {
    at("mlp");
    const ValueId packed = linear(f, "gate_up", 2 * kIntermediate);
    const ValueId gate = slice(packed, 0, kIntermediate), up = slice(packed, kIntermediate, 2 * kIntermediate);
    at("mlp.act");
    const ValueId activated = silu(gate);
    at("mlp.mul");
    const ValueId hidden = mul(up, activated);
    at("mlp");
    return linear(hidden, "down", kHidden);
  }

 private:
  Graph g_;
  std::string path_;
  ValueId x_, cos_ = kNoValue, sin_ = kNoValue;
};

const double kScale = 1 / std::sqrt(static_cast<double>(kHeadDim));

Graph llama() {
  Module m("llama");
  m.tables(kHeadDim);
  const ValueId mask = m.mask(), n = m.rms_norm(m.x(), "attn_norm");
  m.at("attn");
  const ValueId q = m.heads(m.linear(n, "q", kHidden)), k = m.heads(m.linear(n, "k", kHidden / 2));
  const ValueId v = m.heads(m.linear(n, "v", kHidden / 2));
  m.at("attn.rope");
  const ValueId rq = m.turn_half(q), rk = m.repeated(m.turn_half(k), 2), rv = m.repeated(v, 2);
  const ValueId o = m.linear(m.attend(rq, rk, rv, kScale, mask), "o", kHidden);
  const ValueId h = m.residual("attn", m.x(), o), f = m.rms_norm(h, "mlp_norm");
  return m.finish(m.residual("mlp", h, m.gated(f, ActivationKind::kSilu)));
}

Graph gpt2() {
  Module m("gpt2");
  const ValueId mask = m.mask(), n = m.layer_norm(m.x(), "ln_1");
  m.at("attn");
  const ValueId packed = m.conv1d(n, "c_attn", 3 * kHidden);
  const auto part = [&](int64_t i) { return m.heads(m.slice(packed, i * kHidden, (i + 1) * kHidden)); };
  const ValueId q = part(0), k = part(1), v = part(2);
  const ValueId o = m.conv1d(m.attend(q, k, v, kScale, mask), "c_proj", kHidden);
  const ValueId h = m.residual("attn", o, m.x()), f = m.layer_norm(h, "ln_2");
  m.at("mlp");
  const ValueId up = m.conv1d(f, "c_fc", kIntermediate);
  m.at("mlp.act");
  const ValueId activated = m.gelu_tanh(up);
  m.at("mlp");
  return m.finish(m.residual("mlp", h, m.conv1d(activated, "c_proj", kHidden)));
}

Graph bert() {
  Module m("bert");
  const ValueId mask = m.mask();
  m.at("attn");
  const auto projected = [&](const char* name) { return m.heads(m.linear(m.x(), name, kHidden, true)); };
  const ValueId q = projected("q"), k = projected("k"), v = projected("v");
  const ValueId o = m.linear(m.attend(q, k, v, kScale, mask), "o", kHidden, true);
  const ValueId h = m.layer_norm(m.residual("attn", o, m.x()), "attn_norm");
  m.at("mlp");
  const ValueId up = m.linear(h, "up", kIntermediate, true);
  m.at("mlp.act");
  const ValueId activated = m.gelu_erf(up);
  m.at("mlp");
  const ValueId down = m.linear(activated, "down", kHidden, true);
  return m.finish(m.layer_norm(m.residual("mlp", down, h), "mlp_norm"));
}

Graph glm4() {
  Module m("glm4");
  m.tables(kHeadDim / 2);
  const ValueId mask = m.mask(), n = m.rms_norm(m.x(), "attn_norm");
  m.at("attn");
  const ValueId q = m.heads(m.linear(n, "q", kHidden, true)), k = m.heads(m.linear(n, "k", kHidden / 2, true));
  const ValueId v = m.heads(m.linear(n, "v", kHidden / 2, true));
  m.at("attn.rope");
  const ValueId rq = m.turn_neighbours(q), rk = m.repeated(m.turn_neighbours(k), 2), rv = m.repeated(v, 2);
  const ValueId o = m.linear(m.attend(rq, rk, rv, kScale, mask), "o", kHidden);
  const ValueId h = m.residual("attn", m.x(), m.rms_norm(o, "attn_post_norm")), f = m.rms_norm(h, "mlp_norm");
  const ValueId y = m.rms_norm(m.packed_gated(f), "mlp_post_norm");
  return m.finish(m.residual("mlp", h, y));
}

// 7B rotates, 13B adds ALiBi; both pack q, k and v, and unflatten them.
Graph baichuan(const char* name, bool alibi) {
  Module m(name);
  if (!alibi) m.tables(kHeadDim);
  const ValueId bias = alibi ? m.input("alibi_mask", {kHeads, Module::tokens(), Module::tokens()}) : m.mask();
  const ValueId n = m.rms_norm(m.x(), "attn_norm");
  m.at("attn");
  const ValueId packed = m.reshape(m.linear(n, "W_pack", 3 * kHidden), {-1, 3, kHidden});
  const auto part = [&](int64_t i) {
    return m.heads(m.reshape(m.op(Op::kSlice, SliceAttrs{1, i, i + 1, 1}, {packed}), {-1, kHidden}));
  };
  ValueId q = part(0), k = part(1);
  const ValueId v = part(2);
  m.at("attn.rope");
  if (!alibi) {
    q = m.turn_half(q);
    k = m.turn_half(k);
  }
  const ValueId o = m.linear(m.attend(q, k, v, kScale, bias), "o", kHidden);
  const ValueId h = m.residual("attn", m.x(), o), f = m.rms_norm(h, "mlp_norm");
  return m.finish(m.residual("mlp", h, m.gated(f, ActivationKind::kSilu)));
}
Graph baichuan_7b() { return baichuan("baichuan_7b", false); }
Graph baichuan_13b() { return baichuan("baichuan_13b", true); }

// 2 caps the scores; 3 norms q and k, and its local layers have tables and masks of their own.
enum class Gemma { k2, k3Local, k3Global };
Graph gemma(const char* name, Gemma kind) {
  Module m(name);
  const bool qk_norm = kind != Gemma::k2;
  const std::string tables = kind == Gemma::k3Local ? "_local" : "";
  m.tables(kHeadDim, tables);
  const ValueId mask = m.mask(tables);
  m.at("embed_scale");
  const ValueId x = m.scaled(m.x(), std::sqrt(static_cast<double>(kHidden))), n = m.rms_norm(x, "attn_norm", true);
  m.at("attn");
  ValueId q = m.heads(m.linear(n, "q", kHidden)), k = m.heads(m.linear(n, "k", kHidden / 2));
  const ValueId v = m.heads(m.linear(n, "v", kHidden / 2));
  if (qk_norm) {
    q = m.rms_norm(q, "attn.q_norm", true);
    k = m.rms_norm(k, "attn.k_norm", true);
  }
  m.at("attn.rope");
  const ValueId rq = m.turn_half(q), rk = m.repeated(m.turn_half(k), 2), rv = m.repeated(v, 2);
  const ValueId o = m.linear(m.attend(rq, rk, rv, kScale, mask, qk_norm ? 0 : 50), "o", kHidden);
  const ValueId h = m.residual("attn", x, m.rms_norm(o, "attn_post_norm", true)), f = m.rms_norm(h, "mlp_norm", true);
  const ValueId y = m.rms_norm(m.gated(f, ActivationKind::kGeluTanh), "mlp_post_norm", true);
  return m.finish(m.residual("mlp", h, y));
}
Graph gemma2() { return gemma("gemma2", Gemma::k2); }
Graph gemma3_local() { return gemma("gemma3_local", Gemma::k3Local); }
Graph gemma3_global() { return gemma("gemma3_global", Gemma::k3Global); }

Graph qwen3() {
  Module m("qwen3");
  m.tables(kHeadDim);
  const ValueId mask = m.mask(), n = m.rms_norm(m.x(), "attn_norm");
  const auto normed_heads = [&](const std::string& name, int64_t width) {
    m.at("attn");
    const ValueId split = m.reshape(m.linear(n, name, width), {-1, width / kHeadDim, kHeadDim});
    return m.permute(m.rms_norm(split, "attn." + name + "_norm"), {1, 0, 2});
  };
  const ValueId q = normed_heads("q", kHidden), k = normed_heads("k", kHidden / 2);
  m.at("attn");
  const ValueId v = m.heads(m.linear(n, "v", kHidden / 2));
  m.at("attn.rope");
  const ValueId rq = m.turn_half(q), rk = m.repeated(m.turn_half(k), 2), rv = m.repeated(v, 2);
  const ValueId o = m.linear(m.attend(rq, rk, rv, kScale, mask), "o", kHidden);
  const ValueId h = m.residual("attn", m.x(), o), f = m.rms_norm(h, "mlp_norm");
  return m.finish(m.residual("mlp", h, m.gated(f, ActivationKind::kSilu)));
}

// Half of each head turns, the rest passes.
Graph phi3() {
  Module m("phi3");
  m.tables(kHeadDim / 2);
  const ValueId mask = m.mask(), n = m.rms_norm(m.x(), "attn_norm");
  m.at("attn");
  const ValueId packed = m.linear(n, "qkv", 2 * kHidden);
  const auto part = [&](int64_t start, int64_t end) { return m.heads(m.slice(packed, start, end)); };
  const ValueId q = part(0, kHidden), k = part(kHidden, kHidden * 3 / 2), v = part(kHidden * 3 / 2, kHidden * 2);
  m.at("attn.rope");
  const auto turned = [&](ValueId a) {
    const ValueId first = m.slice(a, 0, kHeadDim / 2), rest = m.slice(a, kHeadDim / 2, kHeadDim);
    return m.concat(m.turn_half(first), rest);
  };
  const ValueId rq = turned(q), rk = m.repeated(turned(k), 2), rv = m.repeated(v, 2);
  const ValueId o = m.linear(m.attend(rq, rk, rv, kScale, mask), "o", kHidden);
  const ValueId h = m.residual("attn", m.x(), o), f = m.rms_norm(h, "mlp_norm");
  return m.finish(m.residual("mlp", h, m.packed_gated(f)));
}

constexpr Family kFamilies[] = {{"llama", llama},
                                {"gpt2", gpt2},
                                {"bert", bert},
                                {"glm4", glm4},
                                {"baichuan_7b", baichuan_7b},
                                {"baichuan_13b", baichuan_13b},
                                {"gemma2", gemma2},
                                {"gemma3_local", gemma3_local},
                                {"gemma3_global", gemma3_global},
                                {"qwen3", qwen3},
                                {"phi3", phi3}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

Graph stacked(const Graph& layer, int64_t count) {
  const std::string first = "layers.0.";
  Graph g(layer.name());
  ValueId stream = kNoValue;
  for (int64_t i = 0; i < count; ++i) {
    const auto here = [&](const std::string& name) {
      return name.starts_with(first) ? "layers." + std::to_string(i) + "." + name.substr(first.size()) : name;
    };
    std::vector<ValueId> copies;
    for (const Value& v : layer.values()) {
      if (v.kind == ValueKind::kResult) {
        const Node& node = layer.node(v.producer);
        std::vector<ValueId> inputs;
        for (const ValueId input : node.inputs) inputs.push_back(copies[static_cast<size_t>(input)]);
        copies.push_back(g.add(node.op, node.attrs, std::move(inputs), here(node.path)));
      } else if (v.kind == ValueKind::kConstant) {
        copies.push_back(g.constant(v.constant, v.dtype));
      } else if (v.kind == ValueKind::kParam) {
        copies.push_back(g.param(here(v.tensor), v.dtype, v.shape));
      } else if (v.tensor == "hidden" && i > 0) {
        copies.push_back(stream);
      } else {
        copies.push_back(i == 0 ? g.input(v.tensor, v.dtype, v.shape) : *g.find_tensor(v.tensor));
      }
    }
    stream = copies[static_cast<size_t>(layer.outputs().front().second)];
  }
  g.output("hidden", stream);
  return g;
}

}  // namespace atb::testing
