// One logger for the whole library, on stderr: "[INFO] message", or one JSON object per line.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace atb {

enum class LogLevel { kDebug, kInfo, kWarn, kError, kOff };
enum class LogFormat { kText, kJson };

std::optional<LogLevel> parse_log_level(std::string_view name) noexcept;
std::optional<LogFormat> parse_log_format(std::string_view name) noexcept;

/// Sets what is written from now on (default: WARN, text). Thread-safe.
void configure_log(LogLevel level, LogFormat format);
bool log_enabled(LogLevel level) noexcept;

void log(LogLevel level, std::string_view message);
inline void log_debug(std::string_view m) { log(LogLevel::kDebug, m); }
inline void log_info(std::string_view m) { log(LogLevel::kInfo, m); }
inline void log_warn(std::string_view m) { log(LogLevel::kWarn, m); }
inline void log_error(std::string_view m) { log(LogLevel::kError, m); }

}  // namespace atb
