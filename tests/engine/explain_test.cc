// atb explain: its figures add up, its reasons name what they should, and no name from a file escapes from the page.
#include <atb/error.h>
#include <atb/explain.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cost/cost_model.h"
#include "engine/tiny_files.h"

namespace atb {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr const char* kDevice = "emerald_rapids";

ExplainRequest on_device(int64_t tokens = 64) {
  ExplainRequest request;
  request.device = kDevice;
  request.tokens = tokens;
  return request;
}

Explanation explain_tiny(int64_t layers = 2, ExplainRequest request = on_device()) {
  testing::TinySizes sizes;
  sizes.layers = layers;
  const testing::TempDir dir;
  return explain_file(testing::write_gguf(dir, testing::MemoryModel(ModelFormat::kGguf, sizes)), request);
}

template <typename Action>
std::string message_of(Action action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// x -> norm -> relu(x W) -> W, every name as hostile as a file can make it.
Explanation explain_hostile() {
  const std::string bad = "layers.0.\"></script><script>alert(1)</script>&\\'\n\x01\xff";
  Graph graph("g");
  const ValueId x = graph.input("x", DType::kF32, {Dim::symbol("tokens"), 64});
  const ValueId normed = rms_norm(graph, x, graph.param(bad + "g", DType::kF32, {64}), {}, bad + "norm");
  const ValueId up = matmul(graph, normed, graph.param(bad + "u", DType::kF32, {128, 64}), bad + "up");
  const ValueId act = activation(graph, up, ActivationKind::kRelu, bad + "act");
  graph.output(bad, matmul(graph, act, graph.param(bad + "d", DType::kF32, {64, 128}), bad + "down"));
  return explain(graph, bad, on_device());
}

TEST(Explain, LayersAddUpToTotals) {
  const Explanation e = explain_tiny(3);
  ExplainFigures before, after;
  for (const ExplainedLayer& layer : e.layers) {
    before.kernels += layer.before.kernels, after.kernels += layer.after.kernels;
    before.round_trips += layer.before.round_trips, after.round_trips += layer.after.round_trips;
    before.us += layer.before.us, after.us += layer.after.us;
  }
  EXPECT_EQ(before.kernels, e.before.kernels);
  EXPECT_EQ(after.kernels, e.after.kernels);
  EXPECT_EQ(after.round_trips, e.after.round_trips);
  EXPECT_NEAR(before.us, e.before.us, 1e-6);
  EXPECT_LT(e.after.us, e.before.us);
}

// The figures are those of the cost model for the same partition.
TEST(Explain, TotalsAreTheCostModels) {
  const Explanation e = explain_tiny();
  const CostModel cost(e.graph, {e.request.tokens, 0, 1}, builtin_profile(kDevice));
  std::vector<std::vector<NodeId>> regions;
  for (const ExplainedLayer& layer : e.layers)
    for (const ExplainedRegion& region : layer.regions) regions.push_back(region.region.nodes);
  const GraphCost unfused = cost.graph(), fused = cost.graph(regions);
  EXPECT_EQ(e.before.kernels, static_cast<int64_t>(unfused.kernels.size()));
  EXPECT_EQ(e.after.kernels, static_cast<int64_t>(fused.kernels.size()));
  EXPECT_EQ(e.before.round_trips, unfused.total.round_trips);
  EXPECT_EQ(e.after.round_trips, fused.total.round_trips);
  EXPECT_NEAR(e.after.bytes, fused.total.activation_bytes, 1);
}

TEST(Explain, LayerOfTwentyOperatorsHalvesItsKernels) {
  const Explanation e = explain_tiny();
  ASSERT_EQ(e.layers.size(), 4u);
  EXPECT_EQ(e.layers[0].name, "embedding");
  EXPECT_EQ(e.layers[1].name, "layers.0");
  EXPECT_EQ(e.layers[3].name, "head");
  EXPECT_EQ(e.layers[1].before.kernels, 20);
  EXPECT_LE(e.layers[1].after.kernels, 10);
}

TEST(Explain, GatedFfnNeedsTwoRoundTripsInsteadOfSixteen) {
  const Explanation e = explain_tiny();
  const auto found = find_regions(e, "layers.1:FusedFFN");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0]->before.round_trips, 16);
  EXPECT_EQ(found[0]->after.round_trips, 2);
  EXPECT_GT(found[0]->tile_rows, 0);
}

TEST(Explain, OneLayerOnly) {
  ExplainRequest request = on_device();
  request.layer = 1;
  const Explanation e = explain_tiny(3, request);
  ASSERT_EQ(e.layers.size(), 1u);
  EXPECT_EQ(e.layers[0].name, "layers.1");
  EXPECT_EQ(e.before.kernels, 20);
}

