// The fusion pass: links by the rules, regions by the grammar, a choice by predicted saving.
#pragma once

#include <atb/fusion.h>

#include "cost/cost_model.h"

namespace atb {

/// What decides: switches, device, sizes.
struct FusionContext {
  FusionOptions options;
  DeviceProfile profile;
  Workload workload;
  bool training = false;  ///< gradients are needed: only Add+norm fuses
};

/// Switches after the environment and the arguments: "off" wins. Error{kUsage} for an unknown rule name, with the list
/// and the nearest name.
struct Switches {
  bool fusion = true, mlp = true, attention = true, layernorm = true, bias = true;
  std::vector<std::string> disabled = {};
  bool allows(uint8_t kinds) const noexcept;
};
Switches resolve_switches(const FusionOptions& options);

/// Stage 1: the graph in semantic operators, whatever its spelling was.
Graph recognise(const Graph& graph);

/// Stage 2 on a recognised graph.
FusionResult fuse(const Graph& graph, const FusionContext& context);

/// The graph with its regions as text: one block per region, for golden tests and `atb explain`.
std::string fused_text(const Graph& graph, const FusionResult& result);

/// What a layer was asked to fuse, where that is said by its arguments.
struct LayerArguments {
  bool fuse_layernorm = false, fuse_residual = false, fuse_qkv = false, fuse_softmax = false;
  bool use_flash_attention = false, sparse_head_skipping = false;
};
struct ArgumentNote {
  bool warning;  ///< else information
  std::string text;
};
/// What there is to say about combinations of arguments. None is an error.
std::vector<ArgumentNote> argument_notes(const LayerArguments& arguments);

}  // namespace atb
