#include "models/presets.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "base/check.h"
#include "base/text.h"
#include "io/parsed_model.h"

namespace atb {
namespace {

constexpr ShapePreset kPresets[] = {
#define ATB_PRESET(...) {__VA_ARGS__},
#include "models/presets.inc"
#undef ATB_PRESET
};

Metadata config_of(const ShapePreset& p, int64_t layers) {
  Metadata config(p.name);
  config.set("architectures", std::vector<std::string>{"LlamaForCausalLM"});
  config.set("num_hidden_layers", layers);
  config.set("hidden_size", p.hidden_size);
  config.set("intermediate_size", p.intermediate_size);
  config.set("num_attention_heads", p.heads);
  config.set("num_key_value_heads", p.kv_heads);
  config.set("vocab_size", p.vocab_size);
  config.set("max_position_embeddings", p.context_length);
  return config;
}

class Tensors {
 public:
  Tensors(std::vector<TensorInfo>& tensors, DType dtype) : tensors_(tensors), dtype_(dtype) {}

  void add(std::string name, std::vector<int64_t> shape) {
    const size_t bytes = tensor_bytes(dtype_, shape).value();
    tensors_.push_back({std::move(name), dtype_, std::move(shape), nullptr, bytes});
  }

  void add_layer(const ShapePreset& p, const std::string& layer) {
    const int64_t kv_size = p.hidden_size / p.heads * p.kv_heads;
    add(layer + "input_layernorm.weight", {p.hidden_size});
    add(layer + "self_attn.q_proj.weight", {p.hidden_size, p.hidden_size});
    add(layer + "self_attn.k_proj.weight", {kv_size, p.hidden_size});
    add(layer + "self_attn.v_proj.weight", {kv_size, p.hidden_size});
    add(layer + "self_attn.o_proj.weight", {p.hidden_size, p.hidden_size});
    add(layer + "post_attention_layernorm.weight", {p.hidden_size});
    add(layer + "mlp.gate_proj.weight", {p.intermediate_size, p.hidden_size});
    add(layer + "mlp.up_proj.weight", {p.intermediate_size, p.hidden_size});
    add(layer + "mlp.down_proj.weight", {p.hidden_size, p.intermediate_size});
  }

 private:
  std::vector<TensorInfo>& tensors_;
  DType dtype_;
};

}  // namespace

std::vector<std::string> shape_preset_names() {
  std::vector<std::string> names;
  for (const ShapePreset& preset : kPresets) names.emplace_back(preset.name);
  return names;
}

const ShapePreset& shape_preset(const std::string& name) {
  const auto found =
      std::find_if(std::begin(kPresets), std::end(kPresets), [&](const ShapePreset& p) { return p.name == name; });
  if (found != std::end(kPresets)) return *found;
  const std::vector<std::string> known = shape_preset_names();
  throw Error(ErrorCode::kUsage, "unknown shape preset '" + name + "'", "preset",
              "did you mean '" + nearest_name(name, known) + "'? Known are " + join(known, ", "));
}

std::unique_ptr<ModelFile> shape_file(const ShapePreset& preset, DType weights, int64_t layers) {
  ATB_CHECK(dtype_info(weights).floating);
  if (layers <= 0) layers = preset.layers;
  auto file = std::make_unique<ParsedModel>(ModelFormat::kHuggingFace, preset.name);
  file->metadata_ = config_of(preset, layers);
  Tensors tensors(file->tensors_, weights);
  tensors.add("model.embed_tokens.weight", {preset.vocab_size, preset.hidden_size});
  for (int64_t i = 0; i < layers; ++i) tensors.add_layer(preset, fmt::format("model.layers.{}.", i));
  tensors.add("model.norm.weight", {preset.hidden_size});
  tensors.add("lm_head.weight", {preset.vocab_size, preset.hidden_size});
  sort_by_name(file->tensors_, preset.name);
  return file;
}

}  // namespace atb
