// One page that opens offline: each kind of layer before and after fusion, the reasons behind a click.
#include <atb/explain.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "fusion/report/escape.h"
#include "fusion/report/fold.h"
#include "fusion/report/kernels.h"
#include "fusion/report/picture.h"
#include "ir/attr_fields.h"

namespace atb {
namespace {

#include "fusion/report/page.inc"

using Json = nlohmann::ordered_json;
constexpr int kColours = 8;

std::string cell(const std::string& text) { return "<td>" + for_html(text) + "</td>"; }
std::string pair_text(int64_t before, int64_t after) { return fmt::format("{} → {}", before, after); }
std::string bytes_text(int64_t bytes) { return format_bytes(static_cast<double>(bytes)); }

std::string figures_row(const std::string& title, const ExplainFigures& before, const ExplainFigures& after) {
  return "<tr>" + cell(title) + cell(pair_text(before.kernels, after.kernels)) +
         cell(pair_text(before.round_trips, after.round_trips)) +
         cell(format_bytes(before.bytes) + " → " + format_bytes(after.bytes)) +
         cell(fmt::format("{:.1f} → {:.1f} µs", before.us, after.us)) + "</tr>\n";
}

/// What a click shows; the boxes refer to its places.
class Details {
 public:
  explicit Details(const Explanation& e) : e_(e), region_of_(regions_by_node(e)) {
    for (const ExplainedLayer& layer : e.layers)
      for (const NearMiss& miss : layer.near_misses) misses_[miss.node].push_back(&miss);
  }

  size_t of_region(const ExplainedRegion& explained) {
    const auto [entry, fresh] = region_at_.try_emplace(&explained, list_.size());
    if (fresh) list_.push_back(describe(explained));
    return entry->second;
  }

  size_t of_node(NodeId id) {
    Json detail = {{"title", e_.where(id)}, {"facts", Json::array()}};
    const ExplainedRegion* region = region_of(id);
    if (region != nullptr) detail["region"] = of_region(*region);
    Json& facts = detail["facts"];
    const Node& node = e_.graph.node(id);
    const Value& value = e_.graph.value(node.output);
    facts.push_back({"operator", op_info(node.op).name});
    if (const std::string attrs = attrs_text(node.op, node.attrs); !attrs.empty())
      facts.push_back({"attributes", attrs});
    facts.push_back({"result", dtype_name(value.dtype) + to_string(value.shape)});
    facts.push_back({"runs in", region == nullptr ? "a kernel of its own" : region->region.name});
    add_misses(e_.where(id), facts);
    list_.push_back(std::move(detail));
    return list_.size() - 1;
  }

  const ExplainedRegion* region_of(NodeId id) const { return region_of_[static_cast<size_t>(id)]; }

  /// For a script element: "<" could end it, so it is written as an escape.
  std::string json() const {
    std::string text = list_.dump(-1, ' ', true, Json::error_handler_t::replace);
    for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at)) text.replace(at, 1, "\\u003c");
    return text;
  }

 private:
  Json describe(const ExplainedRegion& explained) const {
    const Region& r = explained.region;
    Json facts = Json::array();
    facts.push_back({"where", r.layer});
    facts.push_back({"rules", join(r.rules, ", ")});
    facts.push_back({"operators in one kernel", join(explained.operators, "\n")});
    facts.push_back({"round trips", pair_text(explained.before.round_trips, explained.after.round_trips)});
    facts.push_back({"activation bytes saved", bytes_text(r.bytes_saved)});
    facts.push_back({"predicted time saved", fmt::format("{:.2f} µs", 1e6 * r.seconds_saved)});
    facts.push_back({"on chip", fmt::format("{} of {}, tiles of {} rows", bytes_text(r.capacity_used),
                                            bytes_text(r.capacity_available), explained.tile_rows)});
    for (const std::string& op : explained.operators) add_misses(op, facts);
    return {{"title", r.name}, {"facts", std::move(facts)}};
  }

  void add_misses(const std::string& node, Json& facts) const {
    const auto found = misses_.find(node);
    if (found == misses_.end()) return;
    for (const NearMiss* miss : found->second)
      facts.push_back({"not fused by " + miss->rule, miss->node + " " + miss->detail + " (" + miss->clause + ")"});
  }

  const Explanation& e_;
  std::vector<const ExplainedRegion*> region_of_;
  std::map<std::string, std::vector<const NearMiss*>> misses_;
  std::map<const ExplainedRegion*, size_t> region_at_;
  Json list_ = Json::array();
};

class Page {
 public:
  explicit Page(const Explanation& e) : e_(e), groups_(fold_layers(e)), details_(e) {}

