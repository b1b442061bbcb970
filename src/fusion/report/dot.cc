// The fused graph for Graphviz.
#include <atb/explain.h>
#include <fmt/format.h>

#include "fusion/report/escape.h"
#include "fusion/report/kernels.h"

namespace atb {
namespace {

std::string node_line(const Explanation& e, NodeId id, const char* indent) {
  return fmt::format("{}n{} [label=\"{}\\n{}\"];\n", indent, id, op_info(e.graph.node(id).op).name,
                     for_dot(e.where(id)));
}

std::string cluster(const Explanation& e, const Kernel& kernel, size_t number) {
  const Region& region = kernel.region->region;
  std::string text =
      fmt::format("  subgraph cluster_{} {{\n    label=\"{}\\n{}\";\n    style=filled; fillcolor=\"#e8f0fe\";\n",
                  number, for_dot(region.name), for_dot(region.layer));
  for (const NodeId id : kernel.operators) text += node_line(e, id, "    ");
  return text + "  }\n";
}

}  // namespace

std::string explain_dot(const Explanation& explanation) {
  std::string text =
      fmt::format("digraph \"{}\" {{\n  node [shape=box, fontname=\"sans-serif\", style=filled, fillcolor=white];\n",
                  for_dot(explanation.model));
  size_t clusters = 0;
  for (const Kernel& kernel : fused_kernels(explanation)) {
    text += kernel.region != nullptr ? cluster(explanation, kernel, clusters++)
                                     : node_line(explanation, kernel.operators.front(), "  ");
  }
  const std::vector<Kernel> operators = unfused_kernels(explanation);
  for (const Kernel& to : operators)
    for (const size_t from : to.sources)
      text += fmt::format("  n{} -> n{};\n", operators[from].operators.front(), to.operators.front());
  return text + "}\n";
}

}  // namespace atb
