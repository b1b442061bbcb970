#include <gtest/gtest.h>

#include "cost/cost_model.h"
#include "ffn_graphs.h"

namespace atb {
namespace {

using testing::all_nodes;
using testing::attention_block;
using testing::ffn;

Capacity on_ascend(const Graph& g, const Workload& w) {
  return region_capacity(g, all_nodes(g), w, builtin_profile("ascend910"));
}

TEST(AscendCapacity, At512TokensTheIntermediateSizeMayBe16384) {
  EXPECT_TRUE(on_ascend(ffn({.intermediate = 16384}), {.tokens = 512}).fits());
  EXPECT_FALSE(on_ascend(ffn({.intermediate = 16385}), {.tokens = 512}).fits());
  EXPECT_FALSE(on_ascend(ffn({.intermediate = 32768}), {.tokens = 512}).fits());
  EXPECT_EQ(on_ascend(ffn({.intermediate = 16384}), {.tokens = 512}).used, 16 << 20);
}

TEST(AscendCapacity, Hidden4096MayHave2048TokensOfAttention) {
  const Graph g = attention_block(4096, 32);
  EXPECT_TRUE(on_ascend(g, {.tokens = 2048}).fits());
  EXPECT_FALSE(on_ascend(g, {.tokens = 2049}).fits());
  EXPECT_TRUE(on_ascend(g, {.tokens = 1, .past = 100000}).fits()) << "scores are never kept whole";
}

TEST(AscendCapacity, At2048TokensOnlyAttentionFits) {
  EXPECT_FALSE(on_ascend(ffn({.intermediate = 11008}), {.tokens = 2048}).fits());
  EXPECT_TRUE(on_ascend(attention_block(4096, 32), {.tokens = 2048}).fits());
}

TEST(AscendCapacity, RowsOfACallAreTokensOfAllSequences) {
  EXPECT_TRUE(on_ascend(ffn({.intermediate = 16384}), {.tokens = 128, .batch = 4}).fits());
  EXPECT_FALSE(on_ascend(ffn({.intermediate = 16384}), {.tokens = 128, .batch = 5}).fits());
}

TEST(AscendCapacity, ANormTakesInAnAdditionOnlyIfItsSumFits) {
  Graph g("add_norm");
  const ValueId x = g.input("x", DType::kF16, {Dim::symbol("tokens"), 4096});
  const ValueId r = g.input("r", DType::kF16, {Dim::symbol("tokens"), 4096});
  g.output("y", rms_norm(g, add(g, x, r, "add"), g.param("w", DType::kF16, {4096}), {}, "norm"));
  EXPECT_TRUE(on_ascend(g, {.tokens = 2048}).fits());
  EXPECT_FALSE(on_ascend(g, {.tokens = 2049}).fits());
}

DeviceProfile small_tiles(double sram) {
  DeviceProfile p = builtin_profile("zen4");
  p.sram_bytes = sram;
  p.panel_columns = 16;
  p.panel_depth = 8;
  return p;
}

TEST(TileCapacity, IsSlabStatisticsPanelsAndAccumulators) {
  const Graph g = ffn({.hidden = 32, .intermediate = 96, .dtype = DType::kF32});
  // Most lives when mul is computed: x (for the residual), act, up, product. The panels are doubled.
  const int64_t per_row = (32 + 3 * 96) * 4 + 8 + 16 * 4, panels = 2 * 16 * 8 * 4;
  const auto capacity = [&](int64_t sram) {
    return region_capacity(g, all_nodes(g), {.tokens = 100}, small_tiles(static_cast<double>(sram)));
  };
  EXPECT_EQ(capacity(panels + 5 * per_row).tile_rows, 5);
  EXPECT_EQ(capacity(panels + 5 * per_row).used, panels + 5 * per_row);
  EXPECT_EQ(capacity(panels + 5 * per_row - 1).tile_rows, 4);
  EXPECT_FALSE(capacity(panels + per_row - 1).fits());
  EXPECT_EQ(capacity(1 << 30).tile_rows, 100) << "no higher than the call";
}

TEST(TileCapacity, GrowsWithTheNumberOfKeysOfOneHead) {
  const Graph g = attention_block(64, 4, DType::kF32);
  const auto used = [&](int64_t past) {
    return region_capacity(g, all_nodes(g), {.tokens = 1, .past = past}, small_tiles(1e9)).used;
  };
  EXPECT_EQ(used(2000) - used(1000), 2 * 1000 * 4) << "scores and probabilities of one head";
}

}  // namespace
}  // namespace atb
