// Wrong GGUF files (rows 37, 38 and 40 of the field cases): always an Error that says what and where, never a crash.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "io/file_bytes.h"
#include "io/model_file.h"

namespace atb {
namespace {

using testing::expect_error;
using testing::gguf_header;
using testing::gguf_pair;
using testing::gguf_string;
using testing::GgufSpec;
using testing::GgufTensor;
using testing::le;
using testing::TempDir;

class GgufHostile : public ::testing::Test {
 protected:
  void expect(const std::string& bytes, const std::vector<std::string>& words, ErrorCode code = ErrorCode::kFile) {
    const std::string path = dir_.write("bad.gguf", bytes);
    std::vector<std::string> all = words;
    all.push_back(path);
    expect_error(code, all, [&] { open_gguf(path); });
  }

  void expect_tensor(const GgufTensor& tensor, const std::vector<std::string>& words,
                     ErrorCode code = ErrorCode::kFile) {
    expect(GgufSpec{.tensors = {tensor}, .data = std::string(64, '\0')}.bytes(), words, code);
  }

  TempDir dir_;
};

GgufSpec sound_file() {
  return {
      .pairs = {gguf_pair("general.architecture", 8, gguf_string("llama")), gguf_pair("llama.block_count", 4, le(2u)),
                gguf_pair("tokens", 9,
                          le(8u) + le<uint64_t>(3) + gguf_string("a") + gguf_string("bc") + gguf_string("")),
                gguf_pair("scores", 9, le(6u) + le<uint64_t>(2) + le(1.0f) + le(2.0f))},
      .tensors = {{"first", {32, 2}, 2, 0}, {"second", {4, 4}, 0, 64}, {"last", {256}, 14, 128}},
      .data = std::string(128 + 210, '\1')};
}

TEST_F(GgufHostile, EveryCutIsAnErrorAndInsideTheDataNamesTheTensor) {
  const std::string whole = sound_file().bytes();
  EXPECT_NO_THROW(open_gguf(dir_.write("sound.gguf", whole)));
  const size_t data_begin = whole.size() - (128 + 210);
  for (size_t size = 0; size < whole.size(); ++size) {
    const bool in_data = size >= data_begin;
    const bool second = in_data && size < data_begin + 64 + 64, first = in_data && size < data_begin + 36;
    const std::string tensor = first ? "'first'" : second ? "'second'" : "'last'";
    expect(whole.substr(0, size), in_data ? std::vector<std::string>{tensor} : std::vector<std::string>{});
  }
}

TEST_F(GgufHostile, RandomDamageOpensOrIsAnError) {
  const std::string whole = sound_file().bytes();
  std::mt19937 random(1);
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    for (int i = 0; i < 1 + round % 4; ++i) damaged[random() % whole.size()] = static_cast<char>(random());
    const std::string path = dir_.write("damaged.gguf", damaged);
    try {
      const auto model = open_gguf(path);
      for (const TensorInfo& t : model->tensors()) {
        std::vector<float> values(static_cast<size_t>(t.elements()));
        dequantize(t.dtype, t.data, 0, t.elements(), values.data());
      }
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kFile || error.code() == ErrorCode::kModel) << error.what();
    }
  }
}

TEST_F(GgufHostile, Header) {
  expect("GGML" + std::string(20, '\0'), {"does not start with 'GGUF'"});
  expect(gguf_header(0, 0, 1), {"version 1, expected 2 or 3"});
  expect(gguf_header(0, 0, 4), {"version 4"});
  expect(gguf_header(0, 0, 0x03000000), {"big-endian"});
  expect(gguf_header(uint64_t{1} << 63, 0), {"9223372036854775808 tensors cannot fit"});
  expect(gguf_header(0, uint64_t{1} << 63), {"9223372036854775808 keys cannot fit"});
}

TEST_F(GgufHostile, Keys) {
  const auto with = [](std::vector<std::string> pairs) {
    return GgufSpec{.pairs = std::move(pairs)}.bytes() + std::string(64, 0);
  };
  expect(gguf_header(0, 1) + le<uint64_t>(0xFFFFFFFFFFFF) + std::string(32, 'k'),
         {"key 1 of 1", "281474976710655 bytes"});
  expect(with({gguf_pair("", 4, le(1u))}), {"the key is empty"});
  expect(with({gguf_pair("twin", 4, le(1u)), gguf_pair("twin", 4, le(2u))}), {"key 'twin'", "twice"});
  expect(with({gguf_pair("new", 13, le(1u))}), {"key 'new'", "unknown value type 13"});
  expect(with({gguf_pair("nested", 9, le(9u) + le<uint64_t>(1))}), {"key 'nested'", "array inside an array"});
  expect(with({gguf_pair("many", 9, le(0u) + le<uint64_t>(uint64_t{1} << 62))}), {"key 'many'", "array elements"});
  expect(with({gguf_pair("strings", 9, le(8u) + le<uint64_t>(uint64_t{1} << 61))}), {"key 'strings'"});
  expect(with({gguf_pair("maybe", 7, le<uint8_t>(2))}), {"key 'maybe'", "boolean 2"});
  expect(with({gguf_pair("new\nline", 99, "")}), {"'new\\x0aline'"});
}

