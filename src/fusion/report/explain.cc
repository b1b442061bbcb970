#include <atb/error.h>
#include <atb/explain.h>
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/options.h"
#include "base/text.h"
#include "fusion/facts.h"
#include "fusion/fuse.h"

namespace atb {
namespace {

constexpr const char* kHostCache = "";  // nothing is measured: the built-in row nearest to this machine

void check_size(const char* name, int64_t found, int64_t least) {
  if (found < least)
    throw Error(ErrorCode::kUsage, fmt::format("{} found, at least {} expected", found, least), name,
                "sizes are tokens and sequences of one call");
}

void add(ExplainFigures& sum, const ExplainFigures& part) {
  sum.kernels += part.kernels;
  sum.round_trips += part.round_trips;
  sum.bytes += part.bytes;
  sum.us += part.us;
}

class Explainer {
 public:
  Explainer(Explanation& out, const DeviceProfile& profile)
      : out_(out), profile_(profile), cost_(out.graph, workload(), profile) {}

  void run() {
    const FusionResult result = fuse(out_.graph, {out_.request.options, profile_, workload(), false});
    out_.fuse_ms = 1e3 * result.seconds;
    group_nodes();
    count_before();
    place_regions(result);
    for (const NearMiss& miss : result.near_misses) layer_at(miss.node).near_misses.push_back(miss);
    for (const Conflict& conflict : result.conflicts) layer_named(conflict.layer).conflicts.push_back(conflict);
  }

 private:
  Workload workload() const { return {out_.request.tokens, out_.request.past, out_.request.batch}; }

  ExplainFigures figures(std::span<const NodeId> kernel) const {
    const KernelCost cost = cost_.kernel(kernel);
    return {1, cost.round_trips, cost.activation_bytes, 1e6 * cost.seconds};
  }

  /// Nodes outside of layers go to "embedding" before the first one, to "head" behind the last, else to the layer
  /// before them.
  void group_nodes() {
    const std::span<const Node> nodes = out_.graph.nodes();
    const auto in_layer = [](const Node& node) { return !layer_of(node.path).empty(); };
    const auto last = std::find_if(nodes.rbegin(), nodes.rend(), in_layer).base() - nodes.begin();
    std::string name = last == 0 ? "graph" : "embedding";
    for (NodeId id = 0; static_cast<size_t>(id) < nodes.size(); ++id) {
      const Node& node = nodes[static_cast<size_t>(id)];
      if (in_layer(node)) name = layer_of(node.path);
      if (last > 0 && id >= last) name = "head";
      const size_t layer = index_of(name);
      if (cost_.is_operator(id)) out_.layers[layer].operators.push_back(id);
      layer_of_node_.push_back(layer);
      layer_by_where_.emplace(out_.where(id), layer);
    }
    if (out_.layers.empty()) index_of("graph");
  }

  size_t index_of(const std::string& name) {
    const auto [entry, fresh] = layer_by_name_.try_emplace(name, out_.layers.size());
    if (fresh) out_.layers.emplace_back().name = name;
    return entry->second;
  }

  void count_before() {
    for (NodeId id = 0; static_cast<size_t>(id) < layer_of_node_.size(); ++id) {
      alone_.push_back(cost_.is_operator(id) ? figures({&id, 1}) : ExplainFigures{});
      add(out_.layers[layer_of_node_[static_cast<size_t>(id)]].before, alone_.back());
    }
  }

  /// A kernel belongs to the layer of its first node.
  void place_regions(const FusionResult& result) {
    std::vector<bool> fused(layer_of_node_.size());
    for (const Region& region : result.regions) {
      ExplainedLayer& layer = out_.layers[layer_of_node_[static_cast<size_t>(region.nodes.front())]];
      layer.regions.push_back(explain_region(region));
      add(layer.after, layer.regions.back().after);
      for (const NodeId id : region.nodes) fused[static_cast<size_t>(id)] = true;
    }
    for (size_t id = 0; id < fused.size(); ++id)
      if (!fused[id]) add(out_.layers[layer_of_node_[id]].after, alone_[id]);
  }

