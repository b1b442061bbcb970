#include "ir/rewrite.h"

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atb {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// x -> relu -> tanh -> y, with a second reader of relu that nobody reads.
Graph chain() {
  return Graph::parse(R"(graph "chain" {
  %x = input "x" : f32[2]
  %a = activation(%x) {kind = relu} @ "m.a"
  %b = activation(%a) {kind = tanh} @ "m.b"
  %unread = activation(%a) {kind = gelu} @ "m.unread"
  output "y" %b
}
)");
}

ValueId id(const Graph& g, const char* name) { return *g.find_value(name); }

TEST(Rewrite, LeavesWhatIsReadAsItWas) {
  const Graph g = chain();
  GraphRewriter rewriter(g);
  EXPECT_FALSE(rewriter.is_live(id(g, "unread")));
  EXPECT_THAT(rewriter.users(id(g, "a")), ElementsAre(id(g, "b")));
  const GraphRewriter::Result result = rewriter.finish();
  EXPECT_EQ(result.graph.to_text(), Graph::parse(result.graph.to_text()).to_text());
  EXPECT_EQ(result.graph.nodes().size(), 2u);
  EXPECT_THAT(result.sources, ElementsAre(std::set<NodeId>{0}, std::set<NodeId>{1}));
}

TEST(Rewrite, ReplacesWithAllSources) {
  const Graph g = chain();
  GraphRewriter rewriter(g);
  const ValueId both = rewriter.add(Op::kActivation, ActivationAttrs{ActivationKind::kSilu}, {id(g, "x")}, "m.both");
  EXPECT_FALSE(rewriter.is_live(both));
  rewriter.replace(id(g, "b"), both);
  EXPECT_TRUE(rewriter.is_output(both));
  EXPECT_FALSE(rewriter.is_live(id(g, "a")));
  EXPECT_THAT(rewriter.users(id(g, "x")), ElementsAre(both));
  const GraphRewriter::Result result = rewriter.finish();
  ASSERT_EQ(result.graph.nodes().size(), 1u);
  EXPECT_EQ(result.graph.node(0).path, "m.both");
  EXPECT_THAT(result.sources, ElementsAre(std::set<NodeId>{0, 1}));
}

TEST(Rewrite, AViewBehindAValueStillReadsIt) {
  const Graph g = chain();
  GraphRewriter rewriter(g);
  const ValueId view = rewriter.add(Op::kReshape, ReshapeAttrs{{2}}, {id(g, "b")}, "m.view");
  rewriter.replace(id(g, "b"), view);
  EXPECT_THAT(rewriter.users(id(g, "b")), ElementsAre(view));
  EXPECT_TRUE(rewriter.is_output(view));
  EXPECT_EQ(rewriter.finish().graph.nodes().size(), 3u);
}

TEST(Rewrite, TakesAnEqualNodeThatExists) {
  const Graph g = chain();
  GraphRewriter rewriter(g);
  const ActivationAttrs relu{ActivationKind::kRelu};
  EXPECT_EQ(rewriter.add(Op::kActivation, relu, {id(g, "x")}, "other"), id(g, "a"));
}

TEST(Rewrite, NamesThePlaceOfAMisfit) {
  const Graph g = chain();
  GraphRewriter rewriter(g);
  try {
    rewriter.add(Op::kTranspose, TransposeAttrs{{0, 1}}, {id(g, "x")}, "m.turned");
    FAIL() << "a permutation of two axes of a vector";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kModel);
    EXPECT_EQ(e.where(), "m.turned");
  }
}

TEST(Rewrite, KeepsWhatHasAnEffectAndWhatIsOutside) {
  const Graph g = Graph::parse(R"(graph "cache" {
  %x = input "x" : f32[tokens, 4]
  %unread = input "unread" : f32[3]
  %k = state "k" : f32[past, 4]
  %all = kv_append(%k, %x)
  output "x" %x
}
)");
  GraphRewriter rewriter(g);
  EXPECT_TRUE(rewriter.is_live(id(g, "all")));
  EXPECT_EQ(rewriter.finish().graph.to_text(), g.to_text());
}

TEST(CommonPath, IsInWholeParts) {
  EXPECT_EQ(common_path({"a.b.c", "a.b.d"}), "a.b");
  EXPECT_EQ(common_path({"a.b.c"}), "a.b.c");
  EXPECT_EQ(common_path({"a.bc", "a.bd"}), "a");
  EXPECT_EQ(common_path({"a", "b"}), "");
  EXPECT_EQ(common_path({}), "");
}

}  // namespace
}  // namespace atb
