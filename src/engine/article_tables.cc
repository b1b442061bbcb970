#include "engine/article_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cost/cost_model.h"
#include "engine/eager_layer.h"
#include "engine/layer_blocks.h"
#include "models/model.h"
#include "models/presets.h"

namespace atb {
namespace {

constexpr double kMilli = 1e3, kPercent = 100;

ReportCell cell(double value) { return {.value = value}; }
ReportCell cell(double value, double article) { return {value, article, article}; }
ReportCell cell(double value, double low, double high) { return {value, low, high}; }

Graph llama_2_7b() { return build_model(*shape_file(shape_preset("llama-2-7b"), DType::kF16), DType::kF16).graph; }

/// Which node sets run as one kernel.
enum class Fusion { kNone, kMlp, kAttention, kBoth, kNorms };

NodeSets regions_of(const Graph& graph, Fusion fusion) {
  if (fusion == Fusion::kNone) return {};
  if (fusion == Fusion::kNorms) return norm_regions(graph);
  NodeSets sets;
  if (fusion != Fusion::kAttention) sets = whole_blocks(graph, Block::kMlp);
  if (fusion != Fusion::kMlp)
    for (auto& set : whole_blocks(graph, Block::kAttention)) sets.push_back(std::move(set));
  return sets;
}

/// One model on one device.
class Article {
 public:
  explicit Article(const DeviceProfile& profile) : profile_(profile), graph_(llama_2_7b()) {}

  const Graph& graph() const noexcept { return graph_; }
  const DeviceProfile& profile() const noexcept { return profile_; }
  CostModel model(const Workload& workload) const { return {graph_, workload, profile_}; }

  double ms(const Workload& workload, Fusion fusion) const {
    return kMilli * model(workload).graph(regions_of(graph_, fusion)).total.seconds;
  }

  /// Per block, in the order of Block; the profile's step counts as other. A kernel belongs to its norm's block, so an
  /// addition that is fused with the next norm goes with it.
  std::array<double, 3> block_ms(const Workload& workload, Fusion fusion) const {
    std::array<double, 3> sums{0, 0, kMilli * profile_.step};
    const CostModel costs = model(workload);
    std::vector<bool> done(graph_.nodes().size());
    const auto charge = [&](std::span<const NodeId> nodes) {
      sums[static_cast<size_t>(block_of(graph_.node(nodes.back())))] += kMilli * costs.kernel(nodes).seconds;
      for (NodeId id : nodes) done[static_cast<size_t>(id)] = true;
    };
    for (const auto& region : regions_of(graph_, fusion)) charge(region);
    for (NodeId id = 0; static_cast<size_t>(id) < done.size(); ++id)
      if (!done[static_cast<size_t>(id)] && costs.is_operator(id)) charge({&id, 1});
    return sums;
  }

  /// How much of the token's time norm fusion saves, percent.
  double norm_gain(const Workload& workload) const {
    return kPercent * (1 - ms(workload, Fusion::kNorms) / ms(workload, Fusion::kNone));
  }

