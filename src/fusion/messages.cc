#include "fusion/messages.h"

#include <fmt/format.h>

#include <set>

#include "base/text.h"
#include "fusion/names.h"

namespace atb {
namespace {

const char* block_word(const std::string& region) {
  if (region == "FusedFFN") return "MLP";
  return region == "FusedAttention" ? "Attention" : nullptr;
}

void say_enabled(const Facts& facts, const FusionResult& result) {
  std::set<std::string> said;
  for (const Region& region : result.regions) {
    const char* kind = block_word(region.name);
    if (kind != nullptr && said.insert(kind).second)
      log_info(fmt::format("{} fusion enabled: {}", kind, region_words(facts, region.nodes)));
  }
}

/// The widest row between two products: the size of the hidden activation.
int64_t intermediate_size(const Facts& facts, std::span<const NodeId> nodes, const SymbolValues& symbols) {
  int64_t size = 0;
  for (const NodeId id : nodes) {
    const Node& node = facts.node(id);
    if (node.op == Op::kActivation) size = std::max(size, facts.value(node.output).shape.back().evaluate(symbols));
  }
  return size;
}

void say_skipped(const Facts& facts, const Planner& plan, const Workload& workload) {
  std::set<std::string> said;
  for (const std::vector<NodeId>& nodes : plan.too_large()) {
    const std::string kind = block_word(region_name(facts, nodes));
    if (!said.insert(kind).second) continue;
    const std::string size =
        kind == "MLP" ? fmt::format("intermediate_size={}", intermediate_size(facts, nodes, workload.symbols()))
                      : fmt::format("seq_len={}", workload.tokens);
    log_warn(fmt::format("{} fusion skipped: {} > SRAM capacity", kind, size));
  }
}

void say_decisions(const FusionResult& result) {
  constexpr double kMicro = 1e6;
  for (const Region& r : result.regions) {
    log_debug(fmt::format("{}: {} by {}, saves {:.2f} us and {}", r.layer, r.name, join(r.rules, ", "),
                          r.seconds_saved * kMicro, format_bytes(static_cast<double>(r.bytes_saved))));
  }
  for (const Conflict& c : result.conflicts) {
    log_debug(fmt::format("{}: {} lost to {}: saves {:.2f} vs {:.2f} us", c.layer, c.loser, c.winner,
                          c.loser_seconds * kMicro, c.winner_seconds * kMicro));
  }
  for (const NearMiss& miss : result.near_misses)
    log_debug(fmt::format("not fused: {} {} ({}, {})", miss.node, miss.detail, miss.rule, miss.clause));
}

}  // namespace

void log_fusion(const Facts& facts, const Planner& plan, const FusionResult& result, const Workload& workload) {
  say_skipped(facts, plan, workload);
  if (log_enabled(LogLevel::kInfo)) say_enabled(facts, result);
  if (log_enabled(LogLevel::kDebug)) say_decisions(result);
}

}  // namespace atb
