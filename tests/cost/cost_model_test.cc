#include "cost/cost_model.h"

#include <gtest/gtest.h>

#include "ffn_graphs.h"

namespace atb {
namespace {

using testing::all_nodes;
using testing::attention_block;
using testing::ffn;

const DeviceProfile& ascend() { return builtin_profile("ascend910"); }

/// Nothing but what the test sets.
DeviceProfile plain_device() {
  DeviceProfile p;
  p.name = "plain";
  p.cube_f32 = p.cube_f16 = p.cube_bf16 = p.cube_int8 = 1e12;
  p.vector_ops = 1e12;
  p.sram_bytes = 1 << 20;
  p.memory_bandwidth = 1e9;
  return p;
}

int64_t unfused_round_trips(const Graph& g) {
  return CostModel(g, {.tokens = 128}, ascend()).graph().total.round_trips;
}
KernelCost fused(const Graph& g, const Workload& w = {.tokens = 128}) {
  return kernel_cost(g, all_nodes(g), w, ascend());
}

TEST(RoundTrips, AreTheSpecifiedNumbersOfAnFfn) {
  const Graph gated = ffn({});
  const Graph plain = ffn({.gated = false});
  const Graph bare = ffn({.gated = false, .residual = false});
  EXPECT_EQ(unfused_round_trips(gated), 16);
  EXPECT_EQ(unfused_round_trips(plain), 11);
  EXPECT_EQ(unfused_round_trips(bare), 8);
  for (const Graph* g : {&gated, &plain, &bare}) EXPECT_EQ(fused(*g).round_trips, 2);
}

TEST(RoundTrips, StatesAreBytesAndNoTrips) {
  const Graph g = attention_block(64, 4);
  const KernelCost cost = fused(g, {.tokens = 2, .past = 10});
  EXPECT_EQ(cost.round_trips, 2);
  EXPECT_EQ(cost.activation_bytes, 2 * 2 * 64 * 2);
  EXPECT_EQ(cost.state_bytes, 2 * (2 + 12) * 64 * 2) << "K and V: two rows written, twelve read, 64 halves each";
}

TEST(RoundTrips, ReshapesAreTheirTensorAndSlicesTheirOwn) {
  Graph g("views");
  const ValueId x = g.input("x", DType::kF32, {Dim::symbol("tokens"), 8});
  const ValueId y = activation(g, x, ActivationKind::kRelu, "relu");
  const ValueId folded = g.add(Op::kReshape, ReshapeAttrs{{-1, 2, 4}}, {y}, "fold");
  g.output("sum", add(g, folded, folded, "sum"));
  const ValueId left = g.add(Op::kSlice, SliceAttrs{1, 0, 4}, {y}, "left");
  const ValueId right = g.add(Op::kSlice, SliceAttrs{1, 4, 8}, {y}, "right");
  g.output("product", mul(g, left, right, "product"));
  const Workload w{.tokens = 3};
  const auto trips = [&](std::vector<NodeId> nodes) { return kernel_cost(g, nodes, w, ascend()).round_trips; };
  EXPECT_EQ(trips({0}), 2);
  EXPECT_EQ(trips({1}), 0) << "a view is no kernel";
  EXPECT_EQ(trips({2}), 2) << "the same tensor twice is read once";
  EXPECT_EQ(trips({5}), 3);
  EXPECT_EQ(trips({0, 1, 2}), 3) << "x, the sum, and y, which the slices look at";
  EXPECT_EQ(trips({0, 1, 2, 3, 4, 5}), 3) << "x in, two results out";
}

TEST(Work, OfAMatrixProductIsTwiceItsSize) {
  const Graph g = ffn({.hidden = 32, .intermediate = 96});
  const KernelCost cost = fused(g, {.tokens = 5});
  EXPECT_EQ(cost.cube_ops, 3.0 * 2 * 5 * 32 * 96);
  EXPECT_EQ(cost.weight_bytes, (3.0 * 32 * 96 + 32) * 2);
  EXPECT_EQ(cost.operators, 7);
}

TEST(Work, BatchMultipliesActivationsAndStatesButNotWeights) {
  const Graph g = attention_block(64, 4);
  const KernelCost one = fused(g, {.tokens = 1, .past = 7});
  const KernelCost three = fused(g, {.tokens = 1, .past = 7, .batch = 3});
  EXPECT_EQ(three.weight_bytes, one.weight_bytes);
  EXPECT_EQ(three.state_bytes, 3 * one.state_bytes);
  EXPECT_EQ(three.activation_bytes, 3 * one.activation_bytes);
  EXPECT_EQ(three.cube_ops, 3 * one.cube_ops);
  EXPECT_EQ(three.round_trips, one.round_trips);
}

TEST(Work, ACastWeightIsAWeight) {
  Graph g("bias");
  const ValueId x = g.input("x", DType::kF16, {Dim::symbol("tokens"), 8});
  const ValueId b = cast(g, g.param("b", DType::kF32, {8}), DType::kF16, "cast");
  g.output("y", add(g, x, b, "bias"));
  const GraphCost cost = CostModel(g, {.tokens = 4}, ascend()).graph();
  EXPECT_EQ(cost.kernels.size(), 1u);
  EXPECT_EQ(cost.total.round_trips, 2);
  EXPECT_EQ(cost.total.weight_bytes, 16);
}

TEST(Work, AnEmbeddingReadsTheRowsThatItPicks) {
  Graph g("embed");
  const ValueId ids = g.input("tokens", DType::kI32, {Dim::symbol("tokens")});
  g.output("x", embedding(g, g.param("table", DType::kF16, {1000, 16}), ids, "embed"));
  const KernelCost cost = fused(g, {.tokens = 3});
  EXPECT_EQ(cost.weight_bytes, 3 * 16 * 2);
  EXPECT_EQ(cost.round_trips, 1) << "indices are no activation";
}

TEST(Seconds, AreTheRooflineAndTheOverheads) {
  DeviceProfile p = plain_device();
  p.launch = 1e-3;
  p.round_trip = 1e-4;
  const Graph g = ffn({.hidden = 32, .intermediate = 96});
  const auto nodes = all_nodes(g);
  const KernelCost cost = kernel_cost(g, nodes, {.tokens = 1}, p);
  const double bytes = cost.weight_bytes + cost.activation_bytes;
  EXPECT_NEAR(cost.seconds, 1e-3 + 2 * 1e-4 + bytes / 1e9, 1e-12) << "memory is the longest and hides the others";
  p.fused_overlap = 0;
  const KernelCost serial = kernel_cost(g, nodes, {.tokens = 1}, p);
  EXPECT_NEAR(serial.seconds - cost.seconds, cost.cube_ops / 1e12 + cost.vector_ops / 1e12, 1e-12);
}

TEST(Seconds, TheInstructionCacheSlowsComputingBeyondItsOperators) {
  DeviceProfile p = plain_device();
  p.icache_operators = 5;
  p.icache_penalty = 0.5;
  const Graph g = ffn({});
  const auto nodes = all_nodes(g);
  const auto first = [&](size_t n) { return kernel_cost(g, std::span(nodes).first(n), {.tokens = 64}, p); };
  const auto ideal = [&](size_t n) { return first(n).cube_ops / 1e12; };
  EXPECT_NEAR(first(5).cube_seconds, ideal(5), 1e-12);
  EXPECT_NEAR(first(6).cube_seconds, 1.5 * ideal(6), 1e-9);
  EXPECT_NEAR(first(7).cube_seconds, 2.0 * ideal(7), 1e-9);
}

TEST(Seconds, ALastLevelCacheServesActivationsThatFit) {
  DeviceProfile p = plain_device();
  Graph g("relu");
  const ValueId x = g.input("x", DType::kF32, {Dim::symbol("tokens"), 256});
  g.output("y", activation(g, x, ActivationKind::kRelu, "relu"));
  const auto nodes = all_nodes(g);
  p.llc_bytes = 8192;
  p.llc_bandwidth = 1e10;
  EXPECT_NEAR(kernel_cost(g, nodes, {.tokens = 4}, p).memory_seconds, 8192 / 1e10, 1e-15);
  EXPECT_NEAR(kernel_cost(g, nodes, {.tokens = 5}, p).memory_seconds, 10240 / 1e9, 1e-15);
}

TEST(Seconds, WeightsStreamByOncePerTileHeight) {
  const DeviceProfile& p = builtin_profile("zen4");
  const Graph g = ffn({.dtype = DType::kBF16});
  const auto nodes = all_nodes(g);
  const Workload w{.tokens = 512};
  const int64_t rows = region_capacity(g, nodes, w, p).tile_rows * p.cores;
  EXPECT_EQ(kernel_cost(g, nodes, w, p).weight_passes, (512 + rows - 1) / rows);
  EXPECT_EQ(kernel_cost(g, nodes, {.tokens = 1}, p).weight_passes, 1);
}

TEST(Seconds, WithoutAPathFromCubeToVectorEveryCrossingCosts) {
  DeviceProfile p = plain_device();
  p.llc_bytes = 1;
  p.llc_bandwidth = 2e9;
  const Graph g = ffn({.hidden = 32, .intermediate = 96});
  const auto nodes = all_nodes(g);
  const double direct = kernel_cost(g, nodes, {.tokens = 1}, p).memory_seconds;
  p.cube_to_vector = false;
  // norm -> gate and up, gate -> act, up -> mul, mul -> down, down -> residual
  const double crossing = 2.0 * (2 * 32 + 96 + 96 + 96 + 32) * 2;
  EXPECT_NEAR(kernel_cost(g, nodes, {.tokens = 1}, p).memory_seconds - direct, crossing / 2e9, 1e-15);
}

TEST(GraphCost, CountsEachRegionOnceAndTheStep) {
  DeviceProfile p = plain_device();
  p.step = 0.25;
  const Graph g = ffn({});
  const CostModel model(g, {.tokens = 4}, p);
  const std::vector<std::vector<NodeId>> regions = {{3, 4}};
  const GraphCost cost = model.graph(regions);
  EXPECT_EQ(cost.kernels.size(), 6u);
  double sum = 0.25;
  for (const KernelCost& k : cost.kernels) sum += k.seconds;
  EXPECT_NEAR(cost.total.seconds, sum, 1e-12);
  EXPECT_EQ(cost.total.operators, 7);
}

}  // namespace
}  // namespace atb