  ExplainedRegion explain_region(const Region& region) const {
    ExplainedRegion explained;
    explained.region = region;
    explained.after = figures(region.nodes);
    explained.tile_rows = cost_.capacity(region.nodes).tile_rows;
    for (const NodeId id : region.nodes) {
      if (!cost_.is_operator(id)) continue;
      explained.operators.push_back(out_.where(id));
      add(explained.before, alone_[static_cast<size_t>(id)]);
    }
    return explained;
  }

  ExplainedLayer& layer_at(const std::string& where) {
    const auto found = layer_by_where_.find(where);
    return out_.layers[found == layer_by_where_.end() ? 0 : found->second];
  }

  ExplainedLayer& layer_named(const std::string& name) {
    const auto found = layer_by_name_.find(name);
    return out_.layers[found == layer_by_name_.end() ? 0 : found->second];
  }

  Explanation& out_;
  const DeviceProfile& profile_;
  CostModel cost_;
  std::vector<size_t> layer_of_node_;
  std::vector<ExplainFigures> alone_;  ///< per node; zeros for one that is no operator
  std::unordered_map<std::string, size_t> layer_by_name_, layer_by_where_;
};

bool is_number(const std::string& name, int64_t layer) { return name.ends_with("." + std::to_string(layer)); }

void keep_layer(Explanation& out, int64_t layer) {
  std::vector<std::string> names;
  for (const ExplainedLayer& l : out.layers) names.push_back(l.name);
  std::erase_if(out.layers, [&](const ExplainedLayer& l) { return !is_number(l.name, layer); });
  if (out.layers.empty())
    throw Error(ErrorCode::kUsage, fmt::format("there is no layer {}", layer), "layer",
                fmt::format("there are {} to {}", names.front(), names.back()));
}

}  // namespace

std::string Explanation::where(NodeId id) const {
  const Node& node = graph.node(id);
  return node.path.empty() ? fmt::format("{} %{}", op_info(node.op).name, graph.value(node.output).name) : node.path;
}

Explanation explain(const Graph& graph, const std::string& model, const ExplainRequest& request) {
  check_size("seq", request.tokens, 1);
  check_size("batch", request.batch, 1);
  check_size("past", request.past, 0);
  const std::string device = request.device.empty() ? read_env().device_profile.value_or("host") : request.device;
  const DeviceProfile profile = find_profile(device, kHostCache);
  Explanation out;
  out.model = model;
  out.device = profile.name;
  out.device_source = profile.source;
  out.request = request;
  out.cores = profile.cores;
  out.panel_columns = profile.panel_columns;
  out.panel_depth = profile.panel_depth;
  out.graph = recognise(graph);
  Explainer(out, profile).run();
  if (request.layer) keep_layer(out, *request.layer);
  for (const ExplainedLayer& layer : out.layers) {
    add(out.before, layer.before);
    add(out.after, layer.after);
  }
  return out;
}

std::vector<const ExplainedRegion*> find_regions(const Explanation& explanation, const std::string& name) {
  std::vector<const ExplainedRegion*> found;
  std::vector<std::string> known;
  for (const ExplainedLayer& layer : explanation.layers) {
    for (const ExplainedRegion& explained : layer.regions) {
      const Region& region = explained.region;
      const std::string full = region.layer + ":" + region.name;
      if (name == region.name || name == region.layer || name == full) found.push_back(&explained);
      for (const std::string& one : {region.name, full})
        if (std::find(known.begin(), known.end(), one) == known.end()) known.push_back(one);
    }
  }
  if (!found.empty()) return found;
  constexpr size_t kShown = 12;
  const std::string nearest = nearest_name(name, known);
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (known.size() > kShown) known.resize(kShown), known.emplace_back("...");
  throw Error(ErrorCode::kUsage, "there is no region '" + name + "'", "region",
              nearest.empty() ? "nothing is fused" : "did you mean '" + nearest + "'? There are " + join(known, ", "));
}

}  // namespace atb
