// safetensors files, right and wrong (rows 38, 41 and 42 of the field cases).
#include "io/safetensors.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "io/file_bytes.h"

namespace atb {
namespace {

using ::testing::ElementsAre;
using testing::expect_error;
using testing::le;
using testing::safetensors_bytes;
using testing::TempDir;

class Safetensors : public ::testing::Test {
 protected:
  void expect_bytes(const std::string& bytes, const std::vector<std::string>& words,
                    ErrorCode code = ErrorCode::kFile) {
    const std::string path = dir_.write("bad.safetensors", bytes);
    std::vector<std::string> all = words;
    all.push_back(path);
    expect_error(code, all, [&] { read_safetensors(MappedFile(path)); });
  }
  /// 8 bytes of data.
  void expect(std::string_view header, const std::vector<std::string>& words, ErrorCode code = ErrorCode::kFile) {
    expect_bytes(safetensors_bytes(header, std::string(8, '\0')), words, code);
  }
  TempDir dir_;
};

constexpr std::string_view kSound = R"({"__metadata__":{"format":"pt"},
    "a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"b":{"dtype":"BF16","shape":[2,1],"data_offsets":[4,8]}})";

TEST_F(Safetensors, MisalignedDataHasTheSameValues) {
  for (size_t spaces = 0; spaces < 8; ++spaces) {
    const std::string header = std::string(kSound) + std::string(spaces, ' ');
    const MappedFile file(
        dir_.write("m.safetensors", safetensors_bytes(header, le(1.5f) + le<uint16_t>(0x3f80) + le<uint16_t>(0xc000))));
    const auto tensors = read_safetensors(file);
    ASSERT_EQ(tensors.size(), 2u);
    float a = 0, b[2] = {};
    dequantize(tensors[0].dtype, tensors[0].data, 0, 1, &a);
    dequantize(tensors[1].dtype, tensors[1].data, 0, 2, b);
    EXPECT_EQ(a, 1.5f);
    EXPECT_THAT(b, ElementsAre(1.0f, -2.0f));
    EXPECT_THAT(tensors[1].shape, ElementsAre(2, 1));
  }
}

TEST_F(Safetensors, EmptyTensorsAndScalarsAreRead) {
  const MappedFile file(dir_.write("e.safetensors", safetensors_bytes(R"({
      "empty":{"dtype":"F32","shape":[0,3],"data_offsets":[0,0]},
      "scalar":{"dtype":"I64","shape":[],"data_offsets":[0,8]},
      "end":{"dtype":"U8","shape":[0],"data_offsets":[8,8]}})",
                                                                      le(int64_t{7}))));
  const auto tensors = read_safetensors(file);
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].elements(), 0);
  EXPECT_EQ(tensors[1].elements(), 1);
}

TEST_F(Safetensors, EveryCutIsAnErrorAndInsideTheDataNamesTheTensor) {
  const std::string whole = safetensors_bytes(kSound, "12345678");
  for (size_t size = 0; size < whole.size(); ++size) {
    const size_t missing = whole.size() - size;
    expect_bytes(whole.substr(0, size), missing > 8   ? std::vector<std::string>{}
                                        : missing > 4 ? std::vector<std::string>{"'a'"}
                                                      : std::vector<std::string>{"'b'"});
  }
}

TEST_F(Safetensors, RandomDamageOpensOrIsAnError) {
  const std::string whole = safetensors_bytes(kSound, "12345678");
  std::mt19937 random(2);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 4; ++i) damaged[random() % whole.size()] = static_cast<char>(random());
    const MappedFile file(dir_.write("damaged.safetensors", damaged));
    try {
      read_safetensors(file);
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kFile || error.code() == ErrorCode::kModel) << error.what();
    }
  }
}

