// LLaMA (Touvron et al. 2023) and the models built like it: SmolLM, SmolLM2, Mistral.
//
//   x = embed(tokens)
//   for each layer:  x = x + attention(norm(x));  x = x + mlp(norm(x))
//   logits = lm_head(norm(x))
#include <atb/error.h>
#include <fmt/format.h>

#include <cmath>

#include "base/text.h"
#include "models/config.h"
#include "models/model.h"
#include "models/rope_config.h"
#include "models/weights.h"

namespace atb {
namespace {

constexpr TensorName kNames[] = {
    {"embed.weight", "token_embd.weight", "model.embed_tokens.weight"},
    {"layers.*.attn_norm.weight", "blk.*.attn_norm.weight", "model.layers.*.input_layernorm.weight"},
    {"layers.*.attn.q.weight", "blk.*.attn_q.weight", "model.layers.*.self_attn.q_proj.weight"},
    {"layers.*.attn.k.weight", "blk.*.attn_k.weight", "model.layers.*.self_attn.k_proj.weight"},
    {"layers.*.attn.v.weight", "blk.*.attn_v.weight", "model.layers.*.self_attn.v_proj.weight"},
    {"layers.*.attn.o.weight", "blk.*.attn_output.weight", "model.layers.*.self_attn.o_proj.weight"},
    {"layers.*.attn.q.bias", "blk.*.attn_q.bias", "model.layers.*.self_attn.q_proj.bias"},
    {"layers.*.attn.k.bias", "blk.*.attn_k.bias", "model.layers.*.self_attn.k_proj.bias"},
    {"layers.*.attn.v.bias", "blk.*.attn_v.bias", "model.layers.*.self_attn.v_proj.bias"},
    {"layers.*.attn.o.bias", "blk.*.attn_output.bias", "model.layers.*.self_attn.o_proj.bias"},
    {"layers.*.mlp_norm.weight", "blk.*.ffn_norm.weight", "model.layers.*.post_attention_layernorm.weight"},
    {"layers.*.mlp.gate.weight", "blk.*.ffn_gate.weight", "model.layers.*.mlp.gate_proj.weight"},
    {"layers.*.mlp.up.weight", "blk.*.ffn_up.weight", "model.layers.*.mlp.up_proj.weight"},
    {"layers.*.mlp.down.weight", "blk.*.ffn_down.weight", "model.layers.*.mlp.down_proj.weight"},
    {"layers.*.mlp.gate.bias", "blk.*.ffn_gate.bias", "model.layers.*.mlp.gate_proj.bias"},
    {"layers.*.mlp.up.bias", "blk.*.ffn_up.bias", "model.layers.*.mlp.up_proj.bias"},
    {"layers.*.mlp.down.bias", "blk.*.ffn_down.bias", "model.layers.*.mlp.down_proj.bias"},
    {"norm.weight", "output_norm.weight", "model.norm.weight"},
    {"lm_head.weight", "output.weight", "lm_head.weight"},
    {"rope_factors", "rope_freqs.weight", nullptr},
};

struct ActivationName {
  const char* name;
  ActivationKind kind;
};
constexpr ActivationName kActivations[] = {
    {"silu", ActivationKind::kSilu},         {"swish", ActivationKind::kSilu},
    {"gelu", ActivationKind::kGelu},         {"gelu_pytorch_tanh", ActivationKind::kGeluTanh},
    {"gelu_new", ActivationKind::kGeluTanh}, {"quick_gelu", ActivationKind::kGeluQuick},
    {"relu", ActivationKind::kRelu},
};

/// Whether a projection adds a bias. GGUF has no flag for it: what is in the file counts.
enum class Bias { kNone, kIfPresent, kRequired };

struct LlamaConfig {
  ModelInfo info;
  float norm_eps = 0;
  ActivationKind activation = ActivationKind::kSilu;
  RopeAttrs rope;
  int64_t window = 0;  ///< 0: every position is seen
  Bias attention_bias = Bias::kIfPresent, mlp_bias = Bias::kIfPresent;
  bool tied = true;  ///< lm_head may be the embedding table
};

void read_heads(const Config& config, ModelInfo& info) {
  namespace keys = config_keys;
  info.heads = config.require_size(keys::kHeads);
  info.kv_heads = config.get_size(keys::kKvHeads).value_or(info.heads);
  if (info.heads % info.kv_heads != 0) {
    config.fail(keys::kKvHeads, fmt::format("{} query heads for {} key-value heads", info.heads, info.kv_heads),
                "query heads must be a multiple of key-value heads");
  }
  const std::optional<int64_t> head_dim = config.get_size(keys::kHeadDim);
  if (!head_dim && info.hidden_size % info.heads != 0) {
    config.fail(keys::kHeads, fmt::format("hidden size {} does not divide by {}", info.hidden_size, info.heads),
                "the head dimension must be stated or follow from both");
  }
  info.head_dim = head_dim.value_or(info.hidden_size / info.heads);
  if (const auto values = config.get_size(keys::kValueHeadDim); values.value_or(info.head_dim) != info.head_dim) {
    config.fail(keys::kValueHeadDim, fmt::format("{} found, {} expected", *values, info.head_dim),
                "values narrower or wider than keys are not supported");
  }
}

ModelInfo read_sizes(const Config& config, const ModelFile& file, const Weights& weights) {
  namespace keys = config_keys;
  ModelInfo info;
  info.architecture = "llama";
  info.layers = config.require_size(keys::kLayers);
  info.hidden_size = config.require_size(keys::kHiddenSize);
  info.intermediate_size = config.require_size(keys::kIntermediateSize);
  read_heads(config, info);
  const std::vector<int64_t>& table = weights.require("embed.weight").shape;
  info.vocab_size = config.get_size(keys::kVocabSize).value_or(table.empty() ? 0 : table.front());
  info.context_length = config.require_size(keys::kContextLength);
  info.weight_types = summarize_types(file.tensors());
  info.parameters = count_parameters(file.tensors());
  return info;
}

ActivationKind read_activation(const Config& config) {
  constexpr ConfigKey kKey = {nullptr, "hidden_act"};
  const std::string name = config.get_string(kKey).value_or("silu");
  std::vector<std::string> known;
  for (const ActivationName& row : kActivations) {
    if (name == row.name) return row.kind;
    known.emplace_back(row.name);
  }
  config.fail(kKey, "unknown activation '" + name + "'", "supported are " + join(known, ", "));
}

Bias read_bias(const Config& config, const char* flag) {
  if (config.is_gguf()) return Bias::kIfPresent;
  return config.get_bool({nullptr, flag}).value_or(false) ? Bias::kRequired : Bias::kNone;
}

void reject_unsupported(const Config& config) {
  constexpr ConfigKey kExperts = {"expert_count", nullptr}, kMethod = {nullptr, "quantization_config.quant_method"};
  if (config.get_int(kExperts).value_or(0) != 0) {
    config.fail(kExperts, "mixture-of-experts models are not supported", "use a dense model");
  }
  if (const auto method = config.get_string(kMethod)) {
    config.fail(kMethod, "weights quantised with '" + *method + "' are not supported",
                "use the unquantised folder or a GGUF file of the model");
  }
}

LlamaConfig read_config(const ModelFile& file, const Weights& weights) {
  namespace keys = config_keys;
  const Config config(file);
  reject_unsupported(config);
  LlamaConfig c;
  c.info = read_sizes(config, file, weights);
  const auto eps = config.get_positive(keys::kRmsNormEps);
  if (!eps && config.is_gguf()) config.fail(keys::kRmsNormEps, "the key is missing", "the file is incomplete");
  c.norm_eps = static_cast<float>(eps.value_or(1e-6));
  c.activation = read_activation(config);
  c.rope = read_rope(config, c.info.head_dim, c.info.context_length);
  if (config.get_int(keys::kWindow).value_or(0) != 0) c.window = *config.get_size(keys::kWindow);
  c.attention_bias = read_bias(config, "attention_bias");
  c.mlp_bias = read_bias(config, "mlp_bias");
  c.tied = config.is_gguf() || config.get_bool({nullptr, "tie_word_embeddings"}).value_or(false);
  return c;
}

class Llama {
 public:
  Llama(const LlamaConfig& config, const Weights& weights, DType kv_dtype, bool round_before_weight)
      : c_(config), m_(config.info), weights_(weights), kv_dtype_(kv_dtype) {
    norm_attrs_ = {.eps = config.norm_eps, .one_plus_weight = false, .round_before_weight = round_before_weight};
  }

