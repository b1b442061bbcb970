// What fusion does to a graph, as a value: layers with their figures before and after, regions, near misses, conflicts.
// From it come the text, JSON, HTML and DOT of `atb explain`. Nothing here runs a model or packs a weight.
//
// Definitions of every figure (kernel, operator, round trip, bytes): docs/explain.md.
#pragma once

#include <atb/fusion.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace atb {

struct ExplainRequest {
  std::string device;    ///< "host", a built-in name or a JSON file; empty: ATB_DEVICE_PROFILE, then "host"
  int64_t tokens = 512;  ///< of one call, per sequence; > 0
  int64_t batch = 1;     ///< sequences; > 0
  int64_t past = 0;      ///< tokens already in the KV cache; >= 0
  std::optional<int64_t> layer = {};  ///< only the layer of that number
  FusionOptions options = {};
};

/// One side of before and after.
struct ExplainFigures {
  int64_t kernels = 0;
  int64_t round_trips = 0;  ///< activation tensors read plus written
  double bytes = 0;         ///< of those
  double us = 0;            ///< predicted
};

/// A region with what the plan makes of it.
struct ExplainedRegion {
  Region region;
  std::vector<std::string> operators;  ///< where its operators come from: "layers.3.mlp.down"
  ExplainFigures before, after;        ///< its operators alone, and as one kernel
  int64_t tile_rows = 0;               ///< rows of a call that a tile holds
};

struct ExplainedLayer {
  std::string name;  ///< "layers.3"; "embedding" and "head" before and behind the layers; "graph" without any
  std::vector<NodeId> operators;  ///< in execution order
  ExplainFigures before, after;
  std::vector<ExplainedRegion> regions;
  std::vector<NearMiss> near_misses;
  std::vector<Conflict> conflicts;
};

struct Explanation {
  std::string model, device;
  std::string device_source;  ///< where the device's numbers come from
  ExplainRequest request;
  int64_t cores = 1, panel_columns = 0, panel_depth = 0;  ///< of the device
  Graph graph;                                            ///< in semantic operators
  ExplainFigures before, after;                           ///< sums over `layers`
  std::vector<ExplainedLayer> layers;
  double fuse_ms = 0;  ///< how long the fusion pass took

  /// A node's path, or its operator and value where it has none.
  std::string where(NodeId node) const;
};

/// Explains a graph as it is written; `model` is only a name. Error{kUsage}: a size or device that is not there, an
/// unknown rule name in a switch, a layer that the graph does not have (with those that it has).
Explanation explain(const Graph& graph, const std::string& model, const ExplainRequest& request);

/// The same for a GGUF file or Hugging Face folder, of which only the header is read. Implemented by the engine.
Explanation explain_file(const std::string& path, const ExplainRequest& request);
/// The same for a published shape ("llama-2-7b") in the device's half precision, without any file.
Explanation explain_shape(const std::string& preset, const ExplainRequest& request);

/// For a terminal; identical layers are shown once.
std::string explain_text(const Explanation& explanation);
/// One JSON object. Bytes that are no UTF-8 become U+FFFD.
std::string explain_json(const Explanation& explanation);
/// One page without outside resources: the graph before and after, and the reasons behind a click.
std::string explain_html(const Explanation& explanation);
/// The fused graph for Graphviz, one cluster per region.
std::string explain_dot(const Explanation& explanation);

/// A dimension of a region, and what each of its operators does along it.
struct RegionDim {
  std::string name;  ///< unique in the region
  std::string size;  ///< as the graph says it: "past+tokens"
  int64_t bound;     ///< under the request
  bool parallel, reduce, contract;
};

struct RegionValue {
  std::string name, dtype;
  std::vector<std::string>
      dims;               ///< names of RegionDim, outermost first; "1" and "heads*head_dim" products as they are
  std::string role;       ///< "input", "weight", "state", "constant", "interior", "output"
  std::string placement;  ///< "memory", "streamed", "chip", "register"
  std::string layout;     ///< "row-major", "row-major, used transposed", "view of %x"
};

struct RegionStage {
  std::string node, operation;                          ///< path, and the call with its attributes
  std::string phase;                                    ///< "prologue", "product", "epilogue"
  std::vector<std::string> parallel, reduce, contract;  ///< dims
  std::string accumulator;                              ///< dtype of sums; empty where there are none
  std::string start;                                    ///< what sums and maxima start at
  std::string algorithm;              ///< of the reduction: "two-pass", "online", "fixed blocks of 1024, fixed tree"
  std::string rounding;               ///< where and to what the result is rounded
  std::vector<std::string> epilogue;  ///< of a product: the operators on its result, in order
};

/// A region as a code generator takes it.
struct RegionSpec {
  std::string name, layer, numerics;
  std::vector<std::string> rules;
  std::vector<RegionDim> dims;
  std::vector<RegionValue> values;
  std::vector<RegionStage> stages;
  std::vector<std::pair<std::string, int64_t>> tile;  ///< parameters: tile_rows, panel_columns, ...
  int64_t workspace_bytes = 0, workspace_available_bytes = 0;
};

/// All regions that `name` means: a region's name ("FusedFFN"), its path ("layers.3.mlp"), or "path:name"; in execution
/// order. Error{kUsage} with the nearest name and the list if there is none.
std::vector<const ExplainedRegion*> find_regions(const Explanation& explanation, const std::string& name);
RegionSpec describe_region(const Explanation& explanation, const ExplainedRegion& region);
std::string region_text(const RegionSpec& spec);
std::string region_json(const RegionSpec& spec);

/// A line of the rule table.
struct RuleInfo {
  std::string name, equation, pattern, shapes, saves;
  std::string yields;    ///< the operand that may also be read outside; empty: none
  std::string numerics;  ///< "bit_exact", "reorders_fp32", "approximate"
  int row;               ///< of the table of patterns in the documentation
  /// Switches that it needs besides the one for all: "mlp", "attention", "layernorm", "bias"; "block" is mlp or
  /// attention, whichever the site belongs to.
  std::vector<std::string> kinds;
  std::vector<std::string> clauses;  ///< what must hold
  std::string example;               ///< the smallest graph that it fires on, as text
};
std::vector<RuleInfo> fusion_rules();

}  // namespace atb
