// The rule table as plain values.
#include <atb/explain.h>

#include "fusion/rule.h"

namespace atb {
namespace {

struct KindName {
  uint8_t bit;
  const char* name;
};
constexpr KindName kKindNames[] = {{kKindMlp, "mlp"},
                                   {kKindAttention, "attention"},
                                   {kKindLayerNorm, "layernorm"},
                                   {kKindBias, "bias"},
                                   {rules::kBlock, "block"}};

RuleInfo info_of(const rules::Rule& rule) {
  RuleInfo info{.name = rule.name(),
                .equation = rule.equation(),
                .pattern = rules::to_string(rule.pattern()),
                .shapes = rule.shapes(),
                .saves = rule.saves(),
                .yields = rule.yields(),
                .numerics = rules::numerics_name(rule.numerics()),
                .row = rule.row(),
                .kinds = {},
                .clauses = {},
                .example = rule.example().to_text()};
  for (const KindName& kind : kKindNames)
    if ((rule.kinds() & kind.bit) != 0) info.kinds.emplace_back(kind.name);
  for (const rules::Clause& clause : rule.clauses()) info.clauses.emplace_back(clause.name);
  return info;
}

}  // namespace

std::vector<RuleInfo> fusion_rules() {
  std::vector<RuleInfo> infos;
  for (const rules::Rule& rule : rules::all_rules()) infos.push_back(info_of(rule));
  return infos;
}

}  // namespace atb
