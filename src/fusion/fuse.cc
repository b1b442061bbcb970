#include "fusion/fuse.h"

#include <algorithm>
#include <chrono>
#include <set>

#include "fusion/messages.h"
#include "fusion/names.h"
#include "fusion/planner.h"

namespace atb {
namespace {

using NodeSet = std::vector<NodeId>;  // ascending

bool contains(const NodeSet& nodes, NodeId id) { return std::binary_search(nodes.begin(), nodes.end(), id); }

bool is_tensor(const Facts& facts, ValueId id) {
  return !facts.is_weight(id) && facts.value(id).kind != ValueKind::kConstant;
}

std::vector<ValueId> inputs_of(const Facts& facts, const NodeSet& nodes) {
  std::set<ValueId> inputs;
  for (const NodeId id : nodes) {
    for (const ValueId input : facts.node(id).inputs)
      if (!contains(nodes, facts.value(input).producer) && is_tensor(facts, input)) inputs.insert(input);
  }
  return {inputs.begin(), inputs.end()};
}

std::vector<ValueId> outputs_of(const Facts& facts, const NodeSet& nodes) {
  std::vector<ValueId> outputs;
  for (const NodeId id : nodes) {
    const ValueId result = facts.node(id).output;
    const auto& users = facts.users_of(result);
    const bool read = std::any_of(users.begin(), users.end(), [&](NodeId user) { return !contains(nodes, user); });
    // The cache goes on living, whoever reads it in this run.
    if (read || facts.is_output(result) || facts.node(id).op == Op::kKvAppend) outputs.push_back(result);
  }
  return outputs;
}

/// The longest common beginning of the paths, in whole parts: "layers.3.mlp".
std::string common_path(const Facts& facts, const NodeSet& nodes) {
  std::string common;
  bool first = true;
  for (const NodeId id : nodes) {
    const std::string& path = facts.node(id).path;
    if (path.empty()) continue;
    if (first) common = path;
    first = false;
    size_t length = 0;
    while (length < std::min(common.size(), path.size()) && common[length] == path[length]) ++length;
    const bool whole =
        (length == common.size() || common[length] == '.') && (length == path.size() || path[length] == '.');
    if (!whole) length = common.rfind('.', length == 0 ? 0 : length - 1);
    common.resize(length == std::string::npos ? 0 : length);
  }
  return common;
}

std::vector<std::string> rules_of(const Links& links, const NodeSet& nodes) {
  std::vector<std::string> names;
  const auto first = std::partition_point(links.links.begin(), links.links.end(),
                                          [&](const Link& link) { return link.consumer < nodes.front(); });
  for (auto link = first; link != links.links.end() && link->consumer <= nodes.back(); ++link) {
    const bool inside = link->on && contains(nodes, link->producer) && contains(nodes, link->consumer);
    if (inside && std::find(names.begin(), names.end(), link->rule->name()) == names.end())
      names.push_back(link->rule->name());
  }
  return names;
}

Region to_region(const Facts& facts, const Links& links, const Planned& planned) {
  return {.name = region_name(facts, planned.nodes),
          .layer = common_path(facts, planned.nodes),
          .nodes = planned.nodes,
          .rules = rules_of(links, planned.nodes),
          .inputs = inputs_of(facts, planned.nodes),
          .outputs = outputs_of(facts, planned.nodes),
          .capacity_used = planned.capacity.used,
          .capacity_available = planned.capacity.available,
          .bytes_saved = static_cast<int64_t>(planned.bytes_saved),
          .seconds_saved = planned.saving};
}

/// Refusals whose two ends did not come together in another way.
std::vector<NearMiss> near_misses(const Facts& facts, const Links& links, const std::vector<Planned>& regions) {
  std::vector<int> region_of(facts.graph.nodes().size(), -1);
  for (size_t i = 0; i < regions.size(); ++i)
    for (const NodeId id : regions[i].nodes) region_of[static_cast<size_t>(id)] = static_cast<int>(i);
  std::vector<NearMiss> misses;
  for (const Refused& r : links.refused) {
    const int a = region_of[static_cast<size_t>(r.producer)], b = region_of[static_cast<size_t>(r.consumer)];
    if (a < 0 || a != b) misses.push_back({r.rule->name(), facts.where(r.node), r.clause, r.detail});
  }
  return misses;
}

}  // namespace

FusionResult fuse(const Graph& graph, const FusionContext& context) {
  const auto start = std::chrono::steady_clock::now();
  FusionResult result;
  const Switches switches = resolve_switches(context.options);
  if (switches.fusion) {
    const Facts facts(graph);
    const Links links = find_links(facts, switches, context.training);
    const CostModel cost(graph, context.workload, context.profile);
    Planner plan(facts, links, cost);
    plan.run();
    for (const Planned& planned : plan.regions()) result.regions.push_back(to_region(facts, links, planned));
    std::sort(result.regions.begin(), result.regions.end(),
              [](const Region& a, const Region& b) { return a.nodes.front() < b.nodes.front(); });
    result.near_misses = near_misses(facts, links, plan.regions());
    result.conflicts = plan.conflicts();
    log_fusion(facts, plan, result, context.workload);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace atb
