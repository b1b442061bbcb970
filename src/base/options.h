// Settings of the library: argument > environment > default. Every ATB_* variable is parsed here and nowhere else.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/cpu.h"
#include "base/log.h"

namespace atb {

enum class Precision { kDefault, kFp32, kBf16 };

/// What the environment says; a field that is not set there is empty. SPEC's table of switches, in its order.
struct EnvOptions {
  std::optional<bool> op_fusion, fuse_mlp, fuse_attention, fuse_layernorm, fuse_bias;
  std::vector<std::string> fusion_disable;
  std::optional<LogLevel> log_level;
  std::optional<LogFormat> log_format;
  std::optional<int> num_threads;
  std::optional<Precision> precision;
  std::optional<std::string> device_profile, profiling, model;
  std::optional<Isa> max_isa;
};

/// Looks up one variable; empty means not set.
using EnvLookup = std::function<std::optional<std::string>(const char* name)>;

/// Parses the whole table. A value that does not parse is an Error{kUsage} that names the variable, the value found and
/// what is expected. An empty value counts as not set. An unknown variable that starts with ATB_ is not an error.
EnvOptions parse_env(const EnvLookup& lookup);

/// parse_env over the process environment.
EnvOptions read_env();

/// "fp32", "bf16", "default".
std::optional<Precision> parse_precision(std::string_view name) noexcept;
const char* precision_name(Precision precision) noexcept;

/// One row per variable, for `--help` and the documentation: name, meaning, default.
struct EnvVariable {
  const char *name, *meaning, *default_value;
};
const std::vector<EnvVariable>& env_variables();

}  // namespace atb
