// A plan with regions computes the same bits as one without, in fewer launches.
#include <atb/error.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "cost/cost_model.h"
#include "model_fixture.h"

namespace atb::test {
namespace {

/// The nodes of these paths below "layers.N.".
Region region(const Graph& graph, int layer, std::string name, const std::vector<std::string>& parts) {
  Region made;
  made.name = std::move(name);
  made.layer = "layers." + std::to_string(layer);
  for (NodeId id = 0; static_cast<size_t>(id) < graph.nodes().size(); ++id)
    for (const std::string& part : parts)
      if (graph.node(id).path == made.layer + "." + part) made.nodes.push_back(id);
  EXPECT_EQ(made.nodes.size(), parts.size());
  return made;
}

const std::vector<std::string> kFfn = {"norm2", "gate", "up", "silu", "mul", "down", "add2"};
const std::vector<std::string> kAttention = {"norm1",    "q",      "k",       "v",      "rope_q", "rope_k", "append_k",
                                             "append_v", "scores", "softmax", "values", "o",      "add1"};

/// The regions of one layer, in several ways to cut it.
using Cut = std::vector<std::pair<std::string, std::vector<std::string>>>;
const Cut kWhole = {{"FusedAttention", kAttention}, {"FusedFFN", kFfn}};
const Cut kFfnOnly = {{"FusedFFN", kFfn}};
const Cut kParts = {{"RmsNorm+MatMul", {"norm1", "q", "k", "v", "rope_q", "rope_k", "append_k", "append_v"}},
                    {"Softmax", {"scores", "softmax", "values"}},
                    {"MatMul+Add+RmsNorm+MatMul", {"o", "add1", "norm2", "gate", "up"}},
                    {"Activation+Mul", {"silu", "mul"}},
                    {"MatMul+Add", {"down", "add2"}}};
/// The nodes of a region need not follow each other in the graph.
const Cut kApart = {{"QRope", {"q", "rope_q"}}, {"KRope", {"k", "rope_k", "append_k"}}, {"GateSilu", {"gate", "silu"}}};

std::vector<Region> regions(const Graph& graph, const Cut& cut, int layers) {
  std::vector<Region> all;
  for (int layer = 0; layer < layers; ++layer)
    for (const auto& [name, parts] : cut) all.push_back(region(graph, layer, name, parts));
  return all;
}

/// Logits of every token of three steps: a block of a sequence, one token of it together with two other sequences, and
/// one more block.
std::vector<float> run_steps(Runner& runner, size_t rows) {
  std::vector<KvCache> caches;
  for (int i = 0; i < 3; ++i) caches.push_back(runner.cache());
  const auto tokens = random_tokens(rows);
  const std::span<const int32_t> all(tokens);
  std::vector<float> logits;
  const auto step = [&](std::vector<SequenceStep> steps) {
    const auto found = runner.executor.step(steps);
    logits.insert(logits.end(), found.begin(), found.end());
  };
  step({{&caches[0], all, true}});
  step({{&caches[0], all.first(1), true}, {&caches[1], all, true}, {&caches[2], all.last(std::min<size_t>(rows, 2))}});
  step({{&caches[1], all.first((rows + 1) / 2), true}, {&caches[0], all.first(rows / 2 + 1), true}});
  return logits;
}

TEST(Region, SameBitsAsUnfused) {
  for (const DType weights : {DType::kF32, DType::kBF16, DType::kQ4_1, DType::kQ8_0}) {
    const SmallModel model({.weights = weights, .kv = DType::kF16});
    for (const int threads : {1, 2, 3}) {
      Runner unfused(model.graph(), model, DType::kF16, {.threads = threads});
      for (const Cut& cut : {kWhole, kFfnOnly, kParts, kApart}) {
        Runner fused(model.graph(), model, DType::kF16,
                     {.threads = threads, .regions = regions(model.graph(), cut, 2)});
        for (const size_t rows : {1, 2, 5, 33, 70}) {
          SCOPED_TRACE(std::string(dtype_name(weights)) + ", " + std::to_string(threads) + " threads, " +
                       std::to_string(rows) + " rows, " + cut[0].first);
          EXPECT_EQ(run_steps(fused, rows), run_steps(unfused, rows));
        }
      }
    }
  }
}

/// Slabs of every height that the planner may choose, and one that holds too little.
TEST(Region, SameBitsWhateverTheCapacity) {
  const SmallModel model({.weights = DType::kQ8_0});
  Runner unfused(model.graph(), model, DType::kF32, {.threads = 2});
  const auto wanted = run_steps(unfused, 70);
  for (const int64_t capacity : {1000, 20'000, 40'000, 60'000, 1'000'000}) {
    auto cut = regions(model.graph(), kWhole, 2);
    for (Region& r : cut) r.capacity_available = capacity;
    Runner fused(model.graph(), model, DType::kF32, {.threads = 2, .regions = cut});
    EXPECT_EQ(run_steps(fused, 70), wanted) << capacity;
  }
}

/// What the cost model says of the same regions, so `atb explain` and the executor agree.
KernelCost predicted(const Graph& graph, const std::vector<Region>& regions) {
  std::vector<std::vector<NodeId>> nodes;
  for (const Region& r : regions) nodes.push_back(r.nodes);
  return CostModel(graph, {.tokens = 1}, builtin_profile("avx2_desktop")).graph(nodes).total;
}

TEST(Region, CountsLaunchesAndRoundTrips) {
  const SmallModel model({.layers = 3});
  const Graph& graph = model.graph();
  for (const Cut& cut : {Cut{}, kWhole, kFfnOnly, kParts, kApart}) {
    const auto chosen = regions(graph, cut, 3);
    size_t kernels = graph.nodes().size();
    for (const Region& r : chosen) kernels -= r.nodes.size() - 1;
    Runner runner(graph, model, DType::kF32, {.threads = 2, .regions = chosen});
    for (const size_t rows : {1, 5, 70}) {
      runner.logits(random_tokens(rows));
      EXPECT_EQ(runner.executor.counters().kernels, static_cast<int64_t>(kernels));
      EXPECT_EQ(runner.executor.counters().round_trips, predicted(graph, chosen).round_trips);
    }
    EXPECT_EQ(runner.plan->steps().size(), kernels);
  }
}

TEST(Region, SavesRoundTripsAsSpecified) {
  const SmallModel model({.layers = 1});
  const auto trips = [&](const Cut& cut) {
    Runner runner(model.graph(), model, DType::kF32, {.regions = regions(model.graph(), cut, 1)});
    runner.logits(random_tokens(1));
    return runner.executor.counters().round_trips;
  };
  EXPECT_EQ(trips({}) - trips(kFfnOnly), 16 - 2) << "a gated FFN";
}

TEST(Region, IsOneLineOfThePlan) {
  const SmallModel model({.layers = 1});
  Runner runner(model.graph(), model, DType::kF32,
                {.max_isa = Isa::kPortable, .regions = regions(model.graph(), kFfnOnly, 1)});
  const auto& infos = runner.plan->steps();
  const auto ffn = std::find_if(infos.begin(), infos.end(), [](const StepInfo& i) { return i.op == "FusedFFN"; });
  ASSERT_NE(ffn, infos.end());
  EXPECT_EQ(ffn->path, "layers.0");
  EXPECT_NE(ffn->kernel.find("rms_norm/portable + matmul"), std::string::npos) << ffn->kernel;
}

/// A long prompt runs the FFN on tiles of rows: the threads wait for each other less often.
TEST(Region, TilesNeedFewerBarriers) {
  const SmallModel model({});
  const auto barriers = [&](std::vector<Region> chosen) {
    Runner runner(model.graph(), model, DType::kF32, {.threads = 2, .regions = std::move(chosen)});
    runner.logits(random_tokens(70));
    return runner.executor.counters().barriers;
  };
  EXPECT_LE(barriers(regions(model.graph(), kWhole, 2)), 3 * 2 + 3);
  EXPECT_GT(barriers({}), 5 * 2);
}

TEST(Region, RejectsRegionsThatCannotRun) {
  const SmallModel model({});
  const auto build = [&](std::vector<Region> chosen) {
    Runner(model.graph(), model, DType::kF32, {.regions = std::move(chosen)});
  };
  const Graph& graph = model.graph();
  const Region ffn = region(graph, 0, "FusedFFN", kFfn);
  EXPECT_THROW(build({ffn, ffn}), Error) << "not disjoint";
  EXPECT_THROW(build({region(graph, 0, "not convex", {"norm2", "mul"})}), Error);
  Region absent = ffn;
  absent.nodes = {100'000};
  EXPECT_THROW(build({absent}), Error);
}

}  // namespace
}  // namespace atb::test