TEST(Explain, WrongRequestsSayWhatIsExpected) {
  ExplainRequest request = on_device(0);
  EXPECT_THAT(message_of([&] { explain_tiny(2, request); }), HasSubstr("0 found, at least 1 expected (seq)"));
  request = on_device();
  request.layer = 7;
  EXPECT_THAT(message_of([&] { explain_tiny(2, request); }), HasSubstr("there is no layer 7"));
  request = on_device();
  request.device = "ascend901";
  EXPECT_THAT(message_of([&] { explain_tiny(2, request); }), HasSubstr("ascend910"));
  EXPECT_THAT(message_of([] { find_regions(explain_tiny(), "FusedFNN"); }), HasSubstr("did you mean 'FusedFFN'"));
}

TEST(Explain, SwitchedOffNothingIsFused) {
  ExplainRequest request = on_device();
  request.options.fusion = false;
  const Explanation e = explain_tiny(2, request);
  EXPECT_EQ(e.before.kernels, e.after.kernels);
  EXPECT_DOUBLE_EQ(e.before.us, e.after.us);
  EXPECT_THAT(message_of([&] { find_regions(e, "FusedFFN"); }), HasSubstr("nothing is fused"));
}

TEST(Explain, JsonHasThePromisedKeys) {
  const json object = json::parse(explain_json(explain_tiny()));
  const std::vector<std::string> figures = {"kernels_before",    "kernels_after", "round_trips_before",
                                            "round_trips_after", "bytes_before",  "bytes_after",
                                            "us_before",         "us_after"};
  for (const char* key : {"model", "device", "totals", "layers"}) EXPECT_TRUE(object.contains(key)) << key;
  for (const std::string& key : figures) EXPECT_TRUE(object["totals"].contains(key)) << key;
  const json& layer = object["layers"][1];
  for (const std::string& key : figures) EXPECT_TRUE(layer.contains(key)) << key;
  for (const char* key : {"name", "regions", "near_misses", "conflicts"}) EXPECT_TRUE(layer.contains(key)) << key;
  for (const char* key :
       {"name", "rules", "operators", "capacity_used_bytes", "capacity_available_bytes", "bytes_saved", "us_saved"})
    EXPECT_TRUE(layer["regions"][0].contains(key)) << key;
}

TEST(Explain, NearMissNamesRuleNodeAndClause) {
  const Graph graph = Graph::parse(R"(graph "g" {
  %x = input "x" : f32[tokens, 64]
  %g = param "g" : f32[64]
  %w = param "w" : f32[64, 64]
  %u = param "u" : f32[64, 64]
  %n = rms_norm(%x, %g) : f32[tokens, 64] @ "layers.0.norm"
  %a = matmul(%n, %w) : f32[tokens, 64] @ "layers.0.mlp.up"
  %c = activation(%a) {kind = relu} : f32[tokens, 64] @ "layers.0.mlp.act"
  %b = matmul(%c, %u) : f32[tokens, 64] @ "layers.0.mlp.down"
  output "y" %b
  output "kept" %a
})");
  const Explanation e = explain(graph, "g", on_device());
  ASSERT_EQ(e.layers.size(), 1u);
  ASSERT_EQ(e.layers[0].near_misses.size(), 1u);
  const NearMiss& miss = e.layers[0].near_misses[0];
  EXPECT_EQ(miss.rule, "matmul_activation");
  EXPECT_EQ(miss.node, "layers.0.mlp.up");
  EXPECT_EQ(miss.detail, "is an output of the graph");
  EXPECT_FALSE(miss.clause.empty());
  EXPECT_THAT(explain_text(e), HasSubstr("not fused: matmul_activation at mlp.up: is an output of the graph ("));
  EXPECT_THAT(explain_html(e), HasSubstr("not fused by "));
}

TEST(ExplainText, IdenticalLayersAreToldOnce) {
  const std::string text = explain_text(explain_tiny(5));
  EXPECT_THAT(text, AllOf(HasSubstr("layers.0-4, each"), HasSubstr("FusedFFN"), HasSubstr("total")));
  EXPECT_THAT(text, Not(HasSubstr("layers.3")));
}

TEST(ExplainText, ControlBytesStayVisible) {
  const std::string text = explain_text(explain_hostile());
  EXPECT_THAT(text, AllOf(HasSubstr("\\x01"), HasSubstr("\\x0a"), Not(HasSubstr("\x01"))));
}

// The page has exactly the elements that we write: one style, two scripts, nothing loaded.
TEST(ExplainHtml, NamesCannotLeaveTheirPlace) {
  const std::string html = explain_html(explain_hostile());
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("&lt;/script&gt;"));
  size_t ends = 0;
  for (size_t at = html.find("</script"); at != std::string::npos; at = html.find("</script", at + 1)) ++ends;
  EXPECT_EQ(ends, 2u);
  EXPECT_EQ(html.find('\x01'), std::string::npos);
  EXPECT_EQ(html.find('\xff'), std::string::npos);
}

