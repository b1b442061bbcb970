#include <atb/error.h>

#include <algorithm>

#include "base/options.h"
#include "base/text.h"
#include "fusion/fuse.h"
#include "fusion/rule.h"

namespace atb {
namespace {

/// Off in one place wins over on in the other; said nowhere means on.
bool resolve(const std::optional<bool>& argument, const std::optional<bool>& environment) {
  return argument.value_or(true) && environment.value_or(true);
}

void check_names(const std::vector<std::string>& disabled, const std::string& where) {
  const std::vector<std::string> known = rules::rule_names();
  for (const std::string& name : disabled) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw Error(ErrorCode::kUsage, "unknown fusion rule '" + name + "', expected one of " + join(known, ", "), where,
                "did you mean " + nearest_name(name, known) + "?");
  }
}

struct KindSwitch {
  uint8_t kind;
  bool Switches::*on;
};
constexpr KindSwitch kKinds[] = {{kKindMlp, &Switches::mlp},
                                 {kKindAttention, &Switches::attention},
                                 {kKindLayerNorm, &Switches::layernorm},
                                 {kKindBias, &Switches::bias}};

}  // namespace

bool Switches::allows(uint8_t kinds) const noexcept {
  const auto permits = [&](const KindSwitch& row) { return (kinds & row.kind) == 0 || this->*row.on; };
  return fusion && std::all_of(std::begin(kKinds), std::end(kKinds), permits);
}

Switches resolve_switches(const FusionOptions& options) {
  const EnvOptions env = read_env();
  check_names(env.fusion_disable, "ATB_FUSION_DISABLE");
  check_names(options.disable, "FusionOptions::disable");
  Switches switches{.fusion = resolve(options.fusion, env.op_fusion),
                    .mlp = resolve(options.mlp, env.fuse_mlp),
                    .attention = resolve(options.attention, env.fuse_attention),
                    .layernorm = resolve(options.layernorm, env.fuse_layernorm),
                    .bias = resolve(options.bias, env.fuse_bias),
                    .disabled = options.disable};
  switches.disabled.insert(switches.disabled.end(), env.fusion_disable.begin(), env.fusion_disable.end());
  return switches;
}

}  // namespace atb
