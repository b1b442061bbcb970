// A region for a terminal.
#include <atb/explain.h>
#include <fmt/format.h>

#include "base/text.h"
#include "fusion/report/escape.h"

namespace atb {
namespace {

std::string roles_text(const RegionDim& dim) {
  std::vector<std::string> roles;
  if (dim.parallel) roles.emplace_back("parallel");
  if (dim.reduce) roles.emplace_back("reduce");
  if (dim.contract) roles.emplace_back("contract");
  return join(roles, ", ");
}

std::string dims_text(const RegionSpec& spec) {
  std::string text = "\ndims\n";
  for (const RegionDim& dim : spec.dims)
    text += fmt::format("  {:<16} {:<16} bound {:<8} {}\n", dim.name, dim.size, dim.bound, roles_text(dim));
  return text;
}

std::string values_text(const RegionSpec& spec) {
  std::string text = "\nvalues\n";
  for (const RegionValue& v : spec.values)
    text += for_terminal(fmt::format("  %{:<32} {:<5} {:<28} {:<9} {:<9} {}", v.name, v.dtype,
                                     "[" + join(v.dims, ", ") + "]", v.role, v.placement, v.layout)) +
            "\n";
  return text;
}

std::string line(const char* name, const std::string& text) {
  return text.empty() ? "" : fmt::format("      {:<12} {}\n", name, for_terminal(text));
}

std::string stage_text(const RegionStage& s) {
  std::string text = for_terminal(fmt::format("  {:<9} {}", s.phase, s.node)) + "\n";
  text += line("computes", s.operation);
  text += line("parallel", join(s.parallel, ", "));
  text += line("reduce", join(s.reduce, ", "));
  text += line("contract", join(s.contract, ", "));
  if (!s.accumulator.empty()) text += line("accumulator", s.accumulator + ", starts at " + s.start);
  text += line("algorithm", s.algorithm);
  text += line("rounding", s.rounding);
  return text + line("epilogue", join(s.epilogue, "; "));
}

}  // namespace

std::string region_text(const RegionSpec& spec) {
  std::string text = for_terminal(spec.layer + ":" + spec.name) + "\n";
  text += "rules      " + join(spec.rules, ", ") + "\nnumerics   " + spec.numerics + "\n";
  text += dims_text(spec) + values_text(spec) + "\nstages\n";
  for (const RegionStage& stage : spec.stages) text += stage_text(stage);
  text += "\ntile\n";
  for (const auto& [name, size] : spec.tile) text += fmt::format("  {:<16} {}\n", name, size);
  return text + fmt::format("\nworkspace  {} bytes of {}\n", spec.workspace_bytes, spec.workspace_available_bytes);
}

}  // namespace atb
