#include "fusion/recognise_support.h"

namespace atb::testing {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

// Four query heads over `kv` key-value heads of 8, over x's rows as heads side by side.
std::string attention(const std::string& body, int kv = 4, const std::string& dtype = "f32") {
  const std::string width = std::to_string(kv * 8), heads = std::to_string(kv);
  return "graph \"g\" {\n  %q = input \"q\" : " + dtype + "[tokens, 32]\n  %k = input \"k\" : " + dtype + "[keys, " +
         width + "]\n  %v = input \"v\" : " + dtype + "[keys, " + width + "]\n  %add = input \"add\" : " + dtype +
         "[1, tokens, keys]\n  %bool = input \"bool\" : bool[tokens, keys]\n  %alibi = param \"alibi\" : " + dtype +
         "[4, 1, keys]\n  %scale = constant 0.25 : f32[]\n  %four = constant 4 : f32[]\n  %cap = constant 50 : f32[]\n"
         "  %low = constant -1e4 : f32[]\n  %inf = constant -inf : f32[]\n"
         "  %q3 = reshape(%q) {shape = [-1, 4, 8]}\n  %q4 = transpose(%q3) {permutation = [1, 0, 2]}\n"
         "  %k3 = reshape(%k) {shape = [-1, " +
         heads +
         ", 8]}\n  %k4 = transpose(%k3) {permutation = [1, 0, 2]}\n"
         "  %v3 = reshape(%v) {shape = [-1, " +
         heads + ", 8]}\n  %v4 = transpose(%v3) {permutation = [1, 0, 2]}\n" + body +
         "  %ot = transpose(%o) {permutation = [1, 0, 2]}\n  %y = reshape(%ot) {shape = [-1, 32]}\n"
         "  output \"y\" %y\n}\n";
}
const std::string kKeys = "  %kt = transpose(%k4) {permutation = [0, 2, 1]}\n";
const std::string kProduct = kKeys + "  %s = matmul(%q4, %kt) {layout = in_out}\n";
const std::string kRest = "  %p = softmax(%z)\n  %o = matmul(%p, %v4) {layout = in_out}\n";

struct Spelling {
  std::string scores, body;
  int kv = 4;
};
void PrintTo(const Spelling& s, std::ostream* out) { *out << s.scores << ":\n" << s.body; }

class Attention : public ::testing::TestWithParam<Spelling> {};
TEST_P(Attention, EverySpelling) {
  const auto& [scores, body, kv] = GetParam();
  const Recognition found = recognised(attention(body, kv));
  const std::string heads = "heads = 4, kv_heads = " + std::to_string(kv) + ", head_dim = 8";
  EXPECT_THAT(node_texts(found.graph), ElementsAre(HasSubstr("= scores(%q, %k" + scores), HasSubstr("= softmax("),
                                                   AllOf(HasSubstr("= values("), HasSubstr(", %v) {" + heads + "}"))))
      << found.graph.to_text();
  EXPECT_THAT(node_texts(found.graph)[0], HasSubstr(heads));
  EXPECT_THAT(found.near_misses, IsEmpty());
}
INSTANTIATE_TEST_SUITE_P(
    Spellings, Attention,
    ::testing::Values(
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 kProduct + "  %z = mul(%s, %scale)\n" + kRest},
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 kProduct + "  %z = binary(%s, %four) {kind = div}\n" + kRest},
        // No transpose at all: the product of rows.
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 "  %s = matmul(%q4, %k4)\n  %z = mul(%scale, %s)\n" + kRest},
        // One permute instead of two.
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 "  %kt = transpose(%k3) {permutation = [1, 2, 0]}\n  %s = matmul(%q4, %kt) {layout = in_out}\n"
                 "  %z = mul(%s, %scale)\n" +
                     kRest},
        // The scale on q, or half of it on each side.
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 kKeys + "  %qs = mul(%q4, %scale)\n  %z = matmul(%qs, %kt) {layout = in_out}\n" + kRest},
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.0625}",
                 kKeys +
                     "  %qs = mul(%q4, %scale)\n  %ks = mul(%kt, %scale)\n"
                     "  %z = matmul(%qs, %ks) {layout = in_out}\n" +
                     kRest},
        Spelling{", %add) {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25, mask = additive}",
                 kProduct + "  %t = mul(%s, %scale)\n  %z = add(%add, %t)\n" + kRest},
        // ALiBi as a bias that is handed in.
        Spelling{", %alibi) {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25, mask = additive}",
                 kProduct + "  %t = mul(%s, %scale)\n  %z = add(%t, %alibi)\n" + kRest},
        Spelling{", %bool) {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25, mask = bool}",
                 kProduct + "  %t = mul(%s, %scale)\n  %z = where(%bool, %t, %inf)\n" + kRest},
        // Gemma 2: scale, cap, mask.
        Spelling{", %add) {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25, softcap = 50, mask = additive}",
                 kProduct +
                     "  %t = mul(%s, %scale)\n  %d = binary(%t, %cap) {kind = div}\n"
                     "  %h = activation(%d) {kind = tanh}\n  %c = mul(%h, %cap)\n  %z = add(%c, %add)\n" +
                     kRest},
        // repeat_kv, behind and before the transpose.
        Spelling{") {heads = 4, kv_heads = 2, head_dim = 8, scale = 0.25}",
                 "  %kr = repeat(%k4) {axis = 0, times = 2}\n  %vr = repeat(%v4) {axis = 0, times = 2}\n"
                 "  %kt = transpose(%kr) {permutation = [0, 2, 1]}\n  %s = matmul(%q4, %kt) {layout = in_out}\n"
                 "  %z = mul(%s, %scale)\n  %p = softmax(%z)\n  %o = matmul(%p, %vr) {layout = in_out}\n",
                 2},
        Spelling{") {heads = 4, kv_heads = 2, head_dim = 8, scale = 0.25}",
                 "  %k5 = reshape(%k3) {shape = [-1, 2, 1, 8]}\n  %v5 = reshape(%v3) {shape = [-1, 2, 1, 8]}\n"
                 "  %k6 = repeat(%k5) {axis = 2, times = 2}\n  %v6 = repeat(%v5) {axis = 2, times = 2}\n"
                 "  %k7 = reshape(%k6) {shape = [-1, 4, 8]}\n  %v7 = reshape(%v6) {shape = [-1, 4, 8]}\n"
                 "  %kt = transpose(%k7) {permutation = [1, 2, 0]}\n  %vt = transpose(%v7) {permutation = [1, 0, 2]}\n"
                 "  %s = matmul(%q4, %kt) {layout = in_out}\n  %z = mul(%s, %scale)\n  %p = softmax(%z)\n"
                 "  %o = matmul(%p, %vt) {layout = in_out}\n",
                 2},
        Spelling{") {heads = 4, kv_heads = 4, head_dim = 8, scale = 0.25}",
                 kProduct + "  %z = mul(%s, %scale)\n  %top = reduce(%z) {kind = max}\n"
                            "  %d = binary(%z, %top) {kind = sub}\n  %e = unary(%d) {kind = exp}\n"
                            "  %sum = reduce(%e) {kind = sum}\n  %p = binary(%e, %sum) {kind = div}\n"
                            "  %o = matmul(%p, %v4) {layout = in_out}\n"}));

