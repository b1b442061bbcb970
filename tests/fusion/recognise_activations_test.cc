#include "fusion/recognise_support.h"

namespace atb::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

struct Spelling {
  std::string kind, body;
};
void PrintTo(const Spelling& s, std::ostream* out) { *out << s.kind << ":\n" << s.body; }

std::string over_x(const std::string& body) {
  std::string constants;
  const std::pair<const char*, const char*> numbers[] = {
      {"one", "1"},
      {"two", "2"},
      {"three", "3"},
      {"half", "0.5"},
      {"zero", "0"},
      {"minus", "-1"},
      {"q", "1.702"},
      {"q_off", "1.7"},
      {"r2", "1.4142135623730951"},
      {"i2", "0.70710678"},
      {"i2_off", "0.7071"},
      {"k", "0.7978845608"},
      {"k_off", "0.7978"},
      {"c", "0.044715"},
      {"c_off", "0.0447"},
      {"kk", "1.5957691216057308"},
  };
  for (const auto& [name, number] : numbers)
    constants += std::string("  %") + name + " = constant " + number + " : f32[]\n";
  return "graph \"g\" {\n  %x = input \"x\" : f32[tokens, 8]\n" + constants + body + "  output \"y\" %y\n}\n";
}

const std::string kCube = "  %x3 = binary(%x, %three) {kind = pow}\n  %t = mul(%x3, %c)\n  %s = add(%x, %t)\n";
const std::string kTanh = "  %u = mul(%s, %k)\n  %h = activation(%u) {kind = tanh}\n  %g = add(%h, %one)\n";
const std::string kErf = "  %e = unary(%u) {kind = erf}\n  %g = add(%e, %one)\n";

