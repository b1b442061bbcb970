#include "fusion/recognise_support.h"

namespace atb::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// Rotates %r of the given shape's width by %cos and %sin, in halves, and calls it %name.
std::string halves(const std::string& r, const std::string& name, int width, const std::string& cos = "cos",
                   const std::string& sin = "sin") {
  const std::string half = std::to_string(width / 2), end = std::to_string(width);
  return "  %a = slice(%" + r + ") {axis = -1, start = 0, end = " + half + "}\n  %b = slice(%" + r +
         ") {axis = -1, start = " + half + ", end = " + end +
         "}\n  %nb = unary(%b) {kind = neg}\n"
         "  %t = concat(%nb, %a) {axis = -1}\n  %tc = mul(%" +
         r + ", %" + cos + ")\n  %ts = mul(%t, %" + sin + ")\n  %" + name + " = add(%tc, %ts)\n";
}

std::string graph(const std::string& head, const std::string& body) {
  return "graph \"g\" {\n" + head + body + "  output \"y\" %y\n}\n";
}
const std::string kRows =
    "  %x = input \"x\" : f32[tokens, 8]\n  %cos = input \"cos\" : f32[tokens, 8]\n"
    "  %sin = input \"sin\" : f32[tokens, 8]\n";

TEST(Rope, Halves) {
  const Recognition found = recognised(graph(kRows, halves("x", "y", 8)));
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(HasSubstr("rope(%x, %cos, %sin) {head_dim = 8, rotary_dim = 8, tables = true}")));
}

const std::string kNeighbours =
    "  %e = slice(%x) {axis = 1, start = 0, end = 8, step = 2}\n"
    "  %o = slice(%x) {axis = 1, start = 1, end = 8, step = 2}\n  %no = unary(%o) {kind = neg}\n"
    "  %o1 = reshape(%no) {shape = [-1, 4, 1]}\n  %e1 = reshape(%e) {shape = [-1, 4, 1]}\n"
    "  %st = concat(%o1, %e1) {axis = -1}\n  %t = reshape(%st) {shape = [-1, 8]}\n"
    "  %ts = mul(%sin, %t)\n  %tc = mul(%cos, %x)\n  %y = add(%ts, %tc)\n";

TEST(Rope, Neighbours) {
  const Recognition found = recognised(graph(kRows, kNeighbours));
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(HasSubstr("{head_dim = 8, rotary_dim = 8, pairing = interleaved, tables = true}")));
}

// Case 34: [1, 2, 3, 4] at position 1, theta 1e4, through both decompositions.
TEST(Rope, TurnsThePublishedExamples) {
  const auto turned = [](const std::string& text, const std::vector<double>& angles) {
    RefTensor cos{{1, 4}, {}}, sin = cos;
    for (const double a : angles) {
      cos.data.push_back(std::cos(a));
      sin.data.push_back(std::sin(a));
    }
    const Graph g = recognise(Graph::parse(text));
    EXPECT_THAT(ops_of(g), ElementsAre("rope"));
    return run_reference(g, {{"x", {{1, 4}, {1, 2, 3, 4}}}, {"cos", cos}, {"sin", sin}}).outputs.at("y").data;
  };
  const std::string rows =
      "  %x = input \"x\" : f32[tokens, 4]\n  %cos = input \"cos\" : f32[tokens, 4]\n"
      "  %sin = input \"sin\" : f32[tokens, 4]\n";
  const std::vector<double> half = turned(graph(rows, halves("x", "y", 4)), {1, 0.01, 1, 0.01});
  const std::vector<double> expected_half = {-1.984111, 1.959901, 2.462378, 4.0198};
  std::string neighbours = kNeighbours;
  for (size_t at; (at = neighbours.find("end = 8")) != neighbours.npos;) neighbours.replace(at, 7, "end = 4");
  for (size_t at; (at = neighbours.find("-1, 4, 1")) != neighbours.npos;) neighbours.replace(at, 8, "-1, 2, 1");
  for (size_t at; (at = neighbours.find("[-1, 8]")) != neighbours.npos;) neighbours.replace(at, 7, "[-1, 4]");
  const std::vector<double> interleaved = turned(graph(rows, neighbours), {1, 1, 0.01, 0.01});
  const std::vector<double> expected_interleaved = {-1.14264, 1.922076, 2.959851, 4.0298};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(half[i], expected_half[i], 1e-6);
    EXPECT_NEAR(interleaved[i], expected_interleaved[i], 1e-6);
  }
}

const std::string kHeads =
    "  %x = input \"x\" : f32[tokens, 16]\n  %cos = input \"cos\" : f32[tokens, 8]\n"
    "  %sin = input \"sin\" : f32[tokens, 8]\n  %x3 = reshape(%x) {shape = [-1, 2, 8]}\n"
    "  %x4 = transpose(%x3) {permutation = [1, 0, 2]}\n";
const std::string kBack =
    "  %back = transpose(%z) {permutation = [1, 0, 2]}\n  %y = reshape(%back) {shape = [-1, 16]}\n";

TEST(Rope, HeadsComeSideBySide) {
  const Recognition found = recognised(graph(kHeads, halves("x4", "z", 8) + kBack));
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(HasSubstr("rope(%x, %cos, %sin) {head_dim = 8, rotary_dim = 8, tables = true}")));
}

