// The explanation for a terminal.
#include <atb/explain.h>
#include <fmt/format.h>

#include "base/text.h"
#include "fusion/report/escape.h"
#include "fusion/report/fold.h"

namespace atb {
namespace {

std::string pair_text(int64_t before, int64_t after) { return fmt::format("{} -> {}", before, after); }

std::string time_text(double us) {
  return us < 1000 ? fmt::format("{:.1f} us", us) : fmt::format("{:.2f} ms", us / 1e3);
}

std::string row(const std::string& title, const ExplainFigures& before, const ExplainFigures& after) {
  return fmt::format("{:<24}{:>14}{:>14}  {:<24}{}\n", title, pair_text(before.kernels, after.kernels),
                     pair_text(before.round_trips, after.round_trips),
                     format_bytes(before.bytes) + " -> " + format_bytes(after.bytes),
                     time_text(before.us) + " -> " + time_text(after.us));
}

std::string heading(const Explanation& e) {
  const ExplainRequest& r = e.request;
  return fmt::format("{}\n{} tokens, {} before them, batch {}; device {} ({})\n", for_terminal(e.model), r.tokens,
                     r.past, r.batch, for_terminal(e.device), for_terminal(e.device_source));
}

std::string table(const Explanation& e, const std::vector<LayerGroup>& groups) {
  std::string text =
      fmt::format("{:<24}{:>14}{:>14}  {:<24}{}\n", "", "kernels", "round trips", "activation bytes", "predicted time");
  for (const LayerGroup& group : groups) {
    const std::string each = group.layers.size() > 1 ? ", each" : "";
    text += row(for_terminal(group.title) + each, group.first().before, group.first().after);
  }
  return text + row("total", e.before, e.after);
}

std::string relative_list(const std::vector<std::string>& paths, const std::string& layer) {
  std::vector<std::string> parts;
  for (const std::string& path : paths) parts.push_back(for_terminal(relative_path(path, layer)));
  return join(parts, ", ");
}

std::string region_lines(const ExplainedRegion& explained, const std::string& layer) {
  const Region& r = explained.region;
  std::string text = fmt::format("  {}  ({} operators in one kernel, {} of {} on chip, tiles of {} rows)\n", r.name,
                                 explained.operators.size(), format_bytes(static_cast<double>(r.capacity_used)),
                                 format_bytes(static_cast<double>(r.capacity_available)), explained.tile_rows);
  text += fmt::format("    operators  {}\n", relative_list(explained.operators, layer));
  text += fmt::format("    rules      {}\n", join(r.rules, ", "));
  return text + fmt::format("    saves      {}, round trips {}, {}\n", format_bytes(static_cast<double>(r.bytes_saved)),
                            pair_text(explained.before.round_trips, explained.after.round_trips),
                            time_text(1e6 * r.seconds_saved));
}

std::string details(const LayerGroup& group) {
  const ExplainedLayer& layer = group.first();
  std::string text = "\n" + for_terminal(group.title) + "\n";
  for (const ExplainedRegion& region : layer.regions) text += region_lines(region, layer.name);
  for (const NearMiss& m : layer.near_misses)
    text += fmt::format("  not fused: {} at {}: {} ({})\n", m.rule, for_terminal(relative_path(m.node, layer.name)),
                        for_terminal(m.detail), m.clause);
  for (const Conflict& c : layer.conflicts)
    text += fmt::format("  chosen: {} (saves {}) over {} (saves {})\n", c.winner, time_text(1e6 * c.winner_seconds),
                        c.loser, time_text(1e6 * c.loser_seconds));
  return text;
}

bool has_details(const ExplainedLayer& layer) {
  return !layer.regions.empty() || !layer.near_misses.empty() || !layer.conflicts.empty();
}

}  // namespace

std::string explain_text(const Explanation& explanation) {
  const std::vector<LayerGroup> groups = fold_layers(explanation);
  std::string text = heading(explanation) + "\n" + table(explanation, groups);
  for (const LayerGroup& group : groups)
    if (has_details(group.first())) text += details(group);
  return text;
}

}  // namespace atb
