#include "base/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <thread>
#include <vector>

#include "base/text.h"

namespace atb {
namespace {

class Log : public ::testing::Test {
 protected:
  ~Log() override { configure_log(LogLevel::kWarn, LogFormat::kText); }

  static std::string written_by(const std::function<void()>& body) {
    ::testing::internal::CaptureStderr();
    body();
    return ::testing::internal::GetCapturedStderr();
  }
  static void log_all_levels() {
    log_debug("d");
    log_info("i");
    log_warn("w");
    log_error("e");
  }
};

TEST_F(Log, TextLinesAreLevelAndMessage) {
  configure_log(LogLevel::kDebug, LogFormat::kText);
  EXPECT_EQ(written_by(log_all_levels), "[DEBUG] d\n[INFO] i\n[WARN] w\n[ERROR] e\n");
}

TEST_F(Log, LevelIsTheLeastThatIsWritten) {
  const std::pair<LogLevel, const char*> expected[] = {{LogLevel::kInfo, "[INFO] i\n[WARN] w\n[ERROR] e\n"},
                                                       {LogLevel::kWarn, "[WARN] w\n[ERROR] e\n"},
                                                       {LogLevel::kError, "[ERROR] e\n"},
                                                       {LogLevel::kOff, ""}};
  for (const auto& [level, text] : expected) {
    configure_log(level, LogFormat::kText);
    EXPECT_EQ(written_by(log_all_levels), text);
  }
}

TEST_F(Log, NothingIsWrittenAtLevelOff) {
  configure_log(LogLevel::kOff, LogFormat::kText);
  EXPECT_FALSE(log_enabled(LogLevel::kOff));
  EXPECT_EQ(written_by([] { log(LogLevel::kOff, "x"); }), "");
}

TEST_F(Log, MessagesAreNotFormatStrings) {
  configure_log(LogLevel::kInfo, LogFormat::kText);
  EXPECT_EQ(written_by([] { log_info("100 % of {0} and {}"); }), "[INFO] 100 % of {0} and {}\n");
}

TEST_F(Log, JsonIsOneObjectPerLine) {
  configure_log(LogLevel::kInfo, LogFormat::kJson);
  const std::string message = "a \"quoted\" path C:\\x,\ntwo lines";
  const std::string text = written_by([&] { log_warn(message); });
  ASSERT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  const auto object = nlohmann::json::parse(text);
  EXPECT_EQ(object.at("level"), "WARN");
  EXPECT_EQ(object.at("message"), message);
  EXPECT_THAT(object.at("time").get<std::string>(),
              ::testing::MatchesRegex("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}[.][0-9]{3}Z"));
  EXPECT_EQ(object.size(), 3u);
}

TEST_F(Log, JsonStaysValidForBytesThatAreNotUtf8) {
  configure_log(LogLevel::kInfo, LogFormat::kJson);
  EXPECT_TRUE(nlohmann::json::accept(written_by([] { log_warn("bad \xff\xfe bytes"); })));
}

TEST_F(Log, LinesOfThreadsDoNotMix) {
  configure_log(LogLevel::kInfo, LogFormat::kText);
  const std::string text = written_by([] {
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([] {
        for (int i = 0; i < 100; ++i) log_info(std::string(100, 'x'));
      });
    for (auto& thread : threads) thread.join();
  });
  const auto lines = split(text, '\n');
  EXPECT_EQ(lines.size(), 400u);
  for (const auto& line : lines) EXPECT_EQ(line, "[INFO] " + std::string(100, 'x'));
}

TEST_F(Log, NamesParse) {
  EXPECT_EQ(parse_log_level("ERROR"), LogLevel::kError);
  EXPECT_EQ(parse_log_level("info"), LogLevel::kInfo);
  EXPECT_EQ(parse_log_level("WARNING"), std::nullopt);
  EXPECT_EQ(parse_log_format("json"), LogFormat::kJson);
  EXPECT_EQ(parse_log_format("xml"), std::nullopt);
}

}  // namespace
}  // namespace atb
