#include "base/log.h"

// The level names of the log lines. Only this file includes spdlog, so its inline definitions agree.
#define SPDLOG_LEVEL_NAMES \
  { "TRACE", "DEBUG", "INFO", "WARN", "ERROR", "CRITICAL", "OFF" }
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <chrono>
#include <ctime>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/text.h"

namespace atb {
namespace {

constexpr std::pair<const char*, LogLevel> kLevels[] = {{"DEBUG", LogLevel::kDebug},
                                                        {"INFO", LogLevel::kInfo},
                                                        {"WARN", LogLevel::kWarn},
                                                        {"ERROR", LogLevel::kError},
                                                        {"OFF", LogLevel::kOff}};

constexpr spdlog::level::level_enum kSpdlogLevels[] = {spdlog::level::debug, spdlog::level::info, spdlog::level::warn,
                                                       spdlog::level::err, spdlog::level::off};

spdlog::level::level_enum spdlog_level(LogLevel level) noexcept { return kSpdlogLevels[static_cast<int>(level)]; }

std::string to_std(spdlog::string_view_t text) { return {text.data(), text.size()}; }

std::string utc_time(spdlog::log_clock::time_point time) {
  using namespace std::chrono;
  const auto millis = duration_cast<milliseconds>(time.time_since_epoch()).count() % 1000;
  const std::tm parts = spdlog::details::os::gmtime(spdlog::log_clock::to_time_t(time));
  char date[sizeof("2026-01-01T00:00:00")];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", date, millis);
}

/// {"level":"INFO","message":"...","time":"2026-01-01T00:00:00.000Z"}, whatever bytes the message has.
class JsonFormatter : public spdlog::formatter {
 public:
  void format(const spdlog::details::log_msg& msg, spdlog::memory_buf_t& out) override {
    const nlohmann::ordered_json object = {{"level", to_std(spdlog::level::to_string_view(msg.level))},
                                           {"message", to_std(msg.payload)},
                                           {"time", utc_time(msg.time)}};
    fmt::format_to(std::back_inserter(out), "{}\n",
                   object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  std::unique_ptr<spdlog::formatter> clone() const override { return std::make_unique<JsonFormatter>(); }
};

std::unique_ptr<spdlog::formatter> make_formatter(LogFormat format) {
  if (format == LogFormat::kJson) return std::make_unique<JsonFormatter>();
  return std::make_unique<spdlog::pattern_formatter>("[%l] %v");
}

// Never destroyed: threads may still log while the process ends.
spdlog::logger& logger() {
  static spdlog::logger& instance = *[] {
    auto made = std::make_unique<spdlog::logger>("atb", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_level(spdlog::level::warn);
    made->set_formatter(make_formatter(LogFormat::kText));
    return made.release();
  }();
  return instance;
}

}  // namespace

std::optional<LogLevel> parse_log_level(std::string_view name) noexcept {
  for (const auto& [text, level] : kLevels)
    if (equal_ignoring_case(name, text)) return level;
  return std::nullopt;
}

std::optional<LogFormat> parse_log_format(std::string_view name) noexcept {
  if (name == "text") return LogFormat::kText;
  if (name == "json") return LogFormat::kJson;
  return std::nullopt;
}

void configure_log(LogLevel level, LogFormat format) {
  logger().set_formatter(make_formatter(format));
  logger().set_level(spdlog_level(level));
}

bool log_enabled(LogLevel level) noexcept {
  return level != LogLevel::kOff && logger().should_log(spdlog_level(level));
}

void log(LogLevel level, std::string_view message) {
  if (log_enabled(level)) logger().log(spdlog_level(level), spdlog::string_view_t(message.data(), message.size()));
}

}  // namespace atb
