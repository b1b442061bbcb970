#include "fusion/fuse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "base/log.h"
#include "fusion/planner.h"
#include "kernels/reference.h"
#include "models.h"
#include "support/sanitizers.h"

namespace atb {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

FusionContext on(const char* profile, Workload workload = {.tokens = 1, .past = 128}) {
  return {{}, builtin_profile(profile), workload};
}

std::vector<std::string> names_of(const FusionResult& result) {
  std::vector<std::string> names;
  for (const Region& region : result.regions) names.push_back(region.name);
  return names;
}

Graph parse(const std::string& lines) { return Graph::parse("graph \"g\" {\n" + lines + "\n}\n"); }

// The article's FFN: norm, product, GELU, product [, residual].
Graph plain_ffn(bool residual) {
  return parse(std::string(R"(%x = input "x" : bf16[tokens, 64]
    %g = param "g" : bf16[64]
    %b = param "b" : bf16[64]
    %w1 = param "w1" : bf16[96, 64]
    %w2 = param "w2" : bf16[64, 96]
    %n = layer_norm(%x, %g, %b) @ "layers.0.mlp.norm"
    %h = matmul(%n, %w1) @ "layers.0.mlp.up"
    %a = activation(%h) {kind = gelu} @ "layers.0.mlp.act"
    %y = matmul(%a, %w2) @ "layers.0.mlp.down"
    )") + (residual ? "%z = add(%y, %x) @ \"layers.0.mlp.residual\"\noutput \"z\" %z" : "output \"y\" %y"));
}

Graph gated_ffn() {
  return parse(R"(%x = input "x" : bf16[tokens, 64]
    %g = param "g" : bf16[64]
    %wg = param "wg" : bf16[96, 64]
    %wu = param "wu" : bf16[96, 64]
    %wd = param "wd" : bf16[64, 96]
    %n = rms_norm(%x, %g) @ "layers.0.mlp.norm"
    %gate = matmul(%n, %wg) @ "layers.0.mlp.gate"
    %up = matmul(%n, %wu) @ "layers.0.mlp.up"
    %a = activation(%gate) {kind = silu} @ "layers.0.mlp.act"
    %h = mul(%a, %up) @ "layers.0.mlp.mul"
    %y = matmul(%h, %wd) @ "layers.0.mlp.down"
    %z = add(%x, %y) @ "layers.0.mlp.residual"
    output "z" %z)");
}

struct RoundTrips {
  const char* name;
  Graph graph;
  int64_t unfused, fused;
};

TEST(Fuse, FeedForwardRoundTripsAreThoseOfTheArticle) {
  const RoundTrips cases[] = {
      {"article", plain_ffn(false), 8, 2}, {"residual", plain_ffn(true), 11, 2}, {"gated", gated_ffn(), 16, 2}};
  for (const RoundTrips& c : cases) {
    const FusionContext context = on("zen4", {.tokens = 16});
    const FusionResult result = fuse(c.graph, context);
    ASSERT_THAT(names_of(result), ElementsAre("FusedFFN")) << c.name;
    const CostModel cost(c.graph, context.workload, context.profile);
    EXPECT_EQ(cost.graph().total.round_trips, c.unfused) << c.name;
    const std::vector<NodeId> regions[] = {result.regions[0].nodes};
    EXPECT_EQ(cost.graph(regions).total.round_trips, c.fused) << c.name;
    EXPECT_EQ(result.regions[0].inputs.size() + result.regions[0].outputs.size(), static_cast<size_t>(c.fused));
  }
}

TEST(Fuse, ALlamaLayerIsTwoRegions) {
  const Graph graph = test::llama();
  const FusionResult result = fuse(graph, on("zen4"));
  EXPECT_THAT(names_of(result), ElementsAre("FusedAttention", "FusedFFN", "RmsNorm+MatMul"));
  EXPECT_EQ(result.regions[0].nodes.size(), 13u);
  EXPECT_EQ(result.regions[1].nodes.size(), 7u);
  EXPECT_EQ(result.regions[0].layer, "layers.0");
  EXPECT_THAT(fused_text(graph, result),
              HasSubstr("FusedFFN(%layers.0.attn.residual) -> %layers.0.mlp.residual @ layers.0 {\n"
                        "  %layers.0.mlp_norm = rms_norm(%layers.0.attn.residual, %layers.0.mlp_norm.weight)\n"));
}

