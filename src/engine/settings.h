// Load options after argument, environment and default have been weighed.
#pragma once

#include <atb/engine.h>

#include "base/options.h"
#include "base/thread_limits.h"

namespace atb {

struct Settings {
  ThreadLimits threads;
  Precision precision;
  std::optional<DType> kv_type;  ///< empty: by the model
  IsaSet isas;
  std::optional<int64_t> context;  ///< empty: by the model
  int64_t prefill_block;
};

/// Error{kUsage} naming the option or variable, the value found and what is allowed.
Settings resolve_settings(const LoadOptions& options, const EnvOptions& environment);

/// Reads the environment, applies its log level and format, and resolves.
Settings resolve_settings(const LoadOptions& options);

}  // namespace atb
