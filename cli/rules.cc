// atb rules: the fusion rules.
#include <atb/explain.h>

#include <memory>

#include "command.h"
#include "output.h"

namespace atb::cli {
namespace {

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", ") + part;
  return text;
}

std::string rule_text(const RuleInfo& rule, bool example) {
  std::string text = rule.name + "\n  " + rule.equation + "    with " + rule.shapes + "\n";
  text +=
      "  pattern   " + rule.pattern + (rule.yields.empty() ? "" : "; " + rule.yields + " may be read outside") + "\n";
  text += "  numerics  " + rule.numerics + (rule.kinds.empty() ? "" : "; switches " + joined(rule.kinds)) + "\n";
  text += "  saves     " + rule.saves + "\n";
  text += "  requires  " + joined(rule.clauses) + "\n";
  return example ? text + rule.example : text;
}

nlohmann::ordered_json rule_json(const RuleInfo& rule) {
  return {{"name", rule.name},     {"row", rule.row},         {"equation", rule.equation}, {"pattern", rule.pattern},
          {"shapes", rule.shapes}, {"yields", rule.yields},   {"numerics", rule.numerics}, {"kinds", rule.kinds},
          {"saves", rule.saves},   {"clauses", rule.clauses}, {"example", rule.example}};
}

int rules(bool json, bool examples) {
  const std::vector<RuleInfo> all = fusion_rules();
  if (json) {
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RuleInfo& rule : all) list.push_back(rule_json(rule));
    write_json({{"rules", std::move(list)}});
    return 0;
  }
  std::string text;
  for (const RuleInfo& rule : all) text += (text.empty() ? "" : "\n") + rule_text(rule, examples);
  write_out(text);
  return 0;
}

}  // namespace

Action add_rules(CLI::App& app) {
  const auto json = std::make_shared<bool>(), examples = std::make_shared<bool>();
  app.add_flag("--json", *json, "write one JSON object");
  app.add_flag("--examples", *examples, "with the smallest graph that each rule fires on");
  return [json, examples] { return rules(*json, *examples); };
}

}  // namespace atb::cli
