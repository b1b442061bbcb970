// A LLaMA small enough for tests, with random weights, as it looks in both formats. Head dim times heads is not the
// hidden size, and two query heads share a key-value head.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "io/model_file.h"

namespace atb::testing {

struct TinyTensor {
  std::vector<int64_t> shape;
  std::vector<float> data;
};
using TinyTensors = std::map<std::string, TinyTensor>;

struct TinySizes {
  int64_t layers = 2, hidden = 64, heads = 4, kv_heads = 2, head_dim = 32, intermediate = 96, vocab = 128, context = 64;
};

inline TinyTensor random_tensor(std::mt19937& random, std::vector<int64_t> shape, float spread, float center = 0) {
  TinyTensor tensor{std::move(shape), {}};
  int64_t count = 1;
  for (int64_t n : tensor.shape) count *= n;
  std::normal_distribution<float> values(center, spread);
  for (int64_t i = 0; i < count; ++i) tensor.data.push_back(values(random));
  return tensor;
}

/// Weights named as in Hugging Face files; lm_head is untied.
inline TinyTensors tiny_tensors(const TinySizes& s) {
  std::mt19937 random(7);
  TinyTensors t;
  const auto matrix = [&](const std::string& name, int64_t out, int64_t in) {
    t[name] = random_tensor(random, {out, in}, 1.0f / std::sqrt(static_cast<float>(in)));
  };
  const auto norm = [&](const std::string& name) { t[name] = random_tensor(random, {s.hidden}, 0.1f, 1.0f); };
  matrix("model.embed_tokens.weight", s.vocab, s.hidden);
  for (int64_t i = 0; i < s.layers; ++i) {
    const std::string layer = "model.layers." + std::to_string(i) + ".";
    norm(layer + "input_layernorm.weight");
    matrix(layer + "self_attn.q_proj.weight", s.heads * s.head_dim, s.hidden);
    matrix(layer + "self_attn.k_proj.weight", s.kv_heads * s.head_dim, s.hidden);
    matrix(layer + "self_attn.v_proj.weight", s.kv_heads * s.head_dim, s.hidden);
    matrix(layer + "self_attn.o_proj.weight", s.hidden, s.heads * s.head_dim);
    norm(layer + "post_attention_layernorm.weight");
    matrix(layer + "mlp.gate_proj.weight", s.intermediate, s.hidden);
    matrix(layer + "mlp.up_proj.weight", s.intermediate, s.hidden);
    matrix(layer + "mlp.down_proj.weight", s.hidden, s.intermediate);
  }
  norm("model.norm.weight");
  matrix("lm_head.weight", s.vocab, s.hidden);
  return t;
}

/// Rows of q or k as GGUF files order them: in each head, component i of the first half beside component i of the
/// second.
inline TinyTensor interleave_heads(const TinyTensor& hf, int64_t head_dim) {
  TinyTensor gguf{hf.shape, {}};
  const int64_t width = hf.shape.at(1);
  for (int64_t row = 0; row < hf.shape[0]; ++row) {
    const int64_t head = row / head_dim, i = row % head_dim;
    const int64_t from = head * head_dim + i / 2 + (i % 2) * (head_dim / 2);
    gguf.data.insert(gguf.data.end(), hf.data.begin() + from * width, hf.data.begin() + (from + 1) * width);
  }
  return gguf;
}

inline std::string gguf_name(const std::string& hf) {
  static const std::pair<const char*, const char*> kParts[] = {
      {"model.embed_tokens", "token_embd"},
      {"model.norm", "output_norm"},
      {"lm_head", "output"},
      {"model.layers", "blk"},
      {"input_layernorm", "attn_norm"},
      {"post_attention_layernorm", "ffn_norm"},
      {"self_attn.q_proj", "attn_q"},
      {"self_attn.k_proj", "attn_k"},
      {"self_attn.v_proj", "attn_v"},
      {"self_attn.o_proj", "attn_output"},
      {"mlp.gate_proj", "ffn_gate"},
      {"mlp.up_proj", "ffn_up"},
      {"mlp.down_proj", "ffn_down"},
  };
  std::string name = hf;
  for (const auto& [from, to] : kParts) {
    if (const size_t at = name.find(from); at != name.npos) name.replace(at, std::string(from).size(), to);
  }
  return name;
}

inline TinyTensors gguf_tensors(const TinySizes& s, const TinyTensors& hf) {
  TinyTensors gguf;
  for (const auto& [name, tensor] : hf) {
    const bool rotates = name.find("q_proj") != name.npos || name.find("k_proj") != name.npos;
    gguf[gguf_name(name)] = rotates ? interleave_heads(tensor, s.head_dim) : tensor;
  }
  return gguf;
}

inline Metadata hf_metadata(const TinySizes& s) {
  Metadata m("config.json");
  m.set("architectures", std::vector<std::string>{"LlamaForCausalLM"});
  m.set("num_hidden_layers", s.layers);
  m.set("hidden_size", s.hidden);
  m.set("intermediate_size", s.intermediate);
  m.set("num_attention_heads", s.heads);
  m.set("num_key_value_heads", s.kv_heads);
  m.set("head_dim", s.head_dim);
  m.set("vocab_size", s.vocab);
  m.set("max_position_embeddings", s.context);
  m.set("rms_norm_eps", 1e-5);
  m.set("rope_theta", 10000.0);
  m.set("tie_word_embeddings", false);
  return m;
}

inline Metadata gguf_metadata(const TinySizes& s) {
  Metadata m("tiny.gguf");
  m.set("general.architecture", std::string("llama"));
  m.set("llama.block_count", s.layers);
  m.set("llama.embedding_length", s.hidden);
  m.set("llama.feed_forward_length", s.intermediate);
  m.set("llama.attention.head_count", s.heads);
  m.set("llama.attention.head_count_kv", s.kv_heads);
  m.set("llama.attention.key_length", s.head_dim);
  m.set("llama.attention.value_length", s.head_dim);
  m.set("llama.rope.dimension_count", s.head_dim);
  m.set("llama.context_length", s.context);
  m.set("llama.attention.layer_norm_rms_epsilon", 1e-5);
  m.set("llama.rope.freq_base", 10000.0);
  return m;
}

/// A model file in memory. `meta` and `weights` may be changed before sync().
class MemoryModel final : public ModelFile {
 public:
  MemoryModel(ModelFormat format, const TinySizes& sizes = {})
      : meta(format == ModelFormat::kGguf ? gguf_metadata(sizes) : hf_metadata(sizes)),
        weights(tiny_tensors(sizes)),
        format_(format) {
    if (format == ModelFormat::kGguf) weights = gguf_tensors(sizes, weights);
    sync();
  }

  void sync() {
    tensors_.clear();
    for (const auto& [name, tensor] : weights) {
      tensors_.push_back({name, DType::kF32, tensor.shape, reinterpret_cast<const std::byte*>(tensor.data.data()),
                          tensor.data.size() * sizeof(float)});
    }
  }

  ModelFormat format() const override { return format_; }
  const std::string& path() const override { return meta.source(); }
  const Metadata& metadata() const override { return meta; }
  std::span<const TensorInfo> tensors() const override { return tensors_; }

  Metadata meta;
  TinyTensors weights;

 private:
  ModelFormat format_;
  std::vector<TensorInfo> tensors_;
};

}  // namespace atb::testing
