#include "fusion/planner.h"

#include <algorithm>
#include <bit>

#include "fusion/compose.h"
#include "fusion/names.h"
#include "fusion/select.h"
#include "fusion/windows.h"

namespace atb {
namespace {

/// A candidate with a whole block in it: what the user asks for by the name of the block.
bool is_block(const LocalGraph& window, Mask nodes) {
  const std::vector<NodeId> ids = window.ids(nodes);
  const std::string name = region_name(window.facts(), ids);
  return name == "FusedFFN" || name == "FusedAttention";
}

bool is_subset(Mask a, Mask b) { return (a & ~b) == 0; }

/// For each winner the best candidate over some of its nodes that no winner contains.
void note_losers(const std::vector<Candidate>& candidates, Choice& choice) {
  const auto contained = [&](Mask nodes) {
    return std::any_of(choice.regions.begin(), choice.regions.end(),
                       [&](const Choice::Chosen& region) { return is_subset(nodes, region.nodes); });
  };
  for (const Choice::Chosen& winner : choice.regions) {
    const Candidate* best = nullptr;
    for (const Candidate& c : candidates) {
      if ((c.nodes & winner.nodes) == 0 || contained(c.nodes)) continue;
      if (best == nullptr || c.saving > best->saving) best = &c;
    }
    if (best != nullptr) choice.losers.push_back({best->nodes, winner.nodes, best->saving, winner.saving});
  }
}

/// Blocks that fit in no form, the largest form of each.
void note_too_large(const std::vector<Mask>& fitting, std::vector<Mask> unfit, Choice& choice) {
  std::stable_sort(unfit.begin(), unfit.end(), [](Mask a, Mask b) { return std::popcount(a) > std::popcount(b); });
  for (const Mask block : unfit) {
    const auto overlaps = [&](Mask other) { return (other & block) != 0; };
    if (std::none_of(fitting.begin(), fitting.end(), overlaps) &&
        std::none_of(choice.too_large.begin(), choice.too_large.end(), overlaps))
      choice.too_large.push_back(block);
  }
}

}  // namespace

void Planner::run() {
  region_of_.assign(facts_.graph.nodes().size(), -1);
  window_of_.assign(facts_.graph.nodes().size(), 0);
  for (const Window& window : cut_windows(facts_)) {
    std::fill(window_of_.begin() + window.begin, window_of_.begin() + window.end, window.begin);
    const LocalGraph local(facts_, links_.links, window.begin, window.end);
    take(local, choose(local));
  }
  join_windows();
  std::erase_if(regions_, [](const Planned& region) { return region.nodes.empty(); });
}

const Choice& Planner::choose(const LocalGraph& window) {
  const auto [entry, fresh] = memo_.try_emplace(window.structure());
  if (fresh) entry->second = search(window);
  return entry->second;
}

Choice::Chosen Planner::rate(const LocalGraph& window, Mask nodes) const {
  const std::vector<NodeId> ids = window.ids(nodes);
  const KernelCost fused = cost_.kernel(ids);
  Choice::Chosen rated{nodes, -fused.seconds, -fused.activation_bytes, cost_.capacity(ids)};
  for (const NodeId id : ids) {
    if (!cost_.is_operator(id)) continue;
    const KernelCost alone = cost_.kernel({&id, 1});
    rated.saving += alone.seconds;
    rated.bytes_saved += alone.activation_bytes;
  }
  return rated;
}

Choice Planner::search(const LocalGraph& window) const {
  std::vector<Choice::Chosen> rated;
  std::vector<Candidate> candidates;
  std::vector<Mask> fitting, unfit;
  for (const Mask nodes : compose(window)) {
    const Choice::Chosen one = rate(window, nodes);
    const bool fits = one.capacity.fits();
    if (is_block(window, nodes)) (fits ? fitting : unfit).push_back(nodes);
    if (!fits || one.saving <= 0) continue;
    rated.push_back(one);
    candidates.push_back({nodes, one.saving});
  }
  Choice choice;
  Mask chosen = 0;
  for (const size_t i : select(candidates)) {
    choice.regions.push_back(rated[i]);
    chosen |= rated[i].nodes;
  }
  note_losers(candidates, choice);
  note_too_large(fitting, std::move(unfit), choice);
  return choice;
}

void Planner::take(const LocalGraph& window, const Choice& choice) {
  const auto name = [&](Mask nodes) { return region_name(facts_, window.ids(nodes)); };
  for (const Choice::Chosen& chosen : choice.regions) {
    for (const int i : bits(chosen.nodes))
      region_of_[static_cast<size_t>(window.id(i))] = static_cast<int>(regions_.size());
    regions_.push_back({window.ids(chosen.nodes), chosen.saving, chosen.bytes_saved, chosen.capacity});
  }
  for (const Choice::Loser& loser : choice.losers) {
    const std::string layer(layer_of(window.node(std::countr_zero(loser.nodes)).path));
    conflicts_.push_back({name(loser.winner), name(loser.nodes), layer, loser.winner_saving, loser.saving});
  }
  for (const Mask block : choice.too_large) too_large_.push_back(window.ids(block));
}

/// Links across two windows: what they join becomes one region if that saves more than the two apart.
void Planner::join_windows() {
  for (const Link& link : links_.links) {
    const auto producer = static_cast<size_t>(link.producer), consumer = static_cast<size_t>(link.consumer);
    if (link.on && !link.siblings && window_of_[producer] != window_of_[consumer]) join(link);
  }
}

std::vector<NodeId> Planner::region_or_alone(NodeId node) const {
  const int region = region_of_[static_cast<size_t>(node)];
  return region < 0 ? std::vector<NodeId>{node} : regions_[static_cast<size_t>(region)].nodes;
}

double Planner::saving_of(NodeId node) const {
  const int region = region_of_[static_cast<size_t>(node)];
  return region < 0 ? 0 : regions_[static_cast<size_t>(region)].saving;
}

void Planner::join(const Link& link) {
  std::vector<NodeId> nodes = region_or_alone(link.producer);
  const std::vector<NodeId> after = region_or_alone(link.consumer);
  nodes.insert(nodes.end(), after.begin(), after.end());
  nodes.insert(nodes.end(), link.views.begin(), link.views.end());
  const auto [first, last] = std::minmax_element(nodes.begin(), nodes.end());
  if (*last - *first >= kMaxWindow) return;
  const LocalGraph window(facts_, links_.links, *first, *last + 1);
  Mask seed = 0;
  for (const NodeId id : nodes) seed |= bit(window.index(id));
  const Choice::Chosen joined = rate_joined(window, seed);
  if (joined.nodes == 0 || joined.saving <= saving_of(link.producer) + saving_of(link.consumer)) return;
  for (const NodeId id : {link.producer, link.consumer}) {
    const int region = region_of_[static_cast<size_t>(id)];
    if (region >= 0) regions_[static_cast<size_t>(region)].nodes.clear();
  }
  for (const int i : bits(joined.nodes))
    region_of_[static_cast<size_t>(window.id(i))] = static_cast<int>(regions_.size());
  regions_.push_back({window.ids(joined.nodes), joined.saving, joined.bytes_saved, joined.capacity});
}

/// The seed as one region, or nothing if it is none, needs further nodes, or does not fit.
Choice::Chosen Planner::rate_joined(const LocalGraph& window, Mask seed) {
  std::vector<int64_t> key = window.structure();
  key.push_back(static_cast<int64_t>(seed));
  const auto [entry, fresh] = joined_.try_emplace(std::move(key));
  Choice::Chosen& joined = entry->second;
  if (!fresh) return joined;
  joined.nodes = 0;
  if (close_region(window, seed) != seed || !is_region(window, seed)) return joined;
  const Choice::Chosen rated = rate(window, seed);
  if (rated.capacity.fits()) joined = rated;
  return joined;
}

}  // namespace atb