// [batch, tokens, heads, 8] with the tables unsqueezed at the heads, before and behind the transpose.
TEST(Rope, BatchesOfHeads) {
  const std::string head =
      "  %x = input \"x\" : f32[batch, tokens, 16]\n  %c3 = input \"cos\" : f32[batch, tokens, 8]\n"
      "  %s3 = input \"sin\" : f32[batch, tokens, 8]\n  %x3 = reshape(%x) {shape = [-1, -1, 2, 8]}\n"
      "  %cos = reshape(%c3) {shape = [-1, -1, 1, 8]}\n  %sin = reshape(%s3) {shape = [-1, -1, 1, 8]}\n";
  const std::string turn =
      "  %x4 = transpose(%x3) {permutation = [0, 2, 1, 3]}\n  %ct = transpose(%cos) {permutation = [0, 2, 1, 3]}\n"
      "  %st = transpose(%sin) {permutation = [0, 2, 1, 3]}\n";
  const std::string flat = "  %y = reshape(%z) {shape = [-1, -1, 16]}\n";
  const std::string back =
      "  %w = transpose(%z) {permutation = [0, 2, 1, 3]}\n  %y = reshape(%w) {shape = [-1, -1, 16]}\n";
  for (const std::string& body : {halves("x3", "z", 8) + flat, turn + halves("x4", "z", 8, "ct", "st") + back}) {
    const Recognition found = recognised(graph(head, body));
    EXPECT_THAT(node_texts(found.graph), ElementsAre(HasSubstr("rope(%x, %c3, %s3)"))) << found.graph.to_text();
  }
}

TEST(Rope, PartOfTheHead) {
  const std::string head =
      "  %x = input \"x\" : f32[tokens, 16]\n  %cos = input \"cos\" : f32[tokens, 4]\n"
      "  %sin = input \"sin\" : f32[tokens, 4]\n  %x3 = reshape(%x) {shape = [-1, 2, 8]}\n"
      "  %x4 = transpose(%x3) {permutation = [1, 0, 2]}\n"
      "  %r = slice(%x4) {axis = 2, start = 0, end = 4}\n";
  const std::string pass = "  %pass = slice(%x4) {axis = 2, start = 4, end = 8}\n";
  const Recognition found =
      recognised(graph(head, pass + halves("r", "turned", 4) + "  %z = concat(%turned, %pass) {axis = -1}\n" + kBack));
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(HasSubstr("rope(%x, %cos, %sin) {head_dim = 8, rotary_dim = 4, tables = true}")))
      << found.graph.to_text();
  // In the other order it is not the first part that turns.
  const Recognition other =
      recognised(graph(head, pass + halves("r", "turned", 4) + "  %z = concat(%pass, %turned) {axis = -1}\n" + kBack));
  EXPECT_THAT(ops_of(other.graph), Contains("concat"));
}

TEST(Rope, BehindANormOfEachHead) {
  const Recognition found = recognised(
      graph(kHeads, "  %w = param \"w\" : f32[8]\n  %n = rms_norm(%x4, %w)\n" + halves("n", "z", 8) + kBack));
  EXPECT_THAT(ops_of(found.graph), ElementsAre("reshape", "rms_norm", "reshape", "rope")) << found.graph.to_text();
}

class NoRope : public ::testing::TestWithParam<std::string> {};
TEST_P(NoRope, IsLeftAlone) {
  const Recognition found = recognised(graph(kRows, GetParam()));
  EXPECT_THAT(ops_of(found.graph), Not(Contains("rope")));
}
const std::string kParts =
    "  %a = slice(%x) {axis = -1, start = 0, end = 4}\n"
    "  %b = slice(%x) {axis = -1, start = 4, end = 8}\n";
const std::string kSum = "  %tc = mul(%x, %cos)\n  %ts = mul(%t, %sin)\n  %y = add(%tc, %ts)\n";
INSTANTIATE_TEST_SUITE_P(
    NearMisses, NoRope,
    ::testing::Values(
        // The other half negated: it turns the other way.
        kParts + "  %na = unary(%a) {kind = neg}\n  %t = concat(%b, %na) {axis = -1}\n" + kSum,
        // Nothing negated; halves in place.
        kParts + "  %t = concat(%b, %a) {axis = -1}\n" + kSum,
        kParts + "  %nb = unary(%b) {kind = neg}\n  %t = concat(%a, %nb) {axis = -1}\n" + kSum,
        // Parts of 3 and 5.
        "  %a = slice(%x) {axis = -1, start = 0, end = 3}\n  %b = slice(%x) {axis = -1, start = 3, end = 8}\n"
        "  %nb = unary(%b) {kind = neg}\n  %t = concat(%nb, %a) {axis = -1}\n" +
            kSum,
        // A rounding between a component and its turn.
        "  %a = slice(%x) {axis = -1, start = 0, end = 4}\n  %b = slice(%x) {axis = -1, start = 4, end = 8}\n"
        "  %nb = unary(%b) {kind = neg}\n  %h = cast(%nb) {dtype = bf16}\n  %hh = cast(%h) {dtype = f32}\n"
        "  %t = concat(%hh, %a) {axis = -1}\n" +
            kSum,
        // The difference instead of the sum.
        kParts + "  %nb = unary(%b) {kind = neg}\n  %t = concat(%nb, %a) {axis = -1}\n  %tc = mul(%x, %cos)\n"
                 "  %ts = mul(%t, %sin)\n  %y = binary(%tc, %ts) {kind = sub}\n"));

TEST(Rope, OneAngleForAllComponentsIsNoTable) {
  const Recognition found =
      recognised(graph("  %x = input \"x\" : f32[tokens, 8]\n  %cos = input \"cos\" : f32[tokens, 1]\n"
                       "  %sin = input \"sin\" : f32[tokens, 1]\n",
                       halves("x", "y", 8)));
  EXPECT_THAT(clauses(found), ElementsAre("table_width"));
}

}  // namespace
}  // namespace atb::testing