TEST_F(Safetensors, HeaderLength) {
  expect_bytes(le<uint64_t>(uint64_t{1} << 63) + "{}", {"9223372036854775808 bytes, expected at most 100000000"});
  expect_bytes(le<uint64_t>(100'000'001) + "{}", {"100000001 bytes"});
  expect_bytes(le<uint64_t>(3) + "{}", {"3 bytes, but only 2 follow"});
}

TEST_F(Safetensors, HeaderText) {
  expect("[1, 2]", {"expected a JSON object, found an array"});
  expect("null", {"found null"});
  expect("{\"a\":", {"not valid JSON at byte 6"});
  expect("", {"not valid JSON"});
  expect(R"({"a":{},"a":{}})", {"duplicate JSON key 'a'"});
  expect(R"({"a":{"dtype":"F32","dtype":"F16"}})", {"duplicate JSON key 'dtype'"});
  expect(std::string(70, '['), {"nested deeper than 64"});
  expect("{\"\xff\":1}", {"not valid JSON"});
}

TEST_F(Safetensors, Entries) {
  const auto entry = [](std::string_view dtype, std::string_view shape, std::string_view offsets) {
    return fmt::format(R"({{"t":{{"dtype":{},"shape":{},"data_offsets":{}}}}})", dtype, shape, offsets);
  };
  expect(R"({"t":3})", {"'t' has nothing as its 'dtype'"});
  expect(entry("1", "[2]", "[0,8]"), {"'t' has an integer as its 'dtype', expected a string"});
  expect(entry("\"F8_E4M3\"", "[8]", "[0,8]"), {"'t' has dtype 'F8_E4M3', which is not supported"}, ErrorCode::kModel);
  expect(entry("\"F32\"", "\"2\"", "[0,8]"), {"'t' has a string as its 'shape', expected an array"});
  expect(entry("\"F32\"", "[-2]", "[0,8]"), {"'t' has a 'shape' that is not all integers >= 0"});
  expect(entry("\"F32\"", "[2.0]", "[0,8]"), {"'t' has a 'shape'"});
  expect(entry("\"F32\"", "[2]", "[0,18446744073709551615]"), {"'t' has a 'data_offsets'"});
  expect(entry("\"F32\"", "[2]", "[0,8,8]"), {"'t' has 3 numbers as its 'data_offsets', expected at most 2"});
  expect(entry("\"F32\"", "[2]", "[8]"), {"'t' has 1 data_offsets, expected 2"});
  expect(entry("\"F32\"", "[1,1,1,1,1,1,1,1,2]", "[0,8]"), {"'t' has 9 numbers as its 'shape'"});
  expect(entry("\"F32\"", "[2]", "[8,0]"), {"'t' begins at byte 8, after its end 0"});
  expect(entry("\"F32\"", "[3]", "[0,12]"), {"'t' ends at data byte 12, but the file has 8"});
  expect(entry("\"F32\"", "[3]", "[0,8]"), {"'t' has 8 bytes, but its shape [3] and dtype f32 need 12"});
  expect(entry("\"F32\"", "[4611686018427387904,4]", "[0,8]"), {"'t'", "too large"});
  expect(entry("\"F64\"", "[2305843009213693952]", "[0,8]"), {"'t'", "too large"});
}

TEST_F(Safetensors, Coverage) {
  const auto two = [](std::string_view a, std::string_view b) {
    return fmt::format(R"({{"a":{{"dtype":"U8","shape":[4],"data_offsets":{}}},)"
                       R"("b":{{"dtype":"U8","shape":[2],"data_offsets":{}}}}})",
                       a, b);
  };
  expect(two("[0,4]", "[2,4]"), {"'b' begins at data byte 2, expected 4", "an overlap"});
  expect(two("[0,4]", "[0,2]"), {"an overlap"});
  expect(two("[0,4]", "[6,8]"), {"'b' begins at data byte 6, expected 4", "a gap"});
  expect(two("[0,4]", "[4,6]"), {"2 bytes after the last tensor"});
  expect("{}", {"8 bytes after the last tensor"});
}

}  // namespace
}  // namespace atb
