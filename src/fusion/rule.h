// A fusion rule: a value that reads as its equation. One rule is one legal link between two operators; links join into
// regions by the grammar (grammar.h). Adding one is a file in rules/ and a line in rules.inc.
#pragma once

#include <atb/fusion.h>

#include <optional>
#include <string>
#include <vector>

#include "fusion/pattern.h"

namespace atb::rules {

/// A place where a pattern matched: what the clauses look at.
struct Site {
  const Facts& facts;
  bool training;
  NodeId producer, consumer;   ///< for siblings: the first and another reader of `value`
  ValueId value;               ///< the producer's result; for siblings: what both read
  ValueId operand;             ///< what the consumer reads: `value`, or a view of it
  std::vector<NodeId> views;   ///< between them, in execution order
  std::optional<NodeId> cast;  ///< an explicit cast between them
  std::vector<Binding> bindings;

  const Node& producer_node() const { return facts.node(producer); }
  const Node& consumer_node() const { return facts.node(consumer); }
  /// The value bound to a name of the pattern; kNoValue for an optional operand that is not there.
  ValueId bound(std::string_view name) const;
};

/// Why a clause does not hold, and the node that breaks it.
struct Refusal {
  NodeId node;
  std::string detail;
};
struct Clause {
  const char* name;
  std::optional<Refusal> (*check)(const Site& site);
};

/// Views that a link may look through.
enum ViewKind : uint8_t {
  kNoViews = 0,
  kSplits = 1,  ///< slices of the last axis
  kHeads = 2,   ///< reshapes between [.., H*D] and [.., H, D]
  kViewed = 4   ///< at least one view, not none
};

/// For kinds(): the block of the site, attention or MLP.
inline constexpr uint8_t kBlock = 0x80;

class Rule {
 public:
  explicit Rule(const char* name) : name_(name) {}

  Rule&& row(int number) &&;                   ///< of the table of patterns in the documentation
  Rule&& equation(const char* text) &&;        ///< "y = norm(x + r)"
  Rule&& pattern(LinkPattern link) &&;         ///< what is joined
  Rule&& through(int views) &&;                ///< ViewKind bits
  Rule&& shapes(const char* text) &&;          ///< "x [.., D], r [.., D], gamma [D]"
  Rule&& also_yields(const char* operand) &&;  ///< the joined value may also be read outside of the region
  Rule&& require(std::vector<Clause> clauses) &&;
  Rule&& numerics(Numerics numerics) &&;
  Rule&& kinds(int bits) &&;            ///< FusionKind bits and kBlock
  Rule&& saves(const char* text) &&;    ///< "traffic(sum), 1 launch"
  Rule&& example(const char* text) &&;  ///< the smallest graph that matches once, as text; T is a dtype

  const std::string& name() const noexcept { return name_; }
  int row() const noexcept { return row_; }
  const std::string& equation() const noexcept { return equation_; }
  const LinkPattern& pattern() const noexcept { return *pattern_; }
  int views() const noexcept { return views_; }
  const std::string& shapes() const noexcept { return shapes_; }
  const std::string& yields() const noexcept { return yields_; }  ///< empty: nothing leaves
  const std::vector<Clause>& clauses() const noexcept { return clauses_; }
  Numerics numerics() const noexcept { return numerics_; }
  uint8_t kinds() const noexcept { return kinds_; }
  const std::string& saves() const noexcept { return saves_; }
  Graph example(DType dtype = DType::kF32) const;

 private:
  std::string name_, equation_, shapes_, yields_, saves_, example_;
  int row_ = 0, views_ = kNoViews;
  std::optional<LinkPattern> pattern_;
  std::vector<Clause> clauses_;
  Numerics numerics_ = Numerics::kBitExact;
  uint8_t kinds_ = 0;
};

/// The rules of rules.inc, in its order.
const std::vector<Rule>& all_rules();
const Rule* find_rule(std::string_view name) noexcept;
std::vector<std::string> rule_names();
const char* numerics_name(Numerics numerics) noexcept;

}  // namespace atb::rules