  Graph build(bool fp32_activations) {
    const Dim tokens = Dim::symbol("tokens");
    const ValueId ids = g_.input("tokens", DType::kI32, {tokens});
    positions_ = g_.input("positions", DType::kI32, {tokens});
    const ValueId logit_rows = g_.input("logit_rows", DType::kI32, {Dim::symbol("outputs")});
    if (weights_.find("rope_factors") != nullptr) rope_factors_ = param("rope_factors", {c_.rope.rotary_dim / 2});

    const ValueId table = param("embed.weight", {m_.vocab_size, m_.hidden_size});
    ValueId x = embedding(g_, table, ids, "embed");  // [tokens, hidden]
    if (fp32_activations && g_.value(x).dtype != DType::kF32) x = cast(g_, x, DType::kF32, "embed.to_fp32");
    for (int64_t i = 0; i < m_.layers; ++i) x = layer(x, fmt::format("layers.{}", i));
    x = take_rows(g_, x, logit_rows, "wanted_rows");  // [outputs, hidden]
    x = norm(x, "norm");
    g_.output("logits", matmul(g_, x, head(table), "lm_head"));  // [outputs, vocab]
    return std::move(g_);
  }

 private:
  ValueId layer(ValueId x, const std::string& path) {
    const std::string attn = path + ".attn", mlp = path + ".mlp";
    x = add(g_, x, attention(norm(x, path + ".attn_norm"), attn, path), attn + ".residual");
    return add(g_, x, feed_forward(norm(x, path + ".mlp_norm"), mlp), mlp + ".residual");
  }

