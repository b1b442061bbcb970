// LLaMA's graph and config against golden text and hand-made configs.
#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "ir/infer.h"
#include "models/model.h"
#include "models/tiny_llama.h"

namespace atb {
namespace {

using ::testing::HasSubstr;
using testing::MemoryModel;
using testing::TinySizes;

constexpr TinySizes kOneLayer = {.layers = 1};

/// Compares with tests/models/golden/<name>; ATB_UPDATE_GOLDEN=1 writes it instead.
void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(__FILE__).parent_path() / "golden" / name;
  if (std::getenv("ATB_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  ASSERT_TRUE(file) << path;
  EXPECT_EQ(text, std::string(std::istreambuf_iterator<char>(file), {})) << path;
}

RopeAttrs rope_of(const BuiltModel& model) {
  for (const Node& node : model.graph.nodes()) {
    if (node.op == Op::kRope) return std::get<RopeAttrs>(node.attrs);
  }
  return {};
}

const Node& first(const Graph& graph, Op op) {
  for (const Node& node : graph.nodes()) {
    if (node.op == op) return node;
  }
  throw Error(ErrorCode::kInternal, "no such node");
}

void expect_error(const ModelFile& file, ErrorCode code, const std::string& part) {
  try {
    build_model(file, DType::kF16);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code);
    EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_THAT(error.where(), ::testing::Not(::testing::IsEmpty()));
  }
}

TEST(Llama, GraphOfGguf) {
  const MemoryModel file(ModelFormat::kGguf, kOneLayer);
  expect_golden("llama_gguf.txt", build_model(file, DType::kF16).graph.to_text());
}

TEST(Llama, GraphOfHuggingFaceWithBiases) {
  MemoryModel file(ModelFormat::kHuggingFace, kOneLayer);
  file.meta.set("attention_bias", true);
  for (const auto& [name, size] : {std::pair{"q", 128}, {"k", 64}, {"v", 64}, {"o", 64}}) {
    file.weights[std::string("model.layers.0.self_attn.") + name + "_proj.bias"] = {
        {size}, std::vector<float>(static_cast<size_t>(size))};
  }
  file.sync();
  expect_golden("llama_hf_bias.txt", build_model(file, DType::kF32).graph.to_text());
}

TEST(Llama, GraphParsesBack) {
  const MemoryModel file(ModelFormat::kHuggingFace);
  const Graph graph = build_model(file, DType::kF16).graph;
  graph.verify();
  EXPECT_EQ(Graph::parse(graph.to_text()).to_text(), graph.to_text());
}

TEST(Llama, DescribesTheModel) {
  const ModelInfo info = build_model(MemoryModel(ModelFormat::kGguf), DType::kF16).info;
  EXPECT_EQ(info.architecture, "llama");
  EXPECT_EQ(info.layers, 2);
  EXPECT_EQ(info.head_dim, 32);
  EXPECT_EQ(info.vocab_size, 128);
  EXPECT_EQ(info.weight_types, "21 f32");
}

// Case 27: the stated head dimension wins over hidden size / heads.
TEST(Llama, HeadDimIsExplicit) {
  const MemoryModel file(ModelFormat::kHuggingFace);
  const BuiltModel model = build_model(file, DType::kF16);
  EXPECT_EQ(model.tensors("layers.0.attn.o.weight").shape, (std::vector<int64_t>{64, 128}));
  EXPECT_EQ(std::get<ScoresAttrs>(first(model.graph, Op::kScores).attrs).head_dim, 32);
}

TEST(Llama, HeadDimFollowsFromHiddenSize) {
  const TinySizes sizes = {.head_dim = 16};
  MemoryModel file(ModelFormat::kHuggingFace, sizes);
  Metadata meta("config.json");
  for (const auto& [key, value] : file.meta.values()) {
    if (key != "head_dim") meta.set(key, value);
  }
  file.meta = meta;
  EXPECT_EQ(build_model(file, DType::kF16).info.head_dim, 16);
}

// Case 26.
TEST(Llama, HeadCountsMustDivide) {
  for (const auto& [heads, kv_heads] : {std::pair<int64_t, int64_t>{3, 2}, {33, 2}, {0, 1}, {4, 0}}) {
    MemoryModel file(ModelFormat::kHuggingFace);
    file.meta.set("num_attention_heads", heads);
    file.meta.set("num_key_value_heads", kv_heads);
    expect_error(file, ErrorCode::kModel, "num_");
  }
}

// Case 25: what is in the file is used; only a tied model may lack lm_head.
TEST(Llama, HeadIsTiedOnlyWhenTheConfigSaysSo) {
  const auto head = [](bool tied, bool present) {
    MemoryModel file(ModelFormat::kHuggingFace);
    file.meta.set("tie_word_embeddings", tied);
    if (!present) file.weights.erase("lm_head.weight");
    file.sync();
    const Graph graph = build_model(file, DType::kF16).graph;
    return graph.value(graph.nodes().back().inputs[1]).tensor;
  };
  EXPECT_EQ(head(true, false), "embed.weight");
  EXPECT_EQ(head(true, true), "lm_head.weight");
  EXPECT_EQ(head(false, true), "lm_head.weight");
  EXPECT_THROW(head(false, false), Error);
}

TEST(Llama, GgufWithoutOutputIsTied) {
  MemoryModel file(ModelFormat::kGguf);
  file.weights.erase("output.weight");
  file.sync();
  const Graph graph = build_model(file, DType::kF16).graph;
  EXPECT_EQ(graph.value(graph.nodes().back().inputs[1]).tensor, "embed.weight");
}

TEST(Llama, PairingIsAFactOfTheFormat) {
  EXPECT_EQ(rope_of(build_model(MemoryModel(ModelFormat::kGguf), DType::kF16)).pairing, RopePairing::kInterleaved);
  EXPECT_EQ(rope_of(build_model(MemoryModel(ModelFormat::kHuggingFace), DType::kF16)).pairing, RopePairing::kHalf);
}

// Case 35: both spellings of the key, both places of the settings.
TEST(Llama, RopeScalingKeys) {
  for (const char* prefix : {"rope_scaling.", "rope_parameters."}) {
    for (const char* type : {"type", "rope_type"}) {
      MemoryModel file(ModelFormat::kHuggingFace);
      const std::string p = prefix;
      file.meta.set(p + type, std::string("llama3"));
      file.meta.set(p + "factor", 32.0);
      file.meta.set(p + "low_freq_factor", 1.0);
      file.meta.set(p + "high_freq_factor", 4.0);
      file.meta.set(p + "original_max_position_embeddings", int64_t{8192});
      file.meta.set(p + "rope_theta", 500000.0);
      const RopeAttrs rope = rope_of(build_model(file, DType::kF16));
      EXPECT_EQ(rope.scaling, RopeScaling::kLlama3) << prefix << type;
      EXPECT_EQ(rope.factor, 32.0);
      EXPECT_EQ(rope.theta, 500000.0);
      EXPECT_EQ(rope.original_context, 8192);
    }
  }
}

TEST(Llama, YarnAttentionFactor) {
  MemoryModel file(ModelFormat::kHuggingFace);
  file.meta.set("rope_scaling.rope_type", std::string("yarn"));
  file.meta.set("rope_scaling.factor", 16.0);
  EXPECT_NEAR(rope_table(rope_of(build_model(file, DType::kF16))).attention_factor, 1.277259, 1e-6);
  file.meta.set("rope_scaling.factor", int64_t{64});
  EXPECT_NEAR(rope_table(rope_of(build_model(file, DType::kF16))).attention_factor, 1.415888, 1e-6);
  file.meta.set("rope_scaling.attention_factor", 1.5);
  EXPECT_EQ(rope_table(rope_of(build_model(file, DType::kF16))).attention_factor, 1.5);
}

TEST(Llama, YarnOfGguf) {
  MemoryModel file(ModelFormat::kGguf);
  file.meta.set("llama.rope.scaling.type", std::string("yarn"));
  file.meta.set("llama.rope.scaling.factor", 16.0);
  file.meta.set("llama.rope.scaling.original_context_length", int64_t{32});
  const RopeAttrs rope = rope_of(build_model(file, DType::kF16));
  EXPECT_NEAR(rope_table(rope).attention_factor, 1.277259, 1e-6);
  EXPECT_EQ(rope.original_context, 32);
}

TEST(Llama, RopeFactorsTensorIsTheThirdInput) {
  MemoryModel file(ModelFormat::kGguf);
  file.weights["rope_freqs.weight"] = {{16}, std::vector<float>(16, 2.0f)};
  file.sync();
  EXPECT_EQ(first(build_model(file, DType::kF16).graph, Op::kRope).inputs.size(), 3u);
}

TEST(Llama, UnknownRopeScalingIsRefused) {
  MemoryModel file(ModelFormat::kHuggingFace);
  file.meta.set("rope_scaling.type", std::string("dynamic"));
  file.meta.set("rope_scaling.factor", 2.0);
  expect_error(file, ErrorCode::kModel, "'dynamic' is not supported (config.json); supported are");
}

TEST(Llama, MistralHasAWindow) {
  MemoryModel file(ModelFormat::kHuggingFace);
  file.meta.set("architectures", std::vector<std::string>{"MistralForCausalLM"});
  file.meta.set("sliding_window", int64_t{16});
  const Graph graph = build_model(file, DType::kF16).graph;
  EXPECT_EQ(std::get<ScoresAttrs>(first(graph, Op::kScores).attrs).window, 16);
}

TEST(Llama, UnknownArchitecture) {
  MemoryModel file(ModelFormat::kGguf);
  file.meta.set("general.architecture", std::string("mamba"));
  expect_error(file, ErrorCode::kModel, "unknown architecture 'mamba' (tiny.gguf); supported are llama");
}

TEST(Llama, UnknownActivation) {
  MemoryModel file(ModelFormat::kHuggingFace);
  file.meta.set("hidden_act", std::string("mish"));
  expect_error(file, ErrorCode::kModel, "unknown activation 'mish'");
}

TEST(Llama, MissingTensorIsNamed) {
  MemoryModel file(ModelFormat::kGguf);
  file.weights.erase("blk.1.ffn_up.weight");
  file.sync();
  expect_error(file, ErrorCode::kModel, "blk.1.ffn_up.weight");
}

TEST(Llama, ShapesMustFitTheConfig) {
  MemoryModel file(ModelFormat::kGguf);
  file.meta.set("llama.feed_forward_length", int64_t{80});
  expect_error(file, ErrorCode::kModel, "shape [96, 64] found, [80, 64] expected");
}

TEST(Llama, SizesMustBeSane) {
  for (int64_t size : {int64_t{0}, int64_t{-1}, INT64_MAX}) {
    for (const char* key : {"block_count", "embedding_length", "feed_forward_length", "attention.head_count",
                            "context_length", "rope.dimension_count", "attention.key_length"}) {
      MemoryModel file(ModelFormat::kGguf);
      file.meta.set(std::string("llama.") + key, size);
      expect_error(file, ErrorCode::kModel, key);
    }
  }
}

TEST(Llama, ParamsOfAnEditedGraphAreFoundByName) {
  const MemoryModel file(ModelFormat::kGguf);
  const BuiltModel model = build_model(file, DType::kF16);
  EXPECT_EQ(model.tensors("layers.1.mlp.down.weight").name, "blk.1.ffn_down.weight");
  EXPECT_THROW(model.tensors("layers.1.mlp.sideways.weight"), Error);
}

TEST(Architectures, AreListed) {
  EXPECT_THAT(known_architectures(), ::testing::ElementsAre("llama", "LlamaForCausalLM", "MistralForCausalLM"));
}

}  // namespace
}  // namespace atb
