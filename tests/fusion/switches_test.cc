#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "fusion/fuse.h"
#include "fusion/rule.h"
#include "models.h"

namespace atb {
namespace {

using testing::HasSubstr;

/// Sets a variable of the environment for one test.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

using Argument = std::optional<bool>;
struct Precedence {
  Argument argument;
  const char* variable;  ///< null: not set
  bool on;
};

class SwitchPrecedence : public testing::TestWithParam<Precedence> {};

struct Kind {
  const char* variable;
  Argument FusionOptions::*argument;
  bool Switches::*result;
};
constexpr Kind kKinds[] = {
    {"ATB_OP_FUSION", &FusionOptions::fusion, &Switches::fusion},
    {"ATB_FUSE_MLP", &FusionOptions::mlp, &Switches::mlp},
    {"ATB_FUSE_ATTENTION", &FusionOptions::attention, &Switches::attention},
    {"ATB_FUSE_LAYERNORM", &FusionOptions::layernorm, &Switches::layernorm},
    {"ATB_FUSE_BIAS", &FusionOptions::bias, &Switches::bias},
};

TEST_P(SwitchPrecedence, HoldsForEveryKind) {
  for (const Kind& kind : kKinds) {
    std::optional<Environment> variable;
    if (GetParam().variable != nullptr) variable.emplace(kind.variable, GetParam().variable);
    FusionOptions options;
    options.*kind.argument = GetParam().argument;
    EXPECT_EQ(resolve_switches(options).*kind.result, GetParam().on) << kind.variable;
  }
}

INSTANTIATE_TEST_SUITE_P(Table, SwitchPrecedence,
                         testing::Values(Precedence{{}, nullptr, true}, Precedence{true, nullptr, true},
                                         Precedence{false, nullptr, false}, Precedence{{}, "1", true},
                                         Precedence{{}, "0", false}, Precedence{true, "0", false},
                                         Precedence{false, "1", false}, Precedence{true, "1", true}));

std::string error_of(const FusionOptions& options) {
  try {
    resolve_switches(options);
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
    return e.what();
  }
  return "";
}

TEST(Switches, UnknownRulesAreErrorsWithTheListAndTheNearest) {
  FusionOptions options;
  options.disable = {"add_nrom"};
  const std::string message = error_of(options);
  EXPECT_THAT(message, HasSubstr("unknown fusion rule 'add_nrom'"));
  EXPECT_THAT(message, HasSubstr("did you mean add_norm?"));
  for (const std::string& name : rules::rule_names()) EXPECT_THAT(message, HasSubstr(name));
  const Environment variable("ATB_FUSION_DISABLE", "qkv, gate_upp");
  EXPECT_THAT(error_of({}), HasSubstr("ATB_FUSION_DISABLE"));
  EXPECT_THAT(error_of({}), HasSubstr("did you mean gate_up?"));
}

TEST(Switches, ValuesThatDoNotParseNameTheVariable) {
  const Environment variable("ATB_FUSE_MLP", "yes");
  EXPECT_THAT(error_of({}), HasSubstr("ATB_FUSE_MLP"));
}

TEST(Switches, DisabledNamesAddUp) {
  const Environment variable("ATB_FUSION_DISABLE", "qkv");
  EXPECT_THAT(resolve_switches({.disable = {"add_norm"}}).disabled, testing::UnorderedElementsAre("qkv", "add_norm"));
}

std::vector<std::string> region_names(const FusionOptions& options) {
  const Graph graph = test::llama();
  std::vector<std::string> names;
  for (const Region& region : fuse(graph, {options, builtin_profile("zen4"), {.tokens = 1, .past = 64}}).regions)
    names.push_back(region.name);
  return names;
}

TEST(Switches, AllOffMeansAllOff) {
  EXPECT_TRUE(region_names({.fusion = false}).empty());
  EXPECT_TRUE(region_names({.mlp = false, .attention = false, .layernorm = false, .bias = false}).empty());
  const Environment variable("ATB_OP_FUSION", "0");
  EXPECT_TRUE(region_names({.fusion = true, .mlp = true}).empty());
}

using testing::Contains;
using testing::Not;

TEST(Switches, AKindThatIsOffSplitsTheRegionThere) {
  EXPECT_THAT(region_names({}), testing::ElementsAre("FusedAttention", "FusedFFN", "RmsNorm+MatMul"));
  EXPECT_THAT(region_names({.mlp = false}), testing::AllOf(Contains("FusedAttention"), Not(Contains("FusedFFN"))));
  EXPECT_THAT(region_names({.attention = false}),
              testing::AllOf(Contains("FusedFFN"), Not(Contains("FusedAttention"))));
}

TEST(Switches, WithoutNormFusionNoRegionHasANorm) {
  const Graph graph = test::llama();
  const FusionContext context{{.layernorm = false}, builtin_profile("zen4"), {.tokens = 1, .past = 64}};
  const FusionResult result = fuse(graph, context);
  EXPECT_FALSE(result.regions.empty());
  for (const Region& region : result.regions)
    for (const NodeId id : region.nodes) EXPECT_NE(graph.node(id).op, Op::kRmsNorm) << region.name;
}

TEST(Switches, EachRuleCanBeTurnedOff) {
  for (const rules::Rule& rule : rules::all_rules()) {
    const Graph graph = rule.example();
    const FusionContext context{{.disable = {rule.name()}}, builtin_profile("zen4"), {.tokens = 3, .past = 5}};
    for (const Region& region : fuse(graph, context).regions)
      EXPECT_THAT(region.rules, Not(Contains(rule.name()))) << rule.name();
  }
}

TEST(ArgumentNotes, AreSaidForTheArticlesCombinations) {
  EXPECT_TRUE(argument_notes({.use_flash_attention = true, .sparse_head_skipping = false}).empty());
  EXPECT_TRUE(argument_notes({.fuse_qkv = true, .fuse_softmax = true}).empty());
  const auto merged = argument_notes({.fuse_layernorm = true, .fuse_residual = true});
  ASSERT_EQ(merged.size(), 1u);
  EXPECT_FALSE(merged[0].warning);
  const auto half = argument_notes({.fuse_qkv = true});
  ASSERT_EQ(half.size(), 1u);
  EXPECT_TRUE(half[0].warning);
  EXPECT_THAT(half[0].text, HasSubstr("half the gain"));
}

}  // namespace
}  // namespace atb