  /// x [tokens, hidden] -> [tokens, hidden]. Keys and values of all positions so far live in the states.
  ValueId attention(ValueId x, const std::string& path, const std::string& layer) {
    const int64_t q_size = m_.heads * m_.head_dim, kv_size = m_.kv_heads * m_.head_dim;
    ValueId q = linear(x, path + ".q", q_size, m_.hidden_size, c_.attention_bias);   // [tokens, heads*head_dim]
    ValueId k = linear(x, path + ".k", kv_size, m_.hidden_size, c_.attention_bias);  // [tokens, kv_heads*head_dim]
    ValueId v = linear(x, path + ".v", kv_size, m_.hidden_size, c_.attention_bias);
    q = rope(g_, q, positions_, c_.rope, path + ".q_rope", rope_factors_);
    k = rope(g_, k, positions_, c_.rope, path + ".k_rope", rope_factors_);
    k = kv_append(g_, cache(layer + ".k"), k, path + ".k_cache");  // [past+tokens, kv_heads*head_dim]
    v = kv_append(g_, cache(layer + ".v"), v, path + ".v_cache");
    const ScoresAttrs attrs = {.heads = m_.heads,
                               .kv_heads = m_.kv_heads,
                               .head_dim = m_.head_dim,
                               .scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(m_.head_dim))),
                               .causal = true,
                               .window = c_.window};
    const ValueId s = scores(g_, q, k, attrs, path + ".scores");  // [heads, tokens, past+tokens]
    const ValueId p = softmax(g_, s, path + ".softmax");
    const ValueId o = values(g_, p, v, {m_.heads, m_.kv_heads, m_.head_dim}, path + ".values");
    return linear(o, path + ".o", m_.hidden_size, q_size, c_.attention_bias);
  }

  /// down(act(gate(x)) * up(x)): x [tokens, hidden] -> [tokens, hidden].
  ValueId feed_forward(ValueId x, const std::string& path) {
    const ValueId gate = linear(x, path + ".gate", m_.intermediate_size, m_.hidden_size, c_.mlp_bias);
    const ValueId up = linear(x, path + ".up", m_.intermediate_size, m_.hidden_size, c_.mlp_bias);
    const ValueId hidden = mul(g_, activation(g_, gate, c_.activation, path + ".act"), up, path + ".mul");
    return linear(hidden, path + ".down", m_.hidden_size, m_.intermediate_size, c_.mlp_bias);
  }

  ValueId norm(ValueId x, const std::string& path) {
    return rms_norm(g_, x, param(path + ".weight", {m_.hidden_size}), norm_attrs_, path);
  }

  /// x [tokens, in] -> [tokens, out].
  ValueId linear(ValueId x, const std::string& path, int64_t out, int64_t in, Bias bias) {
    const ValueId y = matmul(g_, x, param(path + ".weight", {out, in}), path);
    const std::string name = path + ".bias";
    const bool present = bias == Bias::kRequired || (bias == Bias::kIfPresent && weights_.find(name) != nullptr);
    if (!present) return y;
    ValueId b = param(name, {out});
    const DType dtype = g_.value(y).dtype;
    if (g_.value(b).dtype != dtype) b = cast(g_, b, dtype, name);
    return add(g_, y, b, path + ".add_bias");
  }

  /// The file's lm_head, else the embedding table if the model ties the two.
  ValueId head(ValueId table) {
    if (c_.tied && weights_.find("lm_head.weight") == nullptr) return table;
    return param("lm_head.weight", {m_.vocab_size, m_.hidden_size});
  }

  ValueId cache(const std::string& name) {
    return g_.state(name, kv_dtype_, {Dim::symbol("past"), m_.kv_heads * m_.head_dim});
  }

  ValueId param(const std::string& name, const std::vector<int64_t>& shape) { return weights_.param(g_, name, shape); }

  const LlamaConfig& c_;
  const ModelInfo& m_;
  const Weights& weights_;
  DType kv_dtype_;
  RmsNormAttrs norm_attrs_;
  Graph g_{"llama"};
  ValueId positions_ = kNoValue, rope_factors_ = kNoValue;
};

}  // namespace

BuiltModel build_llama(const ModelFile& file, DType kv_dtype, bool fp32_activations) {
  const Weights weights(file, kNames);
  const LlamaConfig config = read_config(file, weights);
  // Hugging Face's norm rounds to the dtype of x before it multiplies by the weight.
  const bool round_before_weight = file.format() == ModelFormat::kHuggingFace;
  Graph graph = Llama(config, weights, kv_dtype, round_before_weight).build(fp32_activations);
  return {config.info, std::move(graph), [weights](const std::string& param) { return weights.require(param); }};
}

}  // namespace atb
