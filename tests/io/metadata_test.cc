// The typed readers, and config.json as Metadata.
#include "io/metadata.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_bytes.h"
#include "io/json_metadata.h"

namespace atb {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;
using ::testing::IsEmpty;
using ::testing::Optional;

Metadata flat(std::string_view json) { return flatten_json(parse_json_object(json, "config.json"), "config.json"); }

TEST(Metadata, ConfigIsFlattenedWithDots) {
  const Metadata m = flat(R"({"hidden_size": 576, "rms_norm_eps": 1e-05, "tie": true, "name": "x", "absent": null,
      "rope_scaling": {"factor": 8, "inner": {"type": "llama3"}}, "archs": ["A", "B"], "ids": [1, 2], "mixed": [1, 2.5],
      "flags": [true], "empty": [], "objects": [{"a": 1}, null, [2, 3]]})");
  EXPECT_EQ(m.require_int("hidden_size"), 576);
  EXPECT_EQ(m.require_double("rms_norm_eps"), 1e-5);
  EXPECT_THAT(m.get_bool("tie"), Optional(true));
  EXPECT_FALSE(m.contains("absent"));
  EXPECT_EQ(m.require_double("rope_scaling.factor"), 8.0);
  EXPECT_EQ(m.require_string("rope_scaling.inner.type"), "llama3");
  EXPECT_THAT(*m.get_strings("archs"), ElementsAre("A", "B"));
  EXPECT_THAT(*m.get_ints("ids"), ElementsAre(1, 2));
  EXPECT_THAT(*m.get_doubles("ids"), ElementsAre(1, 2));
  EXPECT_THAT(*m.get_doubles("mixed"), ElementsAre(1, 2.5));
  EXPECT_EQ(m.require_int("objects.0.a"), 1);
  EXPECT_THAT(*m.get_ints("objects.2"), ElementsAre(2, 3));
  EXPECT_THAT(*m.get_strings("empty"), IsEmpty());
  EXPECT_THAT(*m.get_ints("empty"), IsEmpty());
  EXPECT_THAT(*m.get_doubles("empty"), IsEmpty());
}

TEST(Metadata, ReadersNameFileKeyAndKinds) {
  const Metadata m = flat(R"({"int": 1, "float": 2.0, "text": "t", "strings": ["s"]})");
  const auto wrong = [](const std::vector<std::string>& words, const std::function<void()>& read) {
    expect_error(ErrorCode::kModel, words, read);
  };
  wrong({"config.json", "'float' is a number, expected an integer"}, [&] { m.get_int("float"); });
  wrong({"'int' is an integer, expected a string"}, [&] { m.get_string("int"); });
  wrong({"'text' is a string, expected a number"}, [&] { m.get_double("text"); });
  wrong({"'int' is an integer, expected a boolean"}, [&] { m.get_bool("int"); });
  wrong({"'text' is a string, expected an array of strings"}, [&] { m.get_strings("text"); });
  wrong({"'strings' is an array of strings, expected an array of integers"}, [&] { m.get_ints("strings"); });
  wrong({"config.json", "'none' is missing"}, [&] { m.require_int("none"); });
  wrong({"'none' is missing"}, [&] { m.require_string("none"); });
  EXPECT_EQ(m.get_int("none"), std::nullopt);
  EXPECT_EQ(m.get_strings("none"), nullptr);
}

TEST(Metadata, HostileConfigsAreErrors) {
  expect_error(ErrorCode::kFile, {"config.json", "'a.b' occurs twice"}, [] { flat(R"({"a.b": 1, "a": {"b": 2}})"); });
  const std::string key(257, 'k');
  expect_error(ErrorCode::kFile, {"longer than 256 bytes"}, [&] { flat("{\"" + key + "\": 1}"); });
  expect_error(ErrorCode::kFile, {"longer than 256 bytes"},
               [&] { flat("{\"" + key.substr(1) + "\": {\"k\": {\"" + key.substr(1) + "\": 1}}}"); });
  expect_error(ErrorCode::kFile, {"not valid JSON"}, [] { flat(R"({"a": 1e999})"); });
}

}  // namespace
}  // namespace atb
