// What holds for every rule, expanded from the table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "fusion/fuse.h"
#include "fusion/links.h"
#include "ir/attr_fields.h"

namespace atb {
namespace {

using rules::all_rules;
using rules::Rule;

Links links_of(const Graph& graph, bool training = false) { return find_links(Facts(graph), Switches{}, training); }

int fired(const Links& links, const std::string& rule) {
  return static_cast<int>(std::count_if(links.links.begin(), links.links.end(),
                                        [&](const Link& link) { return link.rule->name() == rule; }));
}

std::string refusal(const Links& links, const std::string& rule) {
  for (const Refused& r : links.refused)
    if (r.rule->name() == rule) return std::string(r.clause) + ": " + r.detail;
  return "";
}

class EveryRule : public testing::TestWithParam<const Rule*> {};

TEST_P(EveryRule, SaysWhatItIs) {
  const Rule& rule = *GetParam();
  EXPECT_GT(rule.row(), 0);
  for (const std::string& text : {rule.equation(), rule.shapes(), rule.saves()}) EXPECT_NE(text, "");
  EXPECT_FALSE(rule.clauses().empty());
}

TEST_P(EveryRule, FiresOnceOnItsExampleInEachDtype) {
  for (const DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    const Graph graph = GetParam()->example(dtype);
    graph.verify();
    EXPECT_EQ(fired(links_of(graph), GetParam()->name()), 1) << graph.to_text();
  }
}

TEST_P(EveryRule, NamesEveryAttribute) {
  for (const rules::NodePattern* node : {&GetParam()->pattern().producer, &GetParam()->pattern().consumer}) {
    for (const rules::OpPattern& one : node->alternatives) {
      std::multiset<std::string> named, expected;
      for (const rules::AttrPattern& attr : one.attrs) named.insert(attr.name);
      Attrs attrs = default_attrs(one.op);
      for (const AttrField& field : attr_fields(attrs)) expected.insert(field.name);
      EXPECT_EQ(named, expected) << op_info(one.op).name;
    }
  }
}

/// The caches live outside, and siblings only share what they read.
bool has_interior_value(const Rule& rule, const Link& link, const Graph& graph) {
  return !rule.pattern().siblings && graph.node(link.producer).op != Op::kKvAppend;
}

TEST_P(EveryRule, DoesNotFireOrYieldsWhenTheJoinedValueIsAlsoAnOutput) {
  Graph graph = GetParam()->example();
  const Links before = links_of(graph);
  const auto link =
      std::find_if(before.links.begin(), before.links.end(), [&](const Link& l) { return l.rule == GetParam(); });
  ASSERT_NE(link, before.links.end());
  if (!has_interior_value(*GetParam(), *link, graph)) return;
  graph.output("second", link->value);
  const Links after = links_of(graph);
  if (!GetParam()->yields().empty()) {
    EXPECT_EQ(fired(after, GetParam()->name()), 1);
  } else {
    EXPECT_EQ(fired(after, GetParam()->name()), 0);
    EXPECT_THAT(refusal(after, GetParam()->name()), testing::HasSubstr("output of the graph"));
  }
}

TEST_P(EveryRule, DoesNotFireInTrainingUnlessItOnlyAddsAndNorms) {
  const bool keeps_gradients = GetParam()->name() == "add_norm";
  EXPECT_EQ(fired(links_of(GetParam()->example(), true), GetParam()->name()), keeps_gradients ? 1 : 0);
}

std::vector<const Rule*> rule_pointers() {
  std::vector<const Rule*> pointers;
  for (const Rule& rule : all_rules()) pointers.push_back(&rule);
  return pointers;
}

INSTANTIATE_TEST_SUITE_P(Rules, EveryRule, testing::ValuesIn(rule_pointers()),
                         [](const auto& info) { return info.param->name(); });

TEST(RuleTable, NamesAreUniqueAndCoverTheRows) {
  std::set<std::string> names;
  std::set<int> rows;
  for (const Rule& rule : all_rules()) {
    EXPECT_TRUE(names.insert(rule.name()).second) << rule.name();
    rows.insert(rule.row());
    EXPECT_EQ(rules::find_rule(rule.name()), &rule);
  }
  EXPECT_THAT(rows, testing::ElementsAre(3, 4, 5, 6, 7, 9, 10, 11, 12, 14, 16, 18, 19, 22, 23, 24, 25, 26, 27));
  EXPECT_EQ(rules::find_rule("no_such_rule"), nullptr);
}

TEST(RuleTable, PatternsReadAsText) {
  EXPECT_EQ(to_string(rules::find_rule("add_norm")->pattern()),
            "add(x, r) >> layer_norm(_, gamma, beta) | rms_norm(_, gamma)");
  EXPECT_EQ(to_string(rules::find_rule("gate_up")->pattern()), "siblings: matmul(_, w)");
}

}  // namespace
}  // namespace atb
