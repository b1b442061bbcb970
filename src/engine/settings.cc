#include "engine/settings.h"

#include <fmt/format.h>

#include "base/text.h"

namespace atb {
namespace {

constexpr int kMaxThreads = 4096;
constexpr int64_t kMaxPrefillBlock = 65536, kMaxContext = int64_t{1} << 30;
constexpr int64_t kDefaultPrefillBlock = 256;

[[noreturn]] void fail(const char* option, const std::string& found, const std::string& expected) {
  throw Error(ErrorCode::kUsage, fmt::format("value '{}' found, {} expected", found, expected), option,
              "choose one of these or leave the option out");
}

int64_t check_range(const char* option, int64_t value, int64_t most) {
  if (value < 1 || value > most) fail(option, std::to_string(value), fmt::format("a number from 1 to {}", most));
  return value;
}

Precision choose_precision(const LoadOptions& options, const EnvOptions& environment) {
  if (!options.precision) return environment.precision.value_or(Precision::kDefault);
  if (const auto precision = parse_precision(*options.precision)) return *precision;
  fail("precision", *options.precision, "default, fp32 or bf16");
}

std::optional<DType> choose_kv_type(const LoadOptions& options) {
  if (!options.kv_type) return std::nullopt;
  for (DType dtype : {DType::kF32, DType::kF16, DType::kBF16}) {
    if (*options.kv_type == dtype_name(dtype)) return dtype;
  }
  fail("kv_type", *options.kv_type, "f32, f16 or bf16");
}

IsaSet choose_isas(const LoadOptions& options, const EnvOptions& environment) {
  if (!options.max_isa) return IsaSet(cpu_features(), environment.max_isa);
  if (const auto isa = parse_isa(*options.max_isa)) return IsaSet(cpu_features(), isa);
  std::vector<std::string> names;
  for (int i = 0; i < kIsaCount; ++i) names.emplace_back(isa_name(static_cast<Isa>(i)));
  fail("max_isa", *options.max_isa, "one of " + join(names, ", "));
}

}  // namespace

Settings resolve_settings(const LoadOptions& options, const EnvOptions& environment) {
  if (options.threads) check_range("threads", *options.threads, kMaxThreads);
  if (options.context) check_range("context", *options.context, kMaxContext);
  return {
      .threads = choose_threads(options.threads, environment.num_threads),
      .precision = choose_precision(options, environment),
      .kv_type = choose_kv_type(options),
      .isas = choose_isas(options, environment),
      .context = options.context,
      .prefill_block =
          check_range("prefill_block", options.prefill_block.value_or(kDefaultPrefillBlock), kMaxPrefillBlock),
  };
}

Settings resolve_settings(const LoadOptions& options) {
  const EnvOptions environment = read_env();
  if (environment.log_level || environment.log_format) {
    configure_log(environment.log_level.value_or(LogLevel::kWarn), environment.log_format.value_or(LogFormat::kText));
  }
  return resolve_settings(options, environment);
}

}  // namespace atb
