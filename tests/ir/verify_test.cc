// Each invariant broken once, in a graph that is otherwise right.
#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "ir/graph_access.h"

namespace atb {
namespace {

using Break = std::function<void(Graph&)>;
struct BrokenGraph {
  const char* message;
  Break damage;
};

Value& value_named(Graph& g, std::string_view name) {
  return GraphAccess::values(g)[static_cast<size_t>(g.find_value(name).value())];
}
Node& node_at(Graph& g, size_t i) { return GraphAccess::nodes(g)[i]; }

// Values: x, w, k, c, norm, grown, scaled. Nodes: rms_norm, kv_append, mul.
Graph example() {
  Graph g("example");
  const ValueId x = g.input("x", DType::kF32, {Dim::symbol("tokens"), 64});
  const ValueId w = g.param("w", DType::kF32, {64});
  const ValueId k = g.state("k", DType::kF16, {Dim::symbol("past"), 64});
  const ValueId c = g.constant(0.5);
  const ValueId norm = rms_norm(g, x, w, {}, "norm");
  kv_append(g, k, norm, "grown");
  g.output("y", mul(g, norm, c, "scaled"));
  return g;
}

class Verify : public testing::TestWithParam<BrokenGraph> {};

TEST_P(Verify, NamesTheBrokenInvariant) {
  Graph g = example();
  g.verify();
  GetParam().damage(g);
  try {
    g.verify();
    FAIL() << "not found";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kModel);
    EXPECT_THAT(e.what(), testing::HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Invariants, Verify,
    testing::Values(
        BrokenGraph{"the name of a value is malformed (%a b)", [](Graph& g) { value_named(g, "x").name = "a b"; }},
        BrokenGraph{"two values have the same name (%x)", [](Graph& g) { value_named(g, "w").name = "x"; }},
        BrokenGraph{"not the result of its producer (%norm)", [](Graph& g) { value_named(g, "norm").producer = 1; }},
        BrokenGraph{"not the result of its producer (%norm)", [](Graph& g) { value_named(g, "norm").producer = 99; }},
        BrokenGraph{"no node computes has a producer (%x)", [](Graph& g) { value_named(g, "x").producer = 0; }},
        BrokenGraph{"same outside name (%w)", [](Graph& g) { value_named(g, "w").tensor = "x"; }},
        BrokenGraph{"has a negative size", [](Graph& g) { value_named(g, "w").shape = {-1}; }},
        BrokenGraph{"which only params can have", [](Graph& g) { value_named(g, "x").dtype = DType::kQ8_0; }},
        BrokenGraph{"a constant is not one number (%c)", [](Graph& g) { value_named(g, "c").shape = {2}; }},
        BrokenGraph{"has no result of its own (norm)",
                    [](Graph& g) { GraphAccess::nodes(g).push_back(node_at(g, 0)); }},
        BrokenGraph{"not the result of its producer",
                    [](Graph& g) { std::swap(node_at(g, 0).output, node_at(g, 1).output); }},
        BrokenGraph{"not in the order of their results",
                    [](Graph& g) {
                      std::swap(GraphAccess::nodes(g)[0], GraphAccess::nodes(g)[2]);
                      value_named(g, "norm").producer = 2;
                      value_named(g, "scaled").producer = 0;
                    }},
        BrokenGraph{"an operand is not defined before its use",
                    [](Graph& g) { node_at(g, 0).inputs[0] = node_at(g, 0).output; }},
        BrokenGraph{"an operand is not defined before its use", [](Graph& g) { node_at(g, 0).inputs[0] = -1; }},
        BrokenGraph{"rms_norm: has 1 inputs, expected 2", [](Graph& g) { node_at(g, 0).inputs.pop_back(); }},
        BrokenGraph{"another operator's", [](Graph& g) { node_at(g, 0).attrs = NoAttrs{}; }},
        BrokenGraph{"eps must be a number", [](Graph& g) { node_at(g, 0).attrs = RmsNormAttrs{-1}; }},
        BrokenGraph{"is recorded as %norm f32[tokens, 65], but is f32[tokens, 64]",
                    [](Graph& g) { value_named(g, "norm").shape[1] = 65; }},
        BrokenGraph{"is recorded as %norm f16", [](Graph& g) { value_named(g, "norm").dtype = DType::kF16; }},
        BrokenGraph{"a state is appended to twice",
                    [](Graph& g) { kv_append(g, *g.find_value("k"), *g.find_value("x"), ""); }},
        BrokenGraph{"an output is no value of the graph (y)", [](Graph& g) { GraphAccess::outputs(g)[0].second = 99; }},
        BrokenGraph{"two outputs have the same name (y)",
                    [](Graph& g) { GraphAccess::outputs(g).emplace_back("y", 0); }}));

}  // namespace
}  // namespace atb
