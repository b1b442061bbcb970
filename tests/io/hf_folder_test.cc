// Hugging Face folders, right and wrong (row 43 of the field cases).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_bytes.h"
#include "io/model_file.h"

namespace atb {
namespace {

using testing::expect_error;
using testing::safetensors_bytes;
using testing::TempDir;

/// A shard with one byte per tensor: its name.
std::string shard(const std::vector<std::string>& names) {
  std::string header, data;
  for (const std::string& name : names) {
    header += fmt::format(R"({}"{}":{{"dtype":"U8","shape":[1],"data_offsets":[{},{}]}})", header.empty() ? "" : ",",
                          name, data.size(), data.size() + 1);
    data += name[0];
  }
  return safetensors_bytes("{" + header + "}", data);
}

class HfFolder : public ::testing::Test {
 protected:
  HfFolder() {
    dir_.write("config.json", R"({"model_type":"llama"})");
    dir_.write("one.safetensors", shard({"a", "b"}));
    dir_.write("two.safetensors", shard({"c"}));
  }
  void index(const std::string& weight_map) {
    dir_.write("model.safetensors.index.json", fmt::format(R"({{"metadata":{{}},"weight_map":{}}})", weight_map));
  }
  void expect(const std::vector<std::string>& words) {
    expect_error(ErrorCode::kFile, words, [&] { open_model(path()); });
  }
  std::string path() const { return dir_.path().string(); }
  TempDir dir_;
};

constexpr const char* kSoundMap = R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors"})";

TEST_F(HfFolder, ShardsOfTheIndexAreReadAndOtherFilesIgnored) {
  index(kSoundMap);
  dir_.write("stray.safetensors", shard({"a", "stray"}));
  const auto model = open_model(path());
  EXPECT_EQ(model->format(), ModelFormat::kHuggingFace);
  EXPECT_EQ(model->path(), path());
  EXPECT_EQ(model->metadata().require_string("model_type"), "llama");
  ASSERT_EQ(model->tensors().size(), 3u);
  for (const std::string name : {"a", "b", "c"}) {
    EXPECT_EQ(static_cast<char>(*model->require(name).data), name[0]);
  }
}

TEST_F(HfFolder, ASingleFileNeedsNoIndex) {
  dir_.write("model.safetensors", shard({"z", "a"}));
  const auto model = open_model(path());
  ASSERT_EQ(model->tensors().size(), 2u);
  EXPECT_EQ(model->tensors()[0].name, "a");
}

TEST_F(HfFolder, IndexAgainstTheShards) {
  index(R"({"a":"one.safetensors","c":"three.safetensors"})");
  expect({"shard 'three.safetensors' is missing", "index.json"});
  index(R"({"a":"one.safetensors","b":"two.safetensors","c":"two.safetensors"})");
  expect({"tensor 'b' is in 'one.safetensors', the index says 'two.safetensors'"});
  index(R"({"a":"one.safetensors","b":"one.safetensors","c":"two.safetensors","d":"two.safetensors"})");
  expect({"tensor 'd' is not in 'two.safetensors'"});
  dir_.write("two.safetensors", shard({"c", "x"}));
  dir_.write("one.safetensors", shard({"a", "b", "x"}));
  index(kSoundMap);
  expect({"tensor 'x' occurs twice"});
}

TEST_F(HfFolder, PathsOutOfTheFolderAreRefused) {
  for (const std::string shard : {"../one.safetensors", "/etc/passwd", "", "..", "sub/one.safetensors", "a\\\\b"}) {
    index(fmt::format(R"({{"a":"{}"}})", shard));
    expect({"is not a plain file name"});
  }
}

TEST_F(HfFolder, WrongIndexes) {
  index("[]");
  expect({"'weight_map'"});
  index("{}");
  expect({"'weight_map'"});
  index(R"({"a":1})");
  expect({"tensor 'a' names an integer, expected a file"});
  index(R"({"a":"one.safetensors","a":"two.safetensors"})");
  expect({"duplicate JSON key 'a'"});
  dir_.write("model.safetensors.index.json", "{");
  expect({"not valid JSON", "index.json"});
}

TEST_F(HfFolder, WhatIsMissingIsSaid) {
  expect({"neither model.safetensors nor model.safetensors.index.json", path()});
  dir_.write("config.json", "[]");
  expect({"expected a JSON object, found an array", "config.json"});
  const TempDir empty;
  expect_error(ErrorCode::kFile, {"has no config.json", empty.path().string()},
               [&] { open_model(empty.path().string()); });
}

}  // namespace
}  // namespace atb
