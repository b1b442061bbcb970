#include <atb/error.h>
#include <atb/graph.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

using testing::HasSubstr;

constexpr const char* kExample = R"(graph "llama" {
  %tokens = input "tokens" : i32[tokens]
  %positions = input "positions" : i32[tokens]
  %w = param "layers.0.mlp.down.weight" : q4_1[576, 1536]
  %table = param "embed" : f16[100, 576]
  %k = state "layers.0.k" : f16[past, 192]
  %c = constant 0.5 : f32[]
  %e = embedding(%table, %tokens) : f16[tokens, 576]
  %h = cast(%e) : f32[tokens, 576]
  %g = param "norm" : f32[576]
  %n = rms_norm(%h, %g) {eps = 1e-05} : f32[tokens, 576] @ "layers.0.attn_norm"
  %r = rope(%n, %positions) {head_dim = 64, rotary_dim = 64, pairing = interleaved, theta = 1e+05} : f32[tokens, 576]
  %slice = slice(%r) {axis = 1, end = 192} : f32[tokens, 192]
  %kk = kv_append(%k, %slice) : f16[past+tokens, 192]
  %s = scores(%r, %kk) {heads = 9, kv_heads = 3, head_dim = 64, scale = 0.125, causal = true} : f32[9, tokens, past+tokens]
  %half = mul(%s, %c) : f32[9, tokens, past+tokens]
  output "logits" %half
}
)";

std::string parse_error(std::string_view text) {
  try {
    Graph::parse(text);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kModel);
    return e.what();
  }
  return "parsed";
}

std::string with_line(const std::string& line) {
  return "graph \"g\" {\n  %x = input \"x\" : f32[n, 4]\n" + line + "\n}\n";
}

TEST(GraphText, PrintsWhatItParsed) { EXPECT_EQ(Graph::parse(kExample).to_text(), kExample); }

TEST(GraphText, TypesOfResultsMayBeLeftOut) {
  const Graph graph = Graph::parse(with_line("%y = softmax(%x)  # a comment"));
  EXPECT_EQ(to_string(graph.value(1).shape), "[n, 4]");
}

TEST(GraphText, KeepsOddNamesAndNumbers) {
  Graph graph("a \"quoted\" \\ name\n\x01");
  const ValueId x = graph.input("x/y z\t%", DType::kF32, {Dim::symbol("n"), 3});
  for (const double value : {0.1, -0.0, 1e300, 5e-324, -HUGE_VAL, HUGE_VAL, std::nan("")})
    graph.constant(value, DType::kF64);
  graph.output("out \x7f",
               graph.add(Op::kLayerNorm, LayerNormAttrs{0.1f}, {x, graph.param("w", DType::kF32, {3})}, "p\"q"));
  EXPECT_EQ(Graph::parse(graph.to_text()).to_text(), graph.to_text());
}

struct BadText {
  const char* line;
  const char* expected;
};

class GraphTextErrors : public testing::TestWithParam<BadText> {};

TEST_P(GraphTextErrors, SayWhereAndWhat) {
  EXPECT_THAT(parse_error(with_line(GetParam().line)), HasSubstr(GetParam().expected));
}

INSTANTIATE_TEST_SUITE_P(
    Lines, GraphTextErrors,
    testing::Values(
        BadText{"  %y = sofmax(%x)", "unknown operator \"sofmax\" (line 3, column 8); did you mean softmax?"},
        BadText{"%y = softmax(%z)", "%z is not defined (line 3, column 14)"},
        BadText{"%x = softmax(%x)", "%x is defined twice (line 3, column 1)"},
        BadText{"%y = input \"x\" : f32[]", "the tensor \"x\" is defined twice (line 3, column 12)"},
        BadText{"%y = layer_norm(%x, %x) {epz = 1}",
                "unknown attribute \"epz\" of layer_norm (line 3, column 26); did you mean eps?"},
        BadText{"%y = softmax(%x) {eps = 1}", "unknown attribute \"eps\" of softmax"},
        BadText{"%y = activation(%x) {kind = gelo}", "unknown value \"gelo\" (line 3, column 29); did you mean gelu?"},
        BadText{"%y = activation(%x) {kind = gelu, kind = silu}", "the attribute kind stands twice"},
        BadText{"%y = softmax(%x) : f32[n, 5]", "the result is f32[n, 4], not f32[n, 5] (line 3, column 18)"},
        BadText{"%y = softmax(%x) : f33[n, 4]", "unknown dtype \"f33\" (line 3, column 20); did you mean f32?"},
        BadText{"%y = softmax(%x, %x)", "softmax: has 2 inputs, expected 1 (line 3, column 6)"},
        BadText{"%y = input \"y\" : f32[-3]", "has a negative size"},
        BadText{"%y = input \"y\" : f32[9223372036854775807+1]", "does not fit into 64 bits (line 3, column 22)"},
        BadText{"%y = input \"y\" : f32[--9223372036854775808]", "does not fit into 64 bits (line 3, column 23)"},
        BadText{"%y = input \"y\" : f32[9223372036854775808]", "is no integer of 64 bits (line 3, column 22)"},
        BadText{"%y = input \"y\" : f32[1.5]", "\"1.5\" is no integer of 64 bits (line 3, column 22)"},
        BadText{"%y = param \"y\" : q4_1[8, 33]", "multiple of its block of 32"},
        BadText{"%y = input \"y\" : q4_1[8, 32]", "which only params can have"},
        BadText{"%y = constant 1e999 : f64[]", "is no number that fits (line 3, column 15)"},
        BadText{"%y = constant 1 : f64[2]", "a constant is one number"},
        BadText{"output \"o\" %x\noutput \"o\" %x",
                "two outputs of the graph have the same name (o) (line 4, column 8)"},
        BadText{"%y = input \"y : f32[]", "a string has no end (line 3, column 12)"},
        BadText{"%y = input \"\\q\" : f32[]", "unknown escape in a string (line 3, column 13)"},
        BadText{"%y ? softmax(%x)", "unexpected character \"?\" (line 3, column 4)"},
        BadText{"% = softmax(%x)", "a % without a name (line 3, column 1)"},
        BadText{"} graph", "after the end of the graph (line 3, column 3)"},
        BadText{"softmax(%x)", "found \"softmax\", expected %name = ..., output or }"}));

TEST(GraphText, RefusesEveryPrefix) {
  const std::string_view text = kExample;
  for (size_t n = 0; n + 2 < text.size(); ++n) EXPECT_THAT(parse_error(text.substr(0, n)), HasSubstr("line ")) << n;
}

// Hostile text: every byte replaced by others in turn either parses to a valid graph or is a located error.
TEST(GraphText, SurvivesChangedBytes) {
  for (size_t n = 0; kExample[n]; ++n) {
    for (const char c : {'\0', '%', '"', '\\', '9', '-', '[', '}', '\n', '#', '\xff'}) {
      std::string text = kExample;
      text[n] = c;
      const std::string error = parse_error(text);
      if (error != "parsed") {
        EXPECT_THAT(error, HasSubstr("line "));
      }
    }
  }
}

}  // namespace
}  // namespace atb