/// Disjoint, convex, with a saving, and within the chip.
void expect_sound(const Graph& graph, const FusionResult& result) {
  std::set<NodeId> taken;
  for (const Region& region : result.regions) {
    const std::set<NodeId> inside(region.nodes.begin(), region.nodes.end());
    std::set<NodeId> below;  // nodes outside that depend on the region
    for (NodeId id = region.nodes.front(); id <= region.nodes.back(); ++id) {
      for (const ValueId input : graph.node(id).inputs) {
        const NodeId producer = graph.value(input).producer;
        EXPECT_FALSE(inside.contains(id) && below.contains(producer)) << region.name << " is not convex";
        if (!inside.contains(id) && (inside.contains(producer) || below.contains(producer))) below.insert(id);
      }
    }
    for (const NodeId id : region.nodes) EXPECT_TRUE(taken.insert(id).second);
    EXPECT_GT(region.seconds_saved, 0);
    EXPECT_LE(region.capacity_used, region.capacity_available);
    EXPECT_FALSE(region.rules.empty());
  }
}

TEST(Fuse, RegionsAreSoundOnEveryProfileAndTheSameTheSecondTime) {
  const Graph graph = test::llama({.layers = 3});
  for (const std::string& profile : builtin_profile_names()) {
    for (const int64_t tokens : {1, 7, 512, 4096}) {
      const FusionContext context = on(profile.c_str(), {.tokens = tokens, .past = 64});
      const FusionResult result = fuse(graph, context);
      expect_sound(graph, result);
      EXPECT_EQ(fused_text(graph, fuse(Graph::parse(graph.to_text()), context)), fused_text(graph, result));
    }
  }
}

TEST(Fuse, AddNormYieldsTheSumThatGoesOn) {
  const Graph graph = parse(R"(%x = input "x" : f32[tokens, 64]
    %r = input "r" : f32[tokens, 64]
    %g = param "g" : f32[64]
    %b = param "b" : f32[64]
    %s = add(%x, %r)
    %y = layer_norm(%s, %g, %b)
    output "s" %s
    output "y" %y)");
  const FusionResult result = fuse(graph, on("zen4", {.tokens = 64}));
  ASSERT_THAT(names_of(result), ElementsAre("AddLayerNorm"));
  EXPECT_EQ(result.regions[0].outputs.size(), 2u);
}

TEST(Fuse, TheArticlesExampleIsOneRegion) {
  const Graph graph = parse(R"(%x = input "x" : f32[tokens, 64]
    %r = input "r" : f32[tokens, 64]
    %g = param "g" : f32[64]
    %b = param "b" : f32[64]
    %w = param "w" : f32[96, 64]
    %s = add(%x, %r)
    %n = layer_norm(%s, %g, %b)
    %y = matmul(%n, %w)
    output "s" %s
    output "y" %y)");
  EXPECT_THAT(names_of(fuse(graph, on("zen4", {.tokens = 64}))), ElementsAre("FusedAddLayerNormMatMul"));
}

TEST(Fuse, NormsFuseAcrossLayersWhereTheBlocksAreOff) {
  const Graph graph = test::llama({.layers = 2});
  FusionContext context = on("zen4");
  context.options.mlp = context.options.attention = false;
  EXPECT_THAT(names_of(fuse(graph, context)), testing::Contains("AddRmsNorm").Times(3));
}

TEST(Fuse, TrainingOnlyAddsAndNorms) {
  FusionContext context = on("zen4");
  context.training = true;
  const FusionResult result = fuse(test::llama({.layers = 2}), context);
  EXPECT_FALSE(result.regions.empty());
  for (const Region& region : result.regions) EXPECT_THAT(region.rules, ElementsAre("add_norm"));
}

TEST(Fuse, SearchesOneOfManyEqualLayers) {
  const auto searches = [](int64_t layers) {
    const Graph graph = test::llama({.layers = layers});
    const Facts facts(graph);
    const Links links = find_links(facts, Switches{}, false);
    const CostModel cost(graph, {.tokens = 1, .past = 64}, builtin_profile("zen4"));
    Planner plan(facts, links, cost);
    plan.run();
    return plan.searches();
  };
  EXPECT_EQ(searches(3), searches(100));
}

double milliseconds(int64_t layers) {
  const Graph graph = test::llama({.layers = layers});
  double best = 1e9;
  for (int i = 0; i < 3; ++i) best = std::min(best, fuse(graph, on("zen4")).seconds * 1e3);
  return best;
}

TEST(Fuse, ThePassIsQuickAndGrowsLinearly) {
  EXPECT_LT(milliseconds(32), 50 * test::kSlowdown);
  const double some = milliseconds(250), many = milliseconds(1000);
  EXPECT_LT(many, 4 * some * 2) << some << " ms for 250 layers, " << many << " ms for 1000";
}

std::string logged(LogLevel level, const Graph& graph, const FusionContext& context) {
  configure_log(level, LogFormat::kText);
  testing::internal::CaptureStderr();
  fuse(graph, context);
  configure_log(LogLevel::kWarn, LogFormat::kText);
  return testing::internal::GetCapturedStderr();
}

