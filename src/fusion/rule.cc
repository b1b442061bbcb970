#include "fusion/rule.h"

#include <algorithm>

#include "base/check.h"

namespace atb::rules {

#define ATB_RULE(name) Rule name();
#include "fusion/rules.inc"
#undef ATB_RULE

ValueId Site::bound(std::string_view name) const {
  const auto found =
      std::find_if(bindings.begin(), bindings.end(), [&](const Binding& b) { return b.operand.name == name; });
  return found == bindings.end() ? kNoValue : found->value;
}

Rule&& Rule::row(int number) && { return row_ = number, std::move(*this); }
Rule&& Rule::equation(const char* text) && { return equation_ = text, std::move(*this); }
Rule&& Rule::pattern(LinkPattern link) && { return pattern_ = std::move(link), std::move(*this); }
Rule&& Rule::through(int views) && { return views_ = views, std::move(*this); }
Rule&& Rule::shapes(const char* text) && { return shapes_ = text, std::move(*this); }
Rule&& Rule::also_yields(const char* operand) && { return yields_ = operand, std::move(*this); }
Rule&& Rule::require(std::vector<Clause> clauses) && { return clauses_ = std::move(clauses), std::move(*this); }
Rule&& Rule::numerics(Numerics numerics) && { return numerics_ = numerics, std::move(*this); }
Rule&& Rule::kinds(int bits) && { return kinds_ = static_cast<uint8_t>(bits), std::move(*this); }
Rule&& Rule::saves(const char* text) && { return saves_ = text, std::move(*this); }
Rule&& Rule::example(const char* text) && { return example_ = text, std::move(*this); }

// "T[" stands for the dtype only where a type stands: after ": ".
Graph Rule::example(DType dtype) const {
  std::string text = "graph \"" + name_ + "\" {\n" + example_ + "}\n";
  constexpr std::string_view kType = ": T[";
  for (size_t at = text.find(kType); at != std::string::npos; at = text.find(kType, at + 1))
    text.replace(at + 2, 1, dtype_name(dtype));
  return Graph::parse(text);
}

const std::vector<Rule>& all_rules() {
  static const std::vector<Rule> rules = [] {
    std::vector<Rule> all;
#define ATB_RULE(name) all.push_back(name());
#include "fusion/rules.inc"
#undef ATB_RULE
    return all;
  }();
  return rules;
}

const Rule* find_rule(std::string_view name) noexcept {
  for (const Rule& rule : all_rules())
    if (rule.name() == name) return &rule;
  return nullptr;
}

std::vector<std::string> rule_names() {
  std::vector<std::string> names;
  for (const Rule& rule : all_rules()) names.push_back(rule.name());
  return names;
}

const char* numerics_name(Numerics numerics) noexcept {
  constexpr const char* kNames[] = {"bit_exact", "reorders_fp32", "approximate"};
  return kNames[static_cast<size_t>(numerics)];
}

}  // namespace atb::rules
