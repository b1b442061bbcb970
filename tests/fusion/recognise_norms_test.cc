#include "fusion/recognise_support.h"

namespace atb::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

// A graph over x [tokens, 8] whose last line defines %y.
std::string over_x(const std::string& body, const std::string& dtype = "f32") {
  return "graph \"norm\" {\n  %x = input \"x\" : " + dtype + "[tokens, 8]\n  %w = param \"w\" : " + dtype +
         "[8]\n  %b = param \"b\" : " + dtype + "[8]\n  %one = constant 1 : f32[]\n  %two = constant 2 : f32[]\n" +
         "  %eps = constant 1e-05 : f32[]\n  %eighth = constant 0.125 : f32[]\n  %half = constant 0.5 : f32[]\n" +
         "  %minus_half = constant -0.5 : f32[]\n" + body + "  output \"y\" %y\n}\n";
}

constexpr const char* kMean = "  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n";

class RmsNorm : public ::testing::TestWithParam<std::string> {};
TEST_P(RmsNorm, EverySpelling) {
  const Recognition found = recognised(over_x(GetParam()));
  EXPECT_THAT(node_texts(found.graph), ElementsAre(::testing::EndsWith("= rms_norm(%x, %w) {eps = 1e-05}")));
  EXPECT_THAT(found.near_misses, ::testing::IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Spellings, RmsNorm,
    ::testing::Values(
        std::string("  %s = mul(%x, %x)\n") + kMean +
            "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%x, %r)\n  %y = mul(%n, %w)\n",
        std::string("  %s = binary(%x, %two) {kind = pow}\n") + kMean +
            "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%r, %x)\n  %y = mul(%w, %n)\n",
        std::string("  %s = unary(%x) {kind = square}\n") + kMean +
            "  %r = unary(%v) {kind = sqrt}\n  %n = binary(%x, %r) {kind = div}\n  %y = mul(%w, %n)\n",
        std::string("  %s = unary(%x) {kind = square}\n") + kMean +
            "  %r = binary(%v, %half) {kind = pow}\n  %i = unary(%r) {kind = reciprocal}\n  %n = mul(%x, %i)\n"
            "  %y = mul(%n, %w)\n",
        std::string("  %s = unary(%x) {kind = square}\n") + kMean +
            "  %r = unary(%v) {kind = sqrt}\n  %i = binary(%one, %r) {kind = div}\n  %n = mul(%x, %i)\n"
            "  %y = mul(%n, %w)\n",
        std::string("  %s = unary(%x) {kind = square}\n") + kMean +
            "  %r = binary(%v, %minus_half) {kind = pow}\n  %n = mul(%x, %r)\n  %y = mul(%n, %w)\n",
        "  %s = mul(%x, %x)\n  %t = reduce(%s) {kind = sum}\n  %m = mul(%t, %eighth)\n  %v = add(%eps, %m)\n"
        "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%x, %r)\n  %y = mul(%n, %w)\n",
        // Casts to the dtype that is there already.
        std::string("  %u = cast(%x) {dtype = f32}\n  %s = mul(%u, %u)\n") + kMean +
            "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%u, %r)\n  %c = cast(%n) {dtype = f32}\n  %y = mul(%c, "
            "%w)\n"));

TEST(RmsNorm, RoundsBeforeTheWeightWhereTheCastStands) {
  const Recognition found = recognised(
      over_x(
          "  %u = cast(%x) {dtype = f32}\n  %s = mul(%u, %u)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n"
          "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%u, %r)\n  %c = cast(%n) {dtype = bf16}\n  %y = mul(%w, %c)\n",
          "bf16"),
      0x1p-12);
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(::testing::HasSubstr("rms_norm(%x, %w) {eps = 1e-05, round_before_weight = true}")));
}

// Gemma: the sum 1 + w in fp32, one cast at the end.
TEST(RmsNorm, OnePlusWeightInFp32) {
  const std::string body =
      "  %u = cast(%x) {dtype = f32}\n  %s = mul(%u, %u)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n"
      "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%u, %r)\n  %wf = cast(%w) {dtype = f32}\n  %w1 = add(%one, %wf)\n"
      "  %p = mul(%n, %w1)\n  %y = cast(%p) {dtype = bf16}\n";
  // The fp64 reference rounds only at casts: both round once, of values that differ by eps' rounding; a tie may flip.
  const Recognition found = recognised(over_x(body, "bf16"), 0x1p-12);
  EXPECT_THAT(node_texts(found.graph),
              ElementsAre(::testing::HasSubstr("rms_norm(%x, %w) {eps = 1e-05, one_plus_weight = true}")));
}