TEST(Attention, SoftmaxInFp32KeepsItsCasts) {
  const Recognition found = recognised(attention(kProduct + "  %t = mul(%s, %scale)\n  %m = add(%t, %add)\n"
                                                            "  %z = cast(%m) {dtype = f32}\n  %pf = softmax(%z)\n"
                                                            "  %p = cast(%pf) {dtype = bf16}\n"
                                                            "  %o = matmul(%p, %v4) {layout = in_out}\n",
                                                 4, "bf16"),
                                       0x1p-12);
  EXPECT_THAT(ops_of(found.graph), ElementsAre("scores", "cast", "softmax", "cast", "values"));
}

class NoAttention : public ::testing::TestWithParam<Spelling> {};
// `scores` is the clause here.
TEST_P(NoAttention, IsLeftAlone) {
  const Recognition found = recognised(attention(GetParam().body, GetParam().kv));
  EXPECT_THAT(ops_of(found.graph), Not(Contains("scores")));
  EXPECT_THAT(clauses(found), Contains(GetParam().scores));
}
INSTANTIATE_TEST_SUITE_P(
    NearMisses, NoAttention,
    ::testing::Values(
        Spelling{"mask_value", kProduct + "  %z = where(%bool, %s, %low)\n" + kRest},
        Spelling{"mask_polarity", kProduct + "  %z = where(%bool, %inf, %s)\n" + kRest},
        Spelling{"one_mask", kProduct + "  %t = add(%s, %alibi)\n  %z = add(%t, %add)\n" + kRest},
        Spelling{"single_use", kProduct + "  %z = mul(%s, %scale)\n  output \"s\" %s\n" + kRest},
        // Copies side by side order the heads 0 1 0 1: a tile, not a repeat.
        Spelling{"keys_transposed",
                 "  %kr = concat(%k4, %k4) {axis = 0}\n  %vr = concat(%v4, %v4) {axis = 0}\n"
                 "  %kt = transpose(%kr) {permutation = [0, 2, 1]}\n  %z = matmul(%q4, %kt) {layout = in_out}\n"
                 "  %p = softmax(%z)\n  %o = matmul(%p, %vr) {layout = in_out}\n",
                 2}));

