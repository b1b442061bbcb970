#include <algorithm>

#include "base/text.h"
#include "fusion/fuse.h"

namespace atb {
namespace {

class Writer {
 public:
  Writer(const Graph& graph, const FusionResult& result) : graph_(graph), region_of_(graph.nodes().size(), nullptr) {
    for (const Region& region : result.regions)
      for (const NodeId id : region.nodes) region_of_[static_cast<size_t>(id)] = &region;
  }

  std::string text() {
    const Region* done = nullptr;
    std::vector<const Region*> written;
    for (size_t i = 0; i < graph_.nodes().size(); ++i) {
      const Region* region = region_of_[i];
      if (region == nullptr) {
        line("", graph_.nodes()[i]);
      } else if (region != done && std::find(written.begin(), written.end(), region) == written.end()) {
        block(*region);
        written.push_back(region);
      }
      done = region;
    }
    return std::move(out_);
  }

 private:
  std::string names(const std::vector<ValueId>& ids) const {
    std::vector<std::string> parts;
    for (const ValueId id : ids) parts.push_back("%" + graph_.value(id).name);
    return join(parts, ", ");
  }

  void block(const Region& region) {
    out_ += region.name + "(" + names(region.inputs) + ") -> " + names(region.outputs) + " @ " + region.layer + " {\n";
    for (const NodeId id : region.nodes) line("  ", graph_.node(id));
    out_ += "}  # " + join(region.rules, ", ") + "\n";
  }

  void line(const char* indent, const Node& node) {
    out_ += indent + names({node.output}) + " = " + op_info(node.op).name + "(" + names(node.inputs) + ")\n";
  }

  const Graph& graph_;
  std::vector<const Region*> region_of_;
  std::string out_;
};

}  // namespace

std::string fused_text(const Graph& graph, const FusionResult& result) { return Writer(graph, result).text(); }

}  // namespace atb
