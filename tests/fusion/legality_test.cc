// Each condition that fusers get wrong: the rule does not fire and says why, and the nearest legal graph fires.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "fusion/fuse.h"
#include "fusion/links.h"

namespace atb {
namespace {

struct LegalityCase {
  const char* name;
  const char* rule;
  const char* refused;  ///< lines of the graph
  const char* clause;
  const char* node;
  const char* detail;
  const char* legal;
};

void PrintTo(const LegalityCase& c, std::ostream* os) { *os << c.name; }

Graph graph_of(const char* lines) { return Graph::parse("graph \"g\" {\n" + std::string(lines) + "\n}\n"); }

bool fires(const Links& links, const std::string& rule) {
  return std::any_of(links.links.begin(), links.links.end(),
                     [&](const Link& link) { return link.rule->name() == rule; });
}

class Legality : public testing::TestWithParam<LegalityCase> {};

TEST_P(Legality, IsRefusedWithAReason) {
  const LegalityCase& c = GetParam();
  const Graph graph = graph_of(c.refused);
  const Facts facts(graph);
  const Links links = find_links(facts, Switches{}, false);
  EXPECT_FALSE(fires(links, c.rule));
  const auto found = std::find_if(links.refused.begin(), links.refused.end(), [&](const Refused& r) {
    return r.rule->name() == c.rule && std::string(r.clause) == c.clause;
  });
  ASSERT_NE(found, links.refused.end()) << graph.to_text();
  EXPECT_EQ(facts.where(found->node), c.node);
  EXPECT_EQ(found->detail, c.detail);
}

TEST_P(Legality, TheNearestLegalGraphFires) {
  const Graph graph = graph_of(GetParam().legal);
  const Facts facts(graph);
  EXPECT_TRUE(fires(find_links(facts, Switches{}, false), GetParam().rule)) << graph.to_text();
}

#define NORM_INPUTS                   \
  "%x = input \"x\" : f32[2, 3, 8]\n" \
  "%gamma = param \"gamma\" : f32[8]\n"
#define MATMUL_INPUTS                    \
  "%x = input \"x\" : f32[tokens, 24]\n" \
  "%r = input \"r\" : f32[tokens, 40]\n" \
  "%w = param \"w\" : f32[40, 24]\n"     \
  "%bias = param \"bias\" : f32[40]\n"

const LegalityCase kCases[] = {
    {"InteriorValueHasOtherUsers", "bias_activation", MATMUL_INPUTS R"(%p = add(%r, %bias) @ "mlp.bias"
       %a = activation(%p) {kind = gelu}
       %y = add(%p, %a)
       output "y" %y)",
     "single_use", "mlp.bias", "has 2 consumers", MATMUL_INPUTS R"(%p = add(%r, %bias)
       %a = activation(%p) {kind = gelu}
       output "y" %a)"},
    {"UsedTwiceByOneConsumer", "matmul_residual", MATMUL_INPUTS R"(%p = matmul(%x, %w) @ "mlp.down"
       %y = add(%p, %p)
       output "y" %y)",
     "single_use", "mlp.down", "has 2 consumers", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %y = add(%p, %r)
       output "y" %y)"},
    {"InteriorValueIsViewed", "matmul_activation", MATMUL_INPUTS R"(%p = matmul(%x, %w) @ "mlp.gate_up"
       %a = activation(%p) {kind = gelu}
       %half = slice(%p) {axis = 1, end = 20}
       output "half" %half
       output "y" %a)",
     "slices_do_not_overlap", "mlp.gate_up", "has 2 consumers", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %half = slice(%p) {axis = 1, end = 20}
       %a = activation(%half) {kind = gelu}
       output "y" %a)"},
    {"SlicesOverlap", "matmul_activation", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %gate = slice(%p) {axis = 1, end = 21} @ "mlp.gate"
       %up = slice(%p) {axis = 1, start = 20, end = 40} @ "mlp.up"
       %a = activation(%gate) {kind = silu}
       output "up" %up
       output "y" %a)",
     "slices_do_not_overlap", "mlp.up", "its columns 20-39 are also read elsewhere",
     MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %gate = slice(%p) {axis = 1, end = 20}
       %up = slice(%p) {axis = 1, start = 20, end = 40}
       %a = activation(%gate) {kind = silu}
       output "up" %up
       output "y" %a)"},
    {"OtherPermutations", "transposed_weight",
     R"(%x = input "x" : f32[tokens, 24]
       %stored = param "stored" : f32[40, 24]
       %w = transpose(%stored) {permutation = [0, 1]} @ "w"
       %y = matmul(%x, %w)
       output "y" %y)",
     "swaps_matrix_axes", "w", "the permutation [0, 1] is not the matrix transpose",
     R"(%x = input "x" : f32[tokens, 24]
       %stored = param "stored" : f32[24, 40]
       %w = transpose(%stored) {permutation = [1, 0]}
       %y = matmul(%x, %w)
       output "y" %y)"},
    {"MixedDtypes", "add_norm",
     R"(%x = input "x" : bf16[tokens, 8]
       %r = input "r" : bf16[tokens, 8]
       %gamma = param "gamma" : f16[8]
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma) @ "norm"
       output "y" %y)",
     "gamma_dtype", "norm", "gamma is f16, x is bf16",
     R"(%x = input "x" : bf16[tokens, 8]
       %r = input "r" : bf16[tokens, 8]
       %gamma = param "gamma" : f32[8]
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma)
       output "y" %y)"},
    {"ExplicitCastStays", "matmul_bias", MATMUL_INPUTS R"(%half = param "half" : bf16[40]
       %p = matmul(%x, %w)
       %c = cast(%p) {dtype = bf16} @ "round"
       %y = add(%c, %half)
       output "y" %y)",
     "no_cast_between", "round", "the cast to bf16 is a rounding point", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %y = add(%p, %bias)
       output "y" %y)"},
    {"AccumulatorIsTooNarrow", "norm_matmul",
     R"(%x = input "x" : f64[tokens, 8]
       %gamma = param "gamma" : f64[8]
       %w = param "w" : f64[4, 8]
       %n = rms_norm(%x, %gamma)
       %y = matmul(%n, %w) @ "q"
       output "y" %y)",
     "fp32_accumulates", "q", "f64 does not accumulate in f32",
     R"(%x = input "x" : f16[tokens, 8]
       %gamma = param "gamma" : f16[8]
       %w = param "w" : f16[4, 8]
       %n = rms_norm(%x, %gamma)
       %y = matmul(%n, %w)
       output "y" %y)"},
    {"SkipIsBroadcast", "add_norm", NORM_INPUTS R"(%r = input "r" : f32[3, 8]
       %s = add(%r, %x) @ "sum"
       %y = rms_norm(%s, %gamma)
       output "y" %y)",
     "same_shape", "sum", "%r [3, 8] is broadcast to [2, 3, 8]", NORM_INPUTS R"(%r = input "r" : f32[2, 3, 8]
       %s = add(%r, %x)
       %y = rms_norm(%s, %gamma)
       output "y" %y)"},
    {"UnknownSizeIsNotOne", "add_norm",
     R"(%x = input "x" : f32[n, 8]
       %r = input "r" : f32[1, 8]
       %gamma = param "gamma" : f32[8]
       %s = add(%x, %r) @ "sum"
       %y = rms_norm(%s, %gamma)
       output "y" %y)",
     "same_shape", "sum", "%r [1, 8] is broadcast to [n, 8]",
     R"(%x = input "x" : f32[n, 8]
       %r = input "r" : f32[n, 8]
       %gamma = param "gamma" : f32[8]
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma)
       output "y" %y)"},
    {"GammaIsOneNumber", "add_norm",
     R"(%x = input "x" : f32[n, 8]
       %r = input "r" : f32[n, 8]
       %gamma = param "gamma" : f32[1]
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma) @ "norm"
       output "y" %y)",
     "gamma_of_row", "norm", "gamma [1] is not one row of [n, 8]",
     R"(%x = input "x" : f32[1, n, 8]
       %r = input "r" : f32[1, n, 8]
       %gamma = param "gamma" : f32[1, 1, 8]
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma)
       output "y" %y)"},
    {"BiasIsNoRow", "matmul_bias", MATMUL_INPUTS R"(%one = param "one" : f32[1]
       %p = matmul(%x, %w)
       %y = add(%p, %one) @ "bias"
       output "y" %y)",
     "bias_of_row", "bias", "bias [1] is not one row of [tokens, 40]", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %y = add(%bias, %p)
       output "y" %y)"},
    {"WeightIsNoMatrix", "norm_matmul", NORM_INPUTS R"(%w = param "w" : f32[2, 4, 8]
       %n = rms_norm(%x, %gamma)
       %y = matmul(%n, %w) @ "experts"
       output "y" %y)",
     "plain_matrix", "experts", "the weight has 3 dimensions, expected 2", NORM_INPUTS R"(%w = param "w" : f32[4, 8]
       %n = rms_norm(%x, %gamma)
       %y = matmul(%n, %w)
       output "y" %y)"},
    {"BothFactorsAreActivated", "activation_gate",
     R"(%g = input "g" : f32[tokens, 8]
       %u = input "u" : f32[tokens, 8]
       %a = activation(%g) {kind = silu}
       %b = activation(%u) {kind = silu}
       %y = mul(%a, %b) @ "gate"
       output "y" %y)",
     "one_activated_factor", "gate", "2 of its factors are activated, expected 1",
     R"(%g = input "g" : f32[tokens, 8]
       %u = input "u" : f32[tokens, 8]
       %a = activation(%g) {kind = silu}
       %y = mul(%u, %a)
       output "y" %y)"},
    {"TanhIsNoGate", "activation_gate",
     R"(%g = input "g" : f32[tokens, 8]
       %u = input "u" : f32[tokens, 8]
       %a = activation(%g) {kind = tanh} @ "cap"
       %y = mul(%a, %u)
       output "y" %y)",
     "gate_function", "cap", "tanh is no gate: it may be a soft-cap",
     R"(%g = input "g" : f32[tokens, 8]
       %u = input "u" : f32[tokens, 8]
       %a = activation(%g) {kind = gelu_tanh}
       %y = mul(%a, %u)
       output "y" %y)"},
    {"OneIsAddedTwice", "add_norm",
     R"(%x = input "x" : f32[n, 8]
       %r = input "r" : f32[n, 8]
       %w = param "w" : f32[8]
       %one = constant 1 : f32[]
       %gamma = add(%w, %one)
       %s = add(%x, %r)
       %y = rms_norm(%s, %gamma) {one_plus_weight = true} @ "norm"
       output "y" %y)",
     "gamma_is_raw", "norm", "1 is added to the weight twice",
     R"(%x = input "x" : f32[n, 8]
       %r = input "r" : f32[n, 8]
       %w = param "w" : f32[8]
       %s = add(%x, %r)
       %y = rms_norm(%s, %w) {one_plus_weight = true}
       output "y" %y)"},
    {"BiasBehindTheResidual", "matmul_bias", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %s = add(%p, %r)
       %y = add(%s, %bias) @ "bias"
       output "y" %y)",
     "bias_before_residual", "bias", "the bias is added behind the residual", MATMUL_INPUTS R"(%p = matmul(%x, %w)
       %s = add(%p, %bias)
       %y = add(%s, %r)
       output "y" %y)"},
    {"MasksAreAddedTwice", "scores_scale",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %m = input "m" : f32[tokens, tokens]
       %s = scores(%q, %k, %m) {heads = 3, kv_heads = 1, head_dim = 8, mask = additive}
       %y = add(%s, %m) @ "mask"
       output "y" %y)",
     "one_mask", "mask", "a second mask: the sum of two lowest numbers overflows",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %m = input "m" : f32[tokens, tokens]
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       %y = add(%s, %m)
       output "y" %y)"},
    {"MaskIsASumOfMasks", "scores_softmax",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %a = input "a" : f32[tokens, tokens]
       %b = input "b" : f32[tokens, tokens]
       %m = add(%a, %b)
       %s = scores(%q, %k, %m) {heads = 3, kv_heads = 1, head_dim = 8, mask = additive} @ "scores"
       %y = softmax(%s)
       output "y" %y)",
     "mask_is_given", "scores", "the mask is a sum of masks, which may overflow to -inf",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %m = input "m" : f32[tokens, tokens]
       %s = scores(%q, %k, %m) {heads = 3, kv_heads = 1, head_dim = 8, mask = additive}
       %y = softmax(%s)
       output "y" %y)"},
    {"CausalWithoutCommonEnd", "scores_softmax",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[source, 8]
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true} @ "scores"
       %y = softmax(%s)
       output "y" %y)",
     "causal_ends_align", "scores", "tokens queries and source keys have no common end",
     R"(%q = input "q" : f32[tokens, 24]
       %new = input "new" : f32[tokens, 8]
       %cache = state "k" : f32[past, 8]
       %k = kv_append(%cache, %new)
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true}
       %y = softmax(%s)
       output "y" %y)"},
    {"WindowWithoutCommonEnd", "window_softmax",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[source, 8]
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true, window = 4} @ "scores"
       %y = softmax(%s)
       output "y" %y)",
     "causal_ends_align", "scores", "tokens queries and source keys have no common end",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true, window = 4}
       %y = softmax(%s)
       output "y" %y)"},
    {"ValuesGroupOtherHeads", "softmax_values",
     R"(%q = input "q" : f32[tokens, 48]
       %k = input "k" : f32[tokens, 16]
       %v = input "v" : f32[tokens, 24]
       %s = scores(%q, %k) {heads = 6, kv_heads = 2, head_dim = 8}
       %p = softmax(%s)
       %y = values(%p, %v) {heads = 6, kv_heads = 3, head_dim = 8} @ "values"
       output "y" %y)",
     "same_head_layout", "values", "values have 6/3 heads of 8, the scores 6/2 of 8",
     R"(%q = input "q" : f32[tokens, 48]
       %k = input "k" : f32[tokens, 16]
       %v = input "v" : f32[tokens, 16]
       %s = scores(%q, %k) {heads = 6, kv_heads = 2, head_dim = 8}
       %p = softmax(%s)
       %y = values(%p, %v) {heads = 6, kv_heads = 2, head_dim = 8}
       output "y" %y)"},
    {"RopePairingsDiffer", "query_scores",
     R"(%x = input "x" : f32[tokens, 24]
       %z = input "z" : f32[tokens, 8]
       %at = input "at" : i32[tokens]
       %q = rope(%x, %at) {head_dim = 8, rotary_dim = 8}
       %k = rope(%z, %at) {head_dim = 8, rotary_dim = 8, pairing = interleaved}
       %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8} @ "scores"
       output "y" %y)",
     "same_rotation", "scores", "q and k are rotated differently",
     R"(%x = input "x" : f32[tokens, 24]
       %z = input "z" : f32[tokens, 8]
       %at = input "at" : i32[tokens]
       %q = rope(%x, %at) {head_dim = 8, rotary_dim = 4, pairing = interleaved}
       %k = rope(%z, %at) {head_dim = 8, rotary_dim = 4, pairing = interleaved}
       %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       output "y" %y)"},
    {"RopeOfOtherHeads", "query_scores",
     R"(%x = input "x" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %at = input "at" : i32[tokens]
       %q = rope(%x, %at) {head_dim = 4, rotary_dim = 4} @ "q_rope"
       %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       output "y" %y)",
     "rope_fits_heads", "q_rope", "rotates heads of 4, the scores have heads of 8",
     R"(%x = input "x" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %at = input "at" : i32[tokens]
       %q = rope(%x, %at) {head_dim = 8, rotary_dim = 4}
       %y = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       output "y" %y)"},
    {"QkNormOfTheWholeRow", "qk_norm_rope",
     R"(%x = input "x" : f32[tokens, 24]
       %gamma = param "gamma" : f32[24]
       %at = input "at" : i32[tokens]
       %n = rms_norm(%x, %gamma) @ "q_norm"
       %y = rope(%n, %at) {head_dim = 8, rotary_dim = 8}
       output "y" %y)",
     "qk_norm_of_head", "q_norm", "the norm spans 24 elements, a head has 8",
     R"(%x = input "x" : f32[tokens, 3, 8]
       %gamma = param "gamma" : f32[8]
       %at = input "at" : i32[tokens]
       %n = rms_norm(%x, %gamma)
       %h = reshape(%n) {shape = [-1, 24]}
       %y = rope(%h, %at) {head_dim = 8, rotary_dim = 8}
       output "y" %y)"},
    {"PositionsAreToldTwice", "alibi_softmax",
     R"(%x = input "x" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %at = input "at" : i32[tokens]
       %q = rope(%x, %at) {head_dim = 8, rotary_dim = 8}
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true, alibi = true} @ "scores"
       %y = softmax(%s)
       output "y" %y)",
     "no_rope_with_alibi", "scores", "q is rotated and the scores have ALiBi slopes",
     R"(%q = input "q" : f32[tokens, 24]
       %k = input "k" : f32[tokens, 8]
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8, causal = true, alibi = true}
       %y = softmax(%s)
       output "y" %y)"},
    {"CacheIsReadBeforeTheAppend", "rope_kv_append",
     R"(%x = input "x" : f32[tokens, 8]
       %q = input "q" : f32[tokens, 24]
       %cache = state "k" : f32[past, 8]
       %at = input "at" : i32[tokens]
       %old = scores(%q, %cache) {heads = 3, kv_heads = 1, head_dim = 8}
       %k = rope(%x, %at) {head_dim = 8, rotary_dim = 8}
       %y = kv_append(%cache, %k) @ "k_cache"
       output "old" %old)",
     "state_read_once", "k_cache", "the cache before the append has 2 consumers",
     R"(%x = input "x" : f32[tokens, 8]
       %cache = state "k" : f32[past, 8]
       %at = input "at" : i32[tokens]
       %k = rope(%x, %at) {head_dim = 8, rotary_dim = 8}
       %y = kv_append(%cache, %k))"},
    {"NormedRowIsReadByOthers", "norm_matmul", NORM_INPUTS R"(%w = param "w" : f32[4, 8]
       %n = rms_norm(%x, %gamma) @ "norm"
       %y = matmul(%n, %w)
       %z = activation(%n) {kind = relu}
       output "y" %y
       output "z" %z)",
     "only_products_read", "norm", "has 2 consumers, one of them activation", NORM_INPUTS R"(%w = param "w" : f32[4, 8]
       %u = param "u" : f32[6, 8]
       %n = rms_norm(%x, %gamma)
       %y = matmul(%n, %w)
       %z = matmul(%n, %u)
       output "y" %y
       output "z" %z)"},
    {"SiblingsOfTwoGates", "gate_up",
     R"(%x = input "x" : f32[tokens, 8]
       %a = param "a" : f32[4, 8]
       %b = param "b" : f32[4, 8]
       %z = input "z" : f32[tokens, 4]
       %g = matmul(%x, %a)
       %u = matmul(%x, %b) @ "up"
       %first = mul(%g, %z)
       %second = mul(%u, %z)
       output "first" %first
       output "second" %second)",
     "same_gate", "up", "does not meet its sibling in one product gate * up",
     R"(%x = input "x" : f32[tokens, 8]
       %a = param "a" : f32[4, 8]
       %b = param "b" : f32[4, 8]
       %g = matmul(%x, %a)
       %u = matmul(%x, %b)
       %act = activation(%g) {kind = relu}
       %y = mul(%act, %u)
       output "y" %y)"},
    {"SiblingsOfTwoAttentions", "qkv",
     R"(%x = input "x" : f32[tokens, 8]
       %a = param "a" : f32[24, 8]
       %b = param "b" : f32[24, 8]
       %k = input "k" : f32[tokens, 8]
       %q = matmul(%x, %a)
       %z = matmul(%x, %b) @ "other.q"
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       %t = scores(%z, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       %p = softmax(%s)
       %r = softmax(%t)
       %y = values(%p, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       %w = values(%r, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       output "y" %y
       output "w" %w)",
     "same_attention", "other.q", "feeds another attention than its sibling",
     R"(%x = input "x" : f32[tokens, 8]
       %a = param "a" : f32[24, 8]
       %b = param "b" : f32[8, 8]
       %v = input "v" : f32[tokens, 8]
       %q = matmul(%x, %a)
       %k = matmul(%x, %b)
       %s = scores(%q, %k) {heads = 3, kv_heads = 1, head_dim = 8}
       %p = softmax(%s)
       %y = values(%p, %v) {heads = 3, kv_heads = 1, head_dim = 8}
       output "y" %y)"},
};

INSTANTIATE_TEST_SUITE_P(Conditions, Legality, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace atb