// Eight tokens of eight: every permutation has the same shape, only one is the transpose of the keys.
TEST(Attention, APermuteThatIsNotTheTransposeOfKeysIsNotTakenForIt) {
  const auto graph = [](const std::string& permutation) {
    return "graph \"g\" {\n  %q = input \"q\" : f32[8, 64]\n  %k = input \"k\" : f32[8, 64]\n"
           "  %q3 = reshape(%q) {shape = [-1, 8, 8]}\n  %q4 = transpose(%q3) {permutation = [1, 0, 2]}\n"
           "  %k3 = reshape(%k) {shape = [-1, 8, 8]}\n  %kt = transpose(%k3) {permutation = " +
           permutation + "}\n  %s = matmul(%q4, %kt) {layout = in_out}\n  %p = softmax(%s)\n  output \"p\" %p\n}\n";
  };
  EXPECT_THAT(ops_of(recognised(graph("[1, 2, 0]")).graph), ElementsAre("scores", "softmax"));
  for (const char* other : {"[1, 0, 2]", "[0, 2, 1]", "[2, 1, 0]", "[2, 0, 1]", "[0, 1, 2]"}) {
    const Recognition found = recognised(graph(other));
    EXPECT_THAT(ops_of(found.graph), Not(Contains("scores"))) << other;
    EXPECT_THAT(clauses(found), Contains("keys_transposed")) << other;
  }
}

// Case 26, through the decomposition: head h reads key-value head floor(h / 7).
TEST(Attention, QueryHeadsShareKeyValueHeadsInOrder) {
  const Graph g = recognise(Graph::parse(
      "graph \"g\" {\n  %q = input \"q\" : f32[1, 28]\n  %k = input \"k\" : f32[1, 4]\n  %v = input \"v\" : f32[1, 4]\n"
      "  %q3 = reshape(%q) {shape = [-1, 28, 1]}\n  %q4 = transpose(%q3) {permutation = [1, 0, 2]}\n"
      "  %k3 = reshape(%k) {shape = [-1, 4, 1]}\n  %kr = repeat(%k3) {axis = 1, times = 7}\n"
      "  %v3 = reshape(%v) {shape = [-1, 4, 1]}\n  %vr = repeat(%v3) {axis = -2, times = 7}\n"
      "  %kt = transpose(%kr) {permutation = [1, 2, 0]}\n  %vt = transpose(%vr) {permutation = [1, 0, 2]}\n"
      "  %s = matmul(%q4, %kt) {layout = in_out}\n  %p = softmax(%s)\n  %o = matmul(%p, %vt) {layout = in_out}\n"
      "  %ot = transpose(%o) {permutation = [1, 0, 2]}\n  %y = reshape(%ot) {shape = [-1, 28]}\n  output \"y\" "
      "%y\n}\n"));
  EXPECT_THAT(ops_of(g), ElementsAre("scores", "softmax", "values"));
  const RefTensor zero28{{1, 28}, std::vector<double>(28, 0)}, zero4{{1, 4}, std::vector<double>(4, 0)};
  const auto result = run_reference(g, {{"q", zero28}, {"k", zero4}, {"v", {{1, 4}, {0, 1, 2, 3}}}});
  for (size_t h = 0; h < 28; ++h) EXPECT_EQ(result.outputs.at("y").data[h], static_cast<double>(h / 7));
}

// Packed QKV stays one product and three slices, of which attention reads rows of heads.
class PackedQkv : public ::testing::TestWithParam<std::string> {};
TEST_P(PackedQkv, IsOneProductAndThreeSlices) {
  std::string body =
      "graph \"g\" {\n  %x = input \"x\" : f32[tokens, 16]\n  %w = param \"w\" : f32[48, 16]\n"
      "  %m = matmul(%x, %w)\n" +
      GetParam();
  for (const char* name : {"q", "k", "v"})
    body += std::string("  %") + name + "3 = reshape(%" + name + ") {shape = [-1, 2, 8]}\n  %" + name +
            "4 = transpose(%" + name + "3) {permutation = [1, 0, 2]}\n";
  body += "  %z = matmul(%q4, %k4)\n" + kRest +
          "  %ot = transpose(%o) {permutation = [1, 0, 2]}\n  %y = reshape(%ot) {shape = [-1, 16]}\n"
          "  output \"y\" %y\n}\n";
  const Recognition found = recognised(body);
  EXPECT_THAT(ops_of(found.graph), ElementsAre("matmul", "slice", "slice", "slice", "scores", "softmax", "values"));
}
INSTANTIATE_TEST_SUITE_P(
    Packings, PackedQkv,
    ::testing::Values(
        "  %q = slice(%m) {axis = 1, start = 0, end = 16}\n  %k = slice(%m) {axis = 1, start = 16, end = 32}\n"
        "  %v = slice(%m) {axis = 1, start = 32, end = 48}\n",
        "  %p3 = reshape(%m) {shape = [-1, 3, 16]}\n  %qs = slice(%p3) {axis = 1, start = 0, end = 1}\n"
        "  %ks = slice(%p3) {axis = 1, start = 1, end = 2}\n  %vs = slice(%p3) {axis = 1, start = 2, end = 3}\n"
        "  %q = reshape(%qs) {shape = [-1, 16]}\n  %k = reshape(%ks) {shape = [-1, 16]}\n"
        "  %v = reshape(%vs) {shape = [-1, 16]}\n"));

}  // namespace
}  // namespace atb::testing
