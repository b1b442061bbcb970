// What the tests of stage 1 share: graphs as text, their nodes as text, and the proof that recognition keeps what a
// graph computes.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "fusion/fuse.h"
#include "fusion/recognise/recogniser.h"
#include "kernels/reference.h"

namespace atb::testing {

inline const SymbolValues kSizes = {{"tokens", 3}, {"batch", 2}, {"past", 4}, {"keys", 5}};

/// The nodes of a graph, one line each: "%y = rms_norm(%x, %w) {eps = 1e-05}", without dtypes and paths.
inline std::vector<std::string> node_texts(const Graph& graph) {
  std::vector<std::string> nodes;
  std::istringstream lines(graph.to_text());
  for (std::string line; std::getline(lines, line);) {
    if (line.find('(') == line.npos || line.find(" = ") == line.npos) continue;
    line = line.substr(2, line.find(" : ") - 2);
    nodes.push_back(line);
  }
  return nodes;
}

/// The operators of a graph by name, in order.
inline std::vector<std::string> ops_of(const Graph& graph) {
  std::vector<std::string> ops;
  for (const Node& node : graph.nodes()) ops.emplace_back(op_info(node.op).name);
  return ops;
}

inline RefTensor random_tensor(const Value& value, std::mt19937& random) {
  RefTensor tensor{{}, {}, value.dtype};
  for (const Dim& dim : value.shape) tensor.shape.push_back(dim.evaluate(kSizes));
  std::normal_distribution<double> normal;
  const bool floating = dtype_info(value.dtype).floating;
  for (int64_t i = 0; i < tensor.elements(); ++i)
    tensor.data.push_back(floating ? normal(random) : static_cast<double>(i % 2 == 0));
  round_to(value.dtype, tensor);
  return tensor;
}

/// Both compute the same outputs on random numbers, within `unit` of their size: the literals of a graph are rounded to
/// fp32 in attributes, and a handful of them act on a result.
inline void expect_same_results(const Graph& before, const Graph& after, double unit = 0x1p-24) {
  std::map<std::string, RefTensor> bindings;
  std::mt19937 random(11);
  for (const Value& v : before.values())
    if (!v.tensor.empty()) bindings[v.tensor] = random_tensor(v, random);
  const ReferenceResult a = run_reference(before, bindings), b = run_reference(after, bindings);
  for (const auto& [name, expected] : a.outputs) {
    const RefTensor& found = b.outputs.at(name);
    ASSERT_EQ(found.shape, expected.shape);
    double size = 1;
    for (const double x : expected.data) size = std::max(size, std::fabs(x));
    for (size_t i = 0; i < expected.data.size(); ++i)
      ASSERT_NEAR(found.data[i], expected.data[i], 16 * unit * size) << name << " element " << i;
  }
}

/// Recognises the graph of the text, proves that it still computes the same, also with the recognisers in the opposite
/// order, and that a second pass changes nothing.
inline Recognition recognised(const std::string& text, double unit = 0x1p-24) {
  const Graph graph = Graph::parse(text);
  Recognition found = recognise_explained(graph);
  expect_same_results(graph, found.graph, unit);
  std::vector<recognising::Recogniser> reversed(recognising::recognisers().rbegin(), recognising::recognisers().rend());
  EXPECT_EQ(ops_of(recognising::recognise_with(graph, reversed).graph), ops_of(found.graph));
  EXPECT_EQ(recognise_explained(found.graph).graph.to_text(), found.graph.to_text());
  EXPECT_EQ(found.sources.size(), found.graph.nodes().size());
  return found;
}

inline std::vector<std::string> clauses(const Recognition& found) {
  std::vector<std::string> names;
  for (const NearMiss& miss : found.near_misses) names.push_back(miss.clause);
  return names;
}

}  // namespace atb::testing