TEST(FusionLog, HasTheArticlesLinesOncePerKind) {
  EXPECT_EQ(logged(LogLevel::kInfo, test::llama({.layers = 4}), on("zen4")),
            "[INFO] Attention fusion enabled: QKV + Softmax + OutputProjection (with RMSNorm, Residual)\n"
            "[INFO] MLP fusion enabled: RMSNorm + GatedDense + SiLU + Dense + Residual\n");
  EXPECT_EQ(logged(LogLevel::kInfo, plain_ffn(true), on("zen4")),
            "[INFO] MLP fusion enabled: LayerNorm + Dense + GELU + Dense + Residual\n");
}

TEST(FusionLog, SaysNothingByDefault) { EXPECT_EQ(logged(LogLevel::kWarn, test::llama(), on("zen4")), ""); }

TEST(FusionLog, WarnsOnceWhereABlockDoesNotFit) {
  const Graph graph = test::llama({.layers = 2,
                                   .hidden = 4096,
                                   .heads = 32,
                                   .kv_heads = 32,
                                   .head_dim = 128,
                                   .intermediate = 32768,
                                   .dtype = DType::kF16});
  EXPECT_EQ(logged(LogLevel::kWarn, graph, on("ascend910", {.tokens = 512})),
            "[WARN] MLP fusion skipped: intermediate_size=32768 > SRAM capacity\n");
}

TEST(FusionLog, HasEachDecisionAtDebug) {
  const std::string log = logged(LogLevel::kDebug, test::llama({.layers = 2}), on("zen4"));
  EXPECT_THAT(log, HasSubstr("[DEBUG] layers.1: FusedFFN by norm_matmul, gate_up"));
  EXPECT_THAT(log, HasSubstr("lost to FusedFFN: saves "));
}

// Case 15: 1 + w is added in f32. In bf16 it would be 16.75.
TEST(GraphSemantics, OnePlusWeightIsAddedInF32) {
  const Graph graph = parse(R"(%x = input "x" : bf16[1, 1]
    %w = param "w" : bf16[1]
    %n = rms_norm(%x, %w) {eps = 0, one_plus_weight = true}
    %y = cast(%n) {dtype = f32}
    output "y" %y)");
  const auto result = run_reference(graph, {{"x", {{1, 1}, {1}, DType::kBF16}}, {"w", {{1}, {15.8125}, DType::kBF16}}});
  EXPECT_EQ(result.outputs.at("y").data[0], 16.8125);
}

// Case 17: x w = 257 is rounded to 256 by the cast that stands there, and then 0.5 is added in f32.
TEST(GraphSemantics, ACastStaysARoundingPoint) {
  const Graph graph = parse(R"(%x = input "x" : f32[1, 1]
    %w = param "w" : f32[1, 1]
    %half = param "half" : f32[1]
    %p = matmul(%x, %w)
    %c = cast(%p) {dtype = bf16}
    %f = cast(%c) {dtype = f32}
    %y = add(%f, %half)
    output "y" %y)");
  for (const Region& region : fuse(graph, on("zen4")).regions)
    EXPECT_THAT(region.rules, testing::Not(testing::Contains("matmul_bias")));
  const auto result = run_reference(graph, {{"x", {{1, 1}, {257}}}, {"w", {{1, 1}, {1}}}, {"half", {{1}, {0.5}}}});
  EXPECT_EQ(result.outputs.at("y").data[0], 256.5);
}

// Case 24: silu(2) * 3, not silu(3) * 2.
TEST(GraphSemantics, TheActivatedFactorIsTheGate) {
  const Graph graph = parse(R"(%g = input "g" : f32[1, 1]
    %u = input "u" : f32[1, 1]
    %a = activation(%g) {kind = silu}
    %y = mul(%u, %a)
    output "y" %y)");
  const auto result = run_reference(graph, {{"g", {{1, 1}, {2}}}, {"u", {{1, 1}, {3}}}});
  EXPECT_NEAR(result.outputs.at("y").data[0], 5.284782, 1e-6);
}

// Quantise: 127 steps to the largest value of a group.
TEST(GraphSemantics, QuantiseRoundsToTheGridOfItsGroup) {
  const Graph graph = parse(R"(%x = input "x" : f32[1, 4]
    %y = quantize(%x) {group = 2}
    output "y" %y)");
  const auto result = run_reference(graph, {{"x", {{1, 4}, {127, 0.4, 0, 0}}}});
  EXPECT_THAT(result.outputs.at("y").data, ElementsAre(127, 0, 0, 0));
}

}  // namespace
}  // namespace atb