class Activation : public ::testing::TestWithParam<Spelling> {};
TEST_P(Activation, EverySpelling) {
  const Recognition found = recognised(over_x(GetParam().body));
  ASSERT_EQ(ops_of(found.graph), std::vector<std::string>{"activation"}) << found.graph.to_text();
  EXPECT_EQ(Graph::parse("graph \"g\" {\n  %x = input \"x\" : f32[tokens, 8]\n  %y = activation(%x) {kind = " +
                         GetParam().kind + "}\n  output \"y\" %y\n}\n")
                .node(0)
                .attrs,
            found.graph.node(0).attrs);
}
INSTANTIATE_TEST_SUITE_P(
    Spellings, Activation,
    ::testing::Values(
        Spelling{"gelu", "  %u = mul(%x, %i2)\n" + kErf + "  %p = mul(%x, %g)\n  %y = mul(%p, %half)\n"},
        Spelling{"gelu",
                 "  %u = binary(%x, %r2) {kind = div}\n" + kErf + "  %p = mul(%x, %half)\n  %y = mul(%p, %g)\n"},
        Spelling{"gelu", "  %u = mul(%i2, %x)\n" + kErf + "  %p = mul(%half, %g)\n  %y = mul(%p, %x)\n"},
        Spelling{"gelu", "  %u = mul(%x, %i2)\n" + kErf + "  %p = mul(%x, %g)\n  %y = binary(%p, %two) {kind = div}\n"},
        Spelling{"gelu_tanh", kCube + kTanh + "  %p = mul(%x, %half)\n  %y = mul(%p, %g)\n"},
        Spelling{"gelu_tanh", "  %x2 = mul(%x, %x)\n  %x3 = mul(%x2, %x)\n  %t = mul(%c, %x3)\n  %s = add(%t, %x)\n" +
                                  kTanh + "  %p = mul(%x, %g)\n  %y = mul(%half, %p)\n"},
        Spelling{"gelu_tanh",
                 "  %x2 = mul(%x, %x)\n  %t = mul(%c, %x2)\n  %f = add(%one, %t)\n  %xk = mul(%x, %k)\n"
                 "  %u = mul(%xk, %f)\n  %h = activation(%u) {kind = tanh}\n  %g = add(%h, %one)\n"
                 "  %p = mul(%x, %g)\n  %y = mul(%half, %p)\n"},
        Spelling{"gelu_tanh",
                 kCube + "  %u = mul(%s, %kk)\n  %h = activation(%u) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        Spelling{"gelu_quick", "  %u = mul(%q, %x)\n  %h = activation(%u) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        Spelling{"silu", "  %h = activation(%x) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        Spelling{"silu",
                 "  %n = unary(%x) {kind = neg}\n  %e = unary(%n) {kind = exp}\n  %d = add(%one, %e)\n"
                 "  %y = binary(%x, %d) {kind = div}\n"},
        Spelling{"silu",
                 "  %n = mul(%x, %minus)\n  %e = unary(%n) {kind = exp}\n  %d = add(%one, %e)\n"
                 "  %i = binary(%one, %d) {kind = div}\n  %y = mul(%i, %x)\n"},
        Spelling{"sigmoid",
                 "  %n = unary(%x) {kind = neg}\n  %e = unary(%n) {kind = exp}\n  %d = add(%e, %one)\n"
                 "  %y = unary(%d) {kind = reciprocal}\n"},
        Spelling{"relu", "  %y = binary(%x, %zero) {kind = max}\n"},
        Spelling{"relu", "  %y = binary(%zero, %x) {kind = max}\n"}));

class NoActivation : public ::testing::TestWithParam<Spelling> {};
// `kind` is the clause here; "" where nothing is said.
TEST_P(NoActivation, IsLeftAlone) {
  const Recognition found = recognised(over_x(GetParam().body));
  EXPECT_GT(found.graph.nodes().size(), 1u);
  if (!GetParam().kind.empty()) {
    EXPECT_THAT(clauses(found), Contains(GetParam().kind));
  }
}
INSTANTIATE_TEST_SUITE_P(
    NearMisses, NoActivation,
    ::testing::Values(
        Spelling{"literal", "  %u = mul(%x, %i2_off)\n" + kErf + "  %p = mul(%x, %g)\n  %y = mul(%p, %half)\n"},
        Spelling{"literal", "  %u = mul(%x, %i2)\n" + kErf + "  %p = mul(%x, %g)\n  %y = mul(%p, %one)\n"},
        Spelling{"literal", "  %u = mul(%x, %i2)\n" + kErf + "  %y = mul(%x, %g)\n"},
        Spelling{"literal", kCube + "  %u = mul(%s, %k_off)\n  %h = activation(%u) {kind = tanh}\n"
                                    "  %g = add(%h, %one)\n  %p = mul(%x, %half)\n  %y = mul(%p, %g)\n"},
        Spelling{"literal", "  %x3 = binary(%x, %three) {kind = pow}\n  %t = mul(%x3, %c_off)\n  %s = add(%x, %t)\n" +
                                kTanh + "  %p = mul(%x, %half)\n  %y = mul(%p, %g)\n"},
        Spelling{"", "  %x3 = binary(%x, %two) {kind = pow}\n  %t = mul(%x3, %c)\n  %s = add(%x, %t)\n" + kTanh +
                         "  %p = mul(%x, %half)\n  %y = mul(%p, %g)\n"},
        Spelling{"literal", "  %u = mul(%q_off, %x)\n  %h = activation(%u) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        // The gate of another value.
        Spelling{"", "  %z = add(%x, %one)\n  %h = activation(%z) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        // A rounding between x and its gate.
        Spelling{"",
                 "  %z = cast(%x) {dtype = bf16}\n  %zz = cast(%z) {dtype = f32}\n"
                 "  %h = activation(%zz) {kind = sigmoid}\n  %y = mul(%x, %h)\n"},
        // Someone else reads the gate.
        Spelling{"single_use", "  %h = activation(%x) {kind = sigmoid}\n  %y = mul(%x, %h)\n  output \"h\" %h\n"},
        Spelling{"", "  %y0 = binary(%x, %one) {kind = max}\n  %y = unary(%y0) {kind = neg}\n"}));

// Case 24: silu(2) * 3 = 5.284782, swapped silu(3) * 2 = 5.715445. Halves and neighbours of one product, either order
// of the operands; the graph must say which is which.
class Glu : public ::testing::TestWithParam<const char*> {};
TEST_P(Glu, KeepsGateAndUp) {
  const std::string text = std::string("graph \"g\" {\n  %x = input \"x\" : f32[tokens, 2]\n") + GetParam() +
                           "  %h = activation(%gate) {kind = sigmoid}\n  %s = mul(%h, %gate)\n  %y = mul(%up, %s)\n"
                           "  output \"y\" %y\n}\n";
  const Graph g = recognise(Graph::parse(text));
  EXPECT_THAT(ops_of(g), ElementsAre("slice", "slice", "activation", "mul")) << g.to_text();
  const Node& product = g.nodes().back();
  EXPECT_EQ(g.node(g.value(product.inputs[0]).producer).op, Op::kActivation);
  const auto result = run_reference(g, {{"x", {{1, 2}, {2, 3}}}});
  EXPECT_NEAR(result.outputs.at("y").data[0], 5.284782, 5e-7);
}
INSTANTIATE_TEST_SUITE_P(
    Packings, Glu,
    ::testing::Values("  %gate = slice(%x) {axis = 1, start = 0, end = 1}\n"
                      "  %up = slice(%x) {axis = 1, start = 1, end = 2}\n",
                      // chunk(2) seen as [.., 2, I]
                      "  %p = reshape(%x) {shape = [-1, 2, 1]}\n  %g3 = slice(%p) {axis = 1, start = 0, end = 1}\n"
                      "  %u3 = slice(%p) {axis = 1, start = 1, end = 2}\n  %gate = reshape(%g3) {shape = [-1, 1]}\n"
                      "  %up = reshape(%u3) {shape = [-1, 1]}\n",
                      // neighbours
                      "  %gate = slice(%x) {axis = 1, start = 0, end = 2, step = 2}\n"
                      "  %up = slice(%x) {axis = 1, start = 1, end = 2, step = 2}\n"));

TEST(Glu, NeighboursSeenAsAnAxisAreASteppedSlice) {
  const Recognition found = recognised(
      "graph \"g\" {\n  %x = input \"x\" : f32[tokens, 8]\n  %p = reshape(%x) {shape = [-1, 4, 2]}\n"
      "  %u3 = slice(%p) {axis = 2, start = 1, end = 2}\n  %y = reshape(%u3) {shape = [-1, 4]}\n  output \"y\" "
      "%y\n}\n");
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(::testing::HasSubstr("slice(%x) {axis = -1, start = 1, end = 8, step = 2}")));
}

}  // namespace
}  // namespace atb::testing
