#include "fusion/report/fold.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <unordered_map>

#include "base/text.h"
#include "fusion/facts.h"

namespace atb {
namespace {

/// "layers.3" -> "layers." and 3.
struct Numbered {
  std::string stem;
  int64_t number;
};
std::optional<Numbered> split_number(std::string_view name) {
  const size_t begin = name.rfind('.') + 1;  // npos + 1 is 0
  int64_t number = 0;
  const auto [end, error] = std::from_chars(name.data() + begin, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return Numbered{std::string(name.substr(0, begin)), number};
}

std::string figures_key(const ExplainFigures& f) {
  return fmt::format("{}/{}/{:.0f}/{:.3f};", f.kernels, f.round_trips, f.bytes, f.us);
}

std::string region_key(const ExplainedRegion& explained, const std::string& layer) {
  const Region& r = explained.region;
  std::string key = fmt::format("{}@{};{};{};{};", r.name, relative_path(r.layer, layer), join(r.rules, ","),
                                r.capacity_used, r.capacity_available);
  for (const std::string& op : explained.operators) key += relative_path(op, layer) + ",";
  return key + figures_key(explained.before) + figures_key(explained.after);
}

std::string key_of(const ExplainedLayer& layer) {
  std::string key = figures_key(layer.before) + figures_key(layer.after);
  for (const ExplainedRegion& region : layer.regions) key += region_key(region, layer.name) + "\n";
  for (const NearMiss& m : layer.near_misses)
    key += m.rule + "," + relative_path(m.node, layer.name) + "," + m.clause + "," + m.detail + "\n";
  for (const Conflict& c : layer.conflicts)
    key += fmt::format("{},{},{:.3e},{:.3e}\n", c.winner, c.loser, c.winner_seconds, c.loser_seconds);
  return key;
}

/// "0-4,6": ascending numbers as ranges.
std::string ranges(const std::vector<int64_t>& numbers) {
  std::vector<std::string> parts;
  for (size_t i = 0; i < numbers.size();) {
    size_t end = i;
    while (end + 1 < numbers.size() && numbers[end + 1] == numbers[end] + 1) ++end;
    parts.push_back(end == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[end]));
    i = end + 1;
  }
  return join(parts, ",");
}

std::string title_of(const LayerGroup& group) {
  const auto first = split_number(group.first().name);
  if (!first || group.layers.size() == 1) return group.first().name;
  std::vector<int64_t> numbers;
  for (const ExplainedLayer* layer : group.layers) numbers.push_back(split_number(layer->name)->number);
  return first->stem + ranges(numbers);
}

/// Layers of different stems are never one group.
std::string stem_of(const std::string& name) {
  const auto numbered = split_number(name);
  return numbered ? numbered->stem : name;
}

}  // namespace

std::string relative_path(const std::string& path, const std::string& layer) {
  const std::string_view own = layer_of(path);
  const auto mine = split_number(own), theirs = split_number(layer);
  if (!mine || !theirs || mine->stem != theirs->stem) return path;
  const std::string rest = path.substr(std::min(path.size(), own.size() + 1));
  if (mine->number == theirs->number) return rest;
  return fmt::format("[{:+}].{}", mine->number - theirs->number, rest);
}

std::vector<LayerGroup> fold_layers(const Explanation& explanation) {
  std::vector<LayerGroup> groups;
  std::unordered_map<std::string, size_t> group_of;
  for (const ExplainedLayer& layer : explanation.layers) {
    const auto [entry, fresh] = group_of.try_emplace(stem_of(layer.name) + "\n" + key_of(layer), groups.size());
    if (fresh) groups.emplace_back();
    groups[entry->second].layers.push_back(&layer);
  }
  for (LayerGroup& group : groups) group.title = title_of(group);
  return groups;
}

}  // namespace atb