  std::string html() {
    std::string sections;
    for (const LayerGroup& group : groups_) sections += section(group);
    return head() + "<main><div>" + sections +
           "</div><aside id=\"panel\"><h2>Reasons</h2><p>Click a kernel or an operator.</p></aside></main>\n"
           "<script type=\"application/json\" id=\"details\">" +
           details_.json() + "</script>\n<script>" + kPageScript + "</script>\n</body></html>\n";
  }

 private:
  std::string head() const {
    const ExplainRequest& r = e_.request;
    std::string text =
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
        "script-src 'unsafe-inline'\">\n<meta name=\"viewport\" content=\"width=device-width\">\n<title>Fusion of " +
        for_html(e_.model) + "</title>\n<style>" + kPageStyle + "</style></head><body>\n<header><h1>" +
        for_html(e_.model) + "</h1>\n";
    text += "<p>" +
            for_html(fmt::format("{} tokens, {} before them, batch {}; device {} ({})", r.tokens, r.past, r.batch,
                                 e_.device, e_.device_source)) +
            "</p>\n" + summary();
    return text + "</header>\n";
  }

  std::string summary() const {
    std::string text =
        "<table><tr><th></th><th>kernels</th><th>round trips</th><th>activation bytes</th><th>predicted "
        "time</th></tr>\n";
    for (const LayerGroup& group : groups_)
      text += figures_row(group.title + (group.layers.size() > 1 ? ", each" : ""), group.first().before,
                          group.first().after);
    return text + figures_row("total", e_.before, e_.after) + "</table>\n";
  }

  std::string section(const LayerGroup& group) {
    const ExplainedLayer& layer = group.first();
    colours_.clear();
    for (const ExplainedRegion& region : layer.regions)
      colours_.emplace(&region, static_cast<int>(colours_.size()) % kColours);
    return "<section><h2>" + for_html(group.title) +
           "</h2>\n<div class=\"pair\"><div><h3>before, kernels: " + std::to_string(layer.before.kernels) + "</h3>" +
           picture(unfused_kernels(e_, &layer), layer) +
           "</div><div><h3>after, kernels: " + std::to_string(layer.after.kernels) + "</h3>" +
           picture(fused_kernels(e_, &layer), layer) + "</div></div>\n" + reasons(layer) + "</section>\n";
  }

  std::string picture(const std::vector<Kernel>& kernels, const ExplainedLayer& layer) {
    std::vector<PictureBox> boxes;
    for (const Kernel& kernel : kernels) boxes.push_back(box(kernel, layer));
    return to_svg(boxes);
  }

  PictureBox box(const Kernel& kernel, const ExplainedLayer& layer) {
    const NodeId first = kernel.operators.front();
    const auto name = [&](NodeId id) { return relative_path(e_.where(id), layer.name); };
    if (kernel.region == nullptr)
      return {op_info(e_.graph.node(first).op).name,
              {name(first)},
              colour(details_.region_of(first)),
              details_.of_node(first),
              kernel.sources};
    std::vector<std::string> lines;
    for (const NodeId id : kernel.operators) lines.push_back(name(id));
    return {kernel.region->region.name, std::move(lines), colour(kernel.region), details_.of_region(*kernel.region),
            kernel.sources};
  }

  int colour(const ExplainedRegion* region) const {
    const auto found = colours_.find(region);
    return found == colours_.end() ? -1 : found->second;
  }

  static std::string reasons(const ExplainedLayer& layer) {
    std::string text;
    if (!layer.near_misses.empty())
      text += "<table><tr><th>not fused</th><th>node</th><th>clause</th><th>reason</th></tr>\n";
    for (const NearMiss& m : layer.near_misses)
      text +=
          "<tr>" + cell(m.rule) + cell(relative_path(m.node, layer.name)) + cell(m.clause) + cell(m.detail) + "</tr>\n";
    if (!layer.near_misses.empty()) text += "</table>\n";
    if (!layer.conflicts.empty())
      text += "<table><tr><th>chosen</th><th>saves</th><th>instead of</th><th>saves</th></tr>\n";
    for (const Conflict& c : layer.conflicts)
      text += "<tr>" + cell(c.winner) + cell(fmt::format("{:.2f} µs", 1e6 * c.winner_seconds)) + cell(c.loser) +
              cell(fmt::format("{:.2f} µs", 1e6 * c.loser_seconds)) + "</tr>\n";
    return layer.conflicts.empty() ? text : text + "</table>\n";
  }

  const Explanation& e_;
  std::vector<LayerGroup> groups_;
  Details details_;
  std::map<const ExplainedRegion*, int> colours_;
};

}  // namespace

std::string explain_html(const Explanation& explanation) { return Page(explanation).html(); }

}  // namespace atb
