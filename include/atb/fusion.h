// What is fused, why, and why not. A fusion never changes the mathematics of a graph, only how it is computed.
#pragma once

#include <atb/graph.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace atb {

/// The switches of fusion. An empty field takes the environment variable (ATB_OP_FUSION, ATB_FUSE_MLP,
/// ATB_FUSE_ATTENTION, ATB_FUSE_LAYERNORM, ATB_FUSE_BIAS), then true. "Off" anywhere (argument or environment) wins
/// over "on" elsewhere.
struct FusionOptions {
  std::optional<bool> fusion = {}, mlp = {}, attention = {}, layernorm = {}, bias = {};
  std::vector<std::string> disable = {};  ///< rule names, added to ATB_FUSION_DISABLE
};

/// How far the fused result may differ from the unfused one.
enum class Numerics : uint8_t { kBitExact, kReordersFp32, kApproximate };

/// The switches that a link belongs to; it is on only if all of its kinds are on.
enum FusionKind : uint8_t { kKindMlp = 1, kKindAttention = 2, kKindLayerNorm = 4, kKindBias = 8 };

/// Nodes that run as one kernel.
struct Region {
  std::string name;                                   ///< "FusedFFN", "AddLayerNorm", or the parts: "RmsNorm+MatMul"
  std::string layer;                                  ///< the common path of its nodes: "layers.3.mlp"
  std::vector<NodeId> nodes;                          ///< in execution order
  std::vector<std::string> rules;                     ///< the links that made it
  std::vector<ValueId> inputs, outputs;               ///< activations that cross its border (weights apart)
  int64_t capacity_used = 0, capacity_available = 0;  ///< bytes of on-chip memory
  int64_t bytes_saved = 0;                            ///< activation bytes that no longer go through memory
  double seconds_saved = 0;                           ///< predicted
};

/// A site where a rule matched but one of its clauses did not hold.
struct NearMiss {
  std::string rule, node, clause, detail;  ///< "add_norm", "layers.3.mlp.add", "single_use", "has 2 consumers"
};

/// Two candidates over the same nodes; the loser's predicted saving beside the winner's.
struct Conflict {
  std::string winner, loser, layer;
  double winner_seconds = 0, loser_seconds = 0;
};

struct FusionResult {
  std::vector<Region> regions;  ///< disjoint; nodes outside of every region run alone
  std::vector<NearMiss> near_misses;
  std::vector<Conflict> conflicts;
  double seconds = 0;  ///< how long the pass took
};

}  // namespace atb