TEST_F(GgufHostile, Alignment) {
  for (const int64_t wrong : {int64_t{0}, int64_t{-32}, int64_t{24}, INT64_MIN}) {
    expect(GgufSpec{.pairs = {gguf_pair("general.alignment", 11, le(wrong))}}.bytes(),
           {"general.alignment is " + std::to_string(wrong), "power of two"});
  }
  expect(GgufSpec{.pairs = {gguf_pair("general.alignment", 11, le(int64_t{1} << 62))}, .tensors = {{"t", {1}, 0, 0}}}
             .bytes(),
         {"'t'", "data section of 0"});
  expect(GgufSpec{.pairs = {gguf_pair("general.alignment", 8, gguf_string("32"))}}.bytes(),
         {"general.alignment", "a string", "an integer"}, ErrorCode::kModel);
}

TEST_F(GgufHostile, Shapes) {
  constexpr int64_t kMax = INT64_MAX, kLarge = (int64_t{1} << 42) + 1;
  expect_tensor({"t", {kMax, 2}, 0, 0}, {"'t'", "too large"});
  expect_tensor({"t", {kLarge, kLarge, kLarge}, 0, 0}, {"'t'", "too large"});
  expect_tensor({"t", {kLarge, 1 << 10}, 0, 0}, {"'t'", "exceed the data section"});
  expect_tensor({"t", {0}, 0, 0}, {"'t'", "dimension 0, expected at least 1"});
  expect_tensor({"t", {4, -1}, 0, 0}, {"'t'", "dimension -1"});
  expect_tensor({"t", {1, 1, 1, 1, 1}, 0, 0}, {"'t'", "5 dimensions, expected at most 4"});
  expect_tensor({"t", {33}, 2, 0}, {"'t'", "rows of 33 elements, expected a multiple of 32 for q4_0"});
  expect_tensor({"", {1}, 0, 0}, {"name is empty"});
}

TEST_F(GgufHostile, Offsets) {
  expect_tensor({"t", {1}, 0, 1}, {"'t'", "not aligned to 32"});
  expect_tensor({"t", {1}, 0, 64}, {"'t'", "data section of 64"});
  expect_tensor({"t", {1}, 0, ~uint64_t{31}}, {"'t'", "data section of 64"});
  const auto two = [](const char* name, uint64_t offset) {
    return GgufSpec{.tensors = {{"a", {16}, 0, 0}, {name, {1}, 0, offset}}, .data = std::string(96, '\0')}.bytes();
  };
  expect(two("b", 32), {"'b'", "overlaps"});
  expect(two("a", 64), {"'a' occurs twice"});
}

TEST_F(GgufHostile, UnsupportedTypesAreNamed) {
  expect_tensor({"t", {256}, 10, 0}, {"'t' has type 10 (Q2_K)"}, ErrorCode::kModel);
  expect_tensor({"t", {256}, 39, 0}, {"'t' has type 39 (MXFP4)"}, ErrorCode::kModel);
  expect_tensor({"t", {256}, 42, 0}, {"'t' has type 42 (unknown)"}, ErrorCode::kModel);
  expect_tensor({"t", {256}, 999, 0}, {"'t' has type 999 (unknown)"}, ErrorCode::kModel);
}

TEST_F(GgufHostile, PathsThatAreNoModel) {
  expect_error(ErrorCode::kFile, {"/no/such/file", "No such file"}, [] { open_model("/no/such/file"); });
  expect_error(ErrorCode::kFile, {"/dev/null", "a device"}, [] { open_model("/dev/null"); });
  const std::string other = dir_.write("model.zip", "PK\3\4 and so on");
  expect_error(ErrorCode::kFile, {other, "'PK\\x03\\x04'", "'GGUF'"}, [&] { open_model(other); });
  const std::string empty = dir_.write("empty", "");
  expect_error(ErrorCode::kFile, {empty}, [&] { open_model(empty); });
}

}  // namespace
}  // namespace atb