TEST(ExplainHtml, IsOneFileWithBothGraphs) {
  const std::string html = explain_html(explain_tiny(40));
  EXPECT_THAT(html, StartsWith("<!DOCTYPE html>"));
  for (const char* part : {"before, kernels: 20", "after, kernels: ", "layers.0-39", "FusedFFN", "default-src 'none'"})
    EXPECT_THAT(html, HasSubstr(part));
  for (const char* outside : {"http:", "https:", " src=", " href=", "@import", "url("})
    EXPECT_THAT(html, Not(HasSubstr(outside)));
}

TEST(ExplainDot, QuotesAndBackslashesAreEscaped) {
  const std::string dot = explain_dot(explain_hostile());
  EXPECT_THAT(dot, AllOf(StartsWith("digraph \""), HasSubstr("subgraph cluster_0"), HasSubstr("\\\"></script>"),
                         HasSubstr("&\\\\'"), HasSubstr(" -> ")));
}

TEST(ExplainRegion, FfnHasAllThatACodeGeneratorNeeds) {
  const Explanation e = explain_tiny();
  const RegionSpec spec = describe_region(e, *find_regions(e, "FusedFFN").front());
  const json object = json::parse(region_json(spec));
  ASSERT_EQ(spec.dims.size(), 3u);  // tokens, hidden, intermediate
  EXPECT_EQ(object["dims"][0], json({{"name", "tokens"}, {"size", "tokens"}, {"bound", 64}, {"roles", {"parallel"}}}));
  EXPECT_EQ(object["dims"][1]["roles"], json({"parallel", "reduce", "contract"}));
  EXPECT_EQ(object["dims"][2]["roles"], json({"parallel", "contract"}));
  ASSERT_EQ(spec.stages.size(), 7u);
  EXPECT_EQ(spec.stages[0].phase, "prologue");
  EXPECT_THAT(spec.stages[0].reduce, ElementsAre("n64"));
  EXPECT_THAT(spec.stages[1].epilogue, ElementsAre("activation layers.0.mlp.act", "mul layers.0.mlp.mul"));
  EXPECT_EQ(spec.stages[1].accumulator, "f32");
  EXPECT_EQ(spec.workspace_bytes, find_regions(e, "FusedFFN").front()->region.capacity_used);
  EXPECT_EQ(object["tile"]["rows"], 64);
}

TEST(ExplainRegion, AttentionReducesAlongTheKeys) {
  const Explanation e = explain_tiny();
  const auto found = find_regions(e, "FusedAttention");
  ASSERT_FALSE(found.empty());
  for (const RegionStage& stage : describe_region(e, *found.front()).stages) {
    if (stage.operation.find("= softmax(") == std::string::npos) continue;
    EXPECT_THAT(stage.reduce, ElementsAre("past+tokens"));
    EXPECT_THAT(stage.algorithm, HasSubstr("online"));
    return;
  }
  FAIL() << "no softmax";
}

TEST(ExplainRegion, RoundingPointsAreSaid) {
  const Graph graph = Graph::parse(R"(graph "g" {
  %x = input "x" : bf16[tokens, 64]
  %g = param "g" : bf16[64]
  %w = param "w" : bf16[32, 64]
  %n = rms_norm(%x, %g) {round_before_weight = true} : bf16[tokens, 64] @ "layers.0.norm"
  %y = matmul(%n, %w) : bf16[tokens, 32] @ "layers.0.up"
  output "y" %y
})");
  const Explanation e = explain(graph, "g", on_device());
  ASSERT_EQ(e.layers.at(0).regions.size(), 1u);
  const RegionSpec spec = describe_region(e, e.layers[0].regions[0]);
  EXPECT_THAT(spec.stages[0].rounding, AllOf(HasSubstr("explicit: the normalised row to bf16"), HasSubstr("implicit")));
  EXPECT_EQ(spec.stages[1].rounding, "when stored: to bf16");
}

TEST(Rules, EachSaysAllOfItself) {
  const std::vector<RuleInfo> rules = fusion_rules();
  EXPECT_GE(rules.size(), 30u);
  for (const RuleInfo& rule : rules) {
    for (const std::string& text : {rule.equation, rule.pattern, rule.shapes, rule.saves, rule.numerics})
      EXPECT_FALSE(text.empty()) << rule.name;
    EXPECT_FALSE(rule.clauses.empty()) << rule.name;
    EXPECT_NO_THROW(Graph::parse(rule.example).verify()) << rule.name;
  }
}

TEST(Explain, TimeGrowsLinearlyWithLayers) {
  const auto seconds = [](int64_t layers) {
    testing::TinySizes sizes;
    sizes.layers = layers;
    const testing::TempDir dir;
    const std::string path = testing::write_gguf(dir, testing::MemoryModel(ModelFormat::kGguf, sizes));
    const auto start = std::chrono::steady_clock::now();
    const Explanation e = explain_file(path, on_device());
    EXPECT_LT(explain_html(e).size(), 100'000u);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  seconds(10);                                // warms up
  EXPECT_LT(seconds(400), 40 * seconds(40));  // quadratic would be 100
}

}  // namespace
}  // namespace atb