// Case 15: 1 + 15.8125 is 16.8125; a sum in bf16 is 16.75 and is not that operator.
TEST(RmsNorm, OnePlusWeightKeepsItsBits) {
  const Graph g = recognise(Graph::parse(
      "graph \"g\" {\n  %x = input \"x\" : bf16[1, 1]\n  %w = param \"w\" : bf16[1]\n  %one = constant 1 : f32[]\n"
      "  %u = cast(%x) {dtype = f32}\n  %s = mul(%u, %u)\n  %m = reduce(%s) {kind = mean}\n"
      "  %r = unary(%m) {kind = rsqrt}\n  %n = mul(%u, %r)\n  %wf = cast(%w) {dtype = f32}\n  %w1 = add(%wf, %one)\n"
      "  %y = mul(%n, %w1)\n  output \"y\" %y\n}\n"));
  EXPECT_THAT(ops_of(g), ElementsAre("cast", "rms_norm"));
  const auto y = run_reference(g, {{"x", {{1, 1}, {3}}}, {"w", {{1}, {15.8125}}}}, Rounding::kEveryValue);
  EXPECT_EQ(y.outputs.at("y").data[0], 16.8125);
}

TEST(RmsNorm, OnePlusWeightInBf16IsAnother) {
  const Recognition found = recognised(over_x(
      "  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = mean}\n  %r = unary(%m) {kind = rsqrt}\n  %n = mul(%x, %r)\n"
      "  %w1 = add(%w, %one)\n  %y = mul(%n, %w1)\n",
      "bf16"));
  EXPECT_THAT(ops_of(found.graph), ElementsAre("add", "rms_norm"));
  EXPECT_THAT(clauses(found), ElementsAre("one_plus_in_fp32"));
}

struct Miss {
  std::string body, clause;
};
class NoRmsNorm : public ::testing::TestWithParam<Miss> {};
TEST_P(NoRmsNorm, IsLeftAlone) {
  const Recognition found = recognised(over_x(GetParam().body), 0x1p-24);
  EXPECT_THAT(ops_of(found.graph), Not(Contains("rms_norm")));
  if (!GetParam().clause.empty()) {
    EXPECT_THAT(clauses(found), Contains(GetParam().clause));
  }
}
INSTANTIATE_TEST_SUITE_P(
    NearMisses, NoRmsNorm,
    ::testing::Values(Miss{"  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = mean}\n  %r = unary(%m) {kind = sqrt}\n"
                           "  %d = add(%r, %eps)\n  %y = binary(%x, %d) {kind = div}\n",
                           "eps_inside"},
                      Miss{"  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = mean, axis = 0}\n  %v = add(%m, %eps)\n"
                           "  %r = unary(%v) {kind = rsqrt}\n  %y = mul(%x, %r)\n",
                           ""},
                      Miss{"  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = max}\n  %v = add(%m, %eps)\n"
                           "  %r = unary(%v) {kind = rsqrt}\n  %y = mul(%x, %r)\n",
                           ""},
                      // A sum over 8 elements divided by 7 (an unbiased variance) is no mean.
                      Miss{"  %c = constant 7 : f32[]\n  %s = mul(%x, %x)\n  %t = reduce(%s) {kind = sum}\n"
                           "  %m = binary(%t, %c) {kind = div}\n  %v = add(%m, %eps)\n  %r = unary(%v) {kind = rsqrt}\n"
                           "  %y = mul(%x, %r)\n",
                           ""},
                      // The statistic of another value.
                      Miss{"  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n"
                           "  %r = unary(%v) {kind = rsqrt}\n  %z = add(%x, %b)\n  %y = mul(%z, %r)\n",
                           ""},
                      // A rounding between x and its square.
                      Miss{"  %h = cast(%x) {dtype = bf16}\n  %u = cast(%h) {dtype = f32}\n  %s = mul(%u, %u)\n"
                           "  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n  %r = unary(%v) {kind = rsqrt}\n"
                           "  %y = mul(%x, %r)\n",
                           ""},
                      // The statistics are read by someone else too.
                      Miss{"  %s = mul(%x, %x)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n"
                           "  %r = unary(%v) {kind = rsqrt}\n  %y = mul(%x, %r)\n  output \"r\" %r\n",
                           "single_use"}));