 private:
  DeviceProfile profile_;
  Graph graph_;
};

Workload prefill(int64_t tokens) { return {.tokens = tokens}; }
Workload decode(int64_t past, int64_t batch = 1) { return {.tokens = 1, .past = past, .batch = batch}; }

ReportTable latency_table(const Article& article) {
  struct Row {
    const char* label;
    Fusion fusion;
    double prefill, decode;
  };
  constexpr Row kRows[] = {{"no fusion", Fusion::kNone, 120, 35},
                           {"MLP only", Fusion::kMlp, 95, 28},
                           {"attention only", Fusion::kAttention, 105, 25},
                           {"MLP + attention", Fusion::kBoth, 75, 20}};
  ReportTable table{"latency", "ms", {"prefill 128", "decode at 128"}, {}, {"article 1: LLaMA-2-7B, fp16, batch 1"}};
  for (const Row& row : kRows)
    table.rows.push_back({row.label,
                          {cell(article.ms(prefill(128), row.fusion), row.prefill),
                           cell(article.ms(decode(128), row.fusion), row.decode)}});
  return table;
}

ReportTable norm_table(const Article& article) {
  struct Row {
    const char* label;
    double unfused, fused;
  };
  constexpr Row kRows[] = {{"attention with its norm", 18, 15}, {"FFN with its norm", 20, 17}, {"other", 2, 2}};
  const auto before = article.block_ms(decode(512), Fusion::kNone);
  const auto after = article.block_ms(decode(512), Fusion::kNorms);
  ReportTable table{"norm_fusion", "ms", {"unfused", "norms fused"}, {}, {}};
  table.notes = {
      "article 2: time per token at context 512; each norm is fused with the addition before it and the "
      "matrix products after it, nothing else"};
  double sum_before = 0, sum_after = 0;
  for (size_t i = 0; i < std::size(kRows); ++i) {
    table.rows.push_back({kRows[i].label, {cell(before[i], kRows[i].unfused), cell(after[i], kRows[i].fused)}});
    sum_before += before[i];
    sum_after += after[i];
  }
  table.rows.push_back({"total", {cell(sum_before, 40), cell(sum_after, 34)}});
  return table;
}

ReportTable gain_table(const Article& article) {
  ReportTable table{"norm_gain", "%", {"saved by norm fusion"}, {}, {}};
  table.rows = {{"batch 1, context 512", {cell(article.norm_gain(decode(512)), 15)}},
                {"batch 32, context 512", {cell(article.norm_gain(decode(512, 32)), 8, 10)}},
                {"batch 1, context 8192", {cell(article.norm_gain(decode(8192)), 20)}}};
  table.notes = {
      "context 8192: the model saves the same milliseconds of a longer token, so its share cannot grow as article 2 "
      "says; no constant is bent for this cell"};
  return table;
}

ReportTable kernel_table(const Article& article) {
  const int64_t layers = shape_preset("llama-2-7b").layers;
  const auto per_layer = [&](Fusion fusion) {
    const CostModel costs = article.model(decode(512));
    const auto all = costs.graph(regions_of(article.graph(), fusion)).kernels.size();
    const auto outside = std::count_if(article.graph().nodes().begin(), article.graph().nodes().end(),
                                       [](const Node& node) { return block_of(node) == Block::kOther; });
    return static_cast<double>(static_cast<int64_t>(all) - outside) / static_cast<double>(layers);
  };
  const auto eager = [](bool norms_fused, double reference) {
    return cell(static_cast<double>(eager_kernels_per_layer(norms_fused)), reference);
  };
  ReportTable table{"kernels", "launches of one decoder layer", {"kernels"}, {}, {}};
  table.rows = {{"PyTorch eager, primitive operators", {eager(false, 50)}},
                {"the same, norms fused", {eager(true, 25)}},
                {"semantic operators, unfused", {cell(per_layer(Fusion::kNone))}},
                {"semantic operators, norms fused", {cell(per_layer(Fusion::kNorms))}},
                {"MLP + attention fused", {cell(per_layer(Fusion::kBoth))}}};
  table.notes = {
      "the article's 50 and 25 are eager PyTorch's launches of one layer, every step of a norm and of the rotary "
      "embedding counted, without and with norm fusion; a semantic operator is one node here"};
  return table;
}

/// norm -> up -> GELU -> down [-> residual], the article's plain FFN.
Graph plain_ffn(bool residual) {
  constexpr int64_t kHidden = 4096, kIntermediate = 11008;
  Graph g("ffn");
  const ValueId x = g.input("x", DType::kF16, {Dim::symbol("tokens"), kHidden});
  const ValueId normed = layer_norm(g, x, g.param("gamma", DType::kF16, {kHidden}),
                                    g.param("beta", DType::kF16, {kHidden}), {}, "layers.0.mlp_norm");
  const ValueId up = matmul(g, normed, g.param("up", DType::kF16, {kIntermediate, kHidden}), "layers.0.mlp.up");
  const ValueId hidden = activation(g, up, ActivationKind::kGelu, "layers.0.mlp.act");
  ValueId y = matmul(g, hidden, g.param("down", DType::kF16, {kHidden, kIntermediate}), "layers.0.mlp.down");
  if (residual) y = add(g, y, x, "layers.0.mlp.residual");
  g.output("y", y);
  return g;
}

/// Of the first layer's FFN: its operators one by one, and as one kernel.
std::vector<ReportCell> ffn_round_trips(const Graph& graph, const DeviceProfile& profile, double before, double after) {
  const std::vector<NodeId> ffn = whole_blocks(graph, Block::kMlp).front();
  const CostModel costs(graph, prefill(128), profile);
  int64_t unfused = 0;
  for (NodeId id : ffn) unfused += costs.kernel({&id, 1}).round_trips;
  return {cell(static_cast<double>(unfused), before), cell(static_cast<double>(costs.kernel(ffn).round_trips), after)};
}

ReportTable round_trip_table(const Article& article) {
  const DeviceProfile& profile = article.profile();
  ReportTable table{"round_trips", "activation tensors read and written by one FFN", {"unfused", "fused"}, {}, {}};
  table.rows = {{"norm, dense, GELU, dense", ffn_round_trips(plain_ffn(false), profile, 8, 2)},
                {"with the residual", ffn_round_trips(plain_ffn(true), profile, 11, 2)},
                {"gated, with the residual", ffn_round_trips(article.graph(), profile, 16, 2)}};
  return table;
}

/// What the block of one LLaMA-2-7B layer needs on chip, with another intermediate size.
Capacity block_capacity(Block block, int64_t tokens, int64_t intermediate, const DeviceProfile& profile) {
  ShapePreset shape = shape_preset("llama-2-7b");
  shape.intermediate_size = intermediate;
  const Graph graph = build_model(*shape_file(shape, DType::kF16, 1), DType::kF16).graph;
  return CostModel(graph, prefill(tokens), profile).capacity(whole_blocks(graph, block).front());
}

ReportTable capacity_table(const Article& article) {
  struct Row {
    const char* label;
    Block block;
    int64_t tokens, intermediate;
    double fits;  ///< by the article
  };
  constexpr Row kRows[] = {{"MLP, 512 tokens, intermediate 11008", Block::kMlp, 512, 11008, 1},
                           {"MLP, 512 tokens, intermediate 16384", Block::kMlp, 512, 16384, 1},
                           {"MLP, 512 tokens, intermediate 16386", Block::kMlp, 512, 16386, 0},
                           {"MLP, 512 tokens, intermediate 32768", Block::kMlp, 512, 32768, 0},
                           {"MLP, 2048 tokens, intermediate 11008", Block::kMlp, 2048, 11008, 0},
                           {"attention, 2048 tokens, hidden 4096", Block::kAttention, 2048, 11008, 1},
                           {"attention, 2049 tokens, hidden 4096", Block::kAttention, 2049, 11008, 0}};
  ReportTable table{"capacity", "MiB; 1 fits, 0 does not", {"needs", "has", "fits"}, {}, {}};
  constexpr double kMiB = 1 << 20;
  for (const Row& row : kRows) {
    const Capacity c = block_capacity(row.block, row.tokens, row.intermediate, article.profile());
    table.rows.push_back({row.label,
                          {cell(static_cast<double>(c.used) / kMiB), cell(static_cast<double>(c.available) / kMiB),
                           cell(c.fits() ? 1 : 0, row.fits)}});
  }
  table.notes = {
      "the article's formulas (intermediate*hidden*2, seq*heads*head_dim*4) contradict its thresholds; "
      "tokens*intermediate*2 and tokens*heads*head_dim*2 give all of them"};
  return table;
}

/// The first n operators of one FFN as one kernel, the others alone.
ReportTable icache_table(const Article& article) {
  const std::vector<NodeId> ffn = whole_blocks(article.graph(), Block::kMlp).front();
  const CostModel costs = article.model(prefill(128));
  ReportTable table{"operators_per_kernel", "us", {"one FFN at prefill 128"}, {}, {}};
  for (size_t n = 1; n <= ffn.size(); ++n) {
    double seconds = costs.kernel(std::span(ffn).first(n)).seconds;
    for (NodeId id : std::span(ffn).subspan(n)) seconds += costs.kernel({&id, 1}).seconds;
    table.rows.push_back({fmt::format("{} fused", n), {cell(1e6 * seconds)}});
  }
  table.notes = {
      "article 2: beyond five operators the instruction cache misses, and more fusion gets slower: the sixth row "
      "against "
      "the fifth"};
  return table;
}

}  // namespace

std::vector<ReportTable> article_tables(const DeviceProfile& profile) {
  const Article article(profile);
  return {latency_table(article),    norm_table(article),     gain_table(article),  kernel_table(article),
          round_trip_table(article), capacity_table(article), icache_table(article)};
}

}  // namespace atb