class LayerNorm : public ::testing::TestWithParam<std::string> {};
TEST_P(LayerNorm, EverySpelling) {
  const Recognition found = recognised(over_x("  %a = reduce(%x) {kind = mean}\n" + GetParam()));
  EXPECT_THAT(node_texts(found.graph), ElementsAre(::testing::HasSubstr("layer_norm(%x, %w, %b)")));
}
INSTANTIATE_TEST_SUITE_P(
    Spellings, LayerNorm,
    ::testing::Values(
        std::string("  %d = binary(%x, %a) {kind = sub}\n  %s = mul(%d, %d)\n") + kMean +
            "  %r = unary(%v) {kind = rsqrt}\n  %n = mul(%d, %r)\n  %p = mul(%n, %w)\n  %y = add(%p, %b)\n",
        std::string("  %d = binary(%x, %a) {kind = sub}\n  %s = binary(%d, %two) {kind = pow}\n") + kMean +
            "  %r = unary(%v) {kind = sqrt}\n  %n = binary(%d, %r) {kind = div}\n  %p = mul(%w, %n)\n"
            "  %y = add(%b, %p)\n",
        "  %d = binary(%x, %a) {kind = sub}\n  %q = mul(%x, %x)\n  %e = reduce(%q) {kind = mean}\n  %aa = mul(%a, %a)\n"
        "  %var = binary(%e, %aa) {kind = sub}\n  %v = add(%var, %eps)\n  %r = unary(%v) {kind = rsqrt}\n"
        "  %n = mul(%d, %r)\n  %p = mul(%n, %w)\n  %y = add(%p, %b)\n"));

TEST(LayerNorm, InBf16ByFp32) {
  const Recognition found = recognised(
      over_x(
          "  %u = cast(%x) {dtype = f32}\n  %a = reduce(%u) {kind = mean}\n  %d = binary(%u, %a) {kind = sub}\n"
          "  %s = mul(%d, %d)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n  %r = unary(%v) {kind = rsqrt}\n"
          "  %n = mul(%d, %r)\n  %wf = cast(%w) {dtype = f32}\n  %bf = cast(%b) {dtype = f32}\n  %p = mul(%n, %wf)\n"
          "  %z = add(%p, %bf)\n  %y = cast(%z) {dtype = bf16}\n",
          "bf16"),
      0x1p-12);
  EXPECT_THAT(node_texts(found.graph), ElementsAre(::testing::HasSubstr("layer_norm(%x, %w, %b)")));
}

TEST(LayerNorm, RoundedBeforeTheWeightStaysInPieces) {
  const Recognition found = recognised(
      over_x(
          "  %u = cast(%x) {dtype = f32}\n  %a = reduce(%u) {kind = mean}\n  %d = binary(%u, %a) {kind = sub}\n"
          "  %s = mul(%d, %d)\n  %m = reduce(%s) {kind = mean}\n  %v = add(%m, %eps)\n  %r = unary(%v) {kind = rsqrt}\n"
          "  %n = mul(%d, %r)\n  %c = cast(%n) {dtype = bf16}\n  %y = mul(%c, %w)\n",
          "bf16"),
      0x1p-12);
  EXPECT_THAT(ops_of(found.graph), ElementsAre("cast", "layer_norm", "cast", "mul"));
  EXPECT_THAT(clauses(found), ElementsAre("rounding_point"));
}

// A residual of the same shape is no bias, and a row-wise factor that is computed is no weight.
TEST(LayerNorm, OnlyWeightsAreTakenIn) {
  const Recognition found = recognised(
      "graph \"g\" {\n  %x = input \"x\" : f32[1, 8]\n  %r = input \"r\" : f32[1, 8]\n  %one = constant 1 : f32[]\n"
      "  %n = layer_norm(%x, %one)\n  %y = add(%n, %r)\n  %z = mul(%n, %r)\n  output \"y\" %y\n  output \"z\" %z\n}\n");
  EXPECT_THAT(ops_of(found.graph), ElementsAre("layer_norm", "add", "mul"));
}

}  // namespace
}  // namespace atb::testing
