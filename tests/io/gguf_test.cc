// What a right GGUF file reads as. The values of real files are compared in tests/python/test_gguf.py.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "io/file_bytes.h"
#include "io/model_file.h"

namespace atb {
namespace {

using ::testing::ElementsAre;
using testing::gguf_pair;
using testing::gguf_string;
using testing::GgufSpec;
using testing::le;
using testing::TempDir;

class Gguf : public ::testing::Test {
 protected:
  std::unique_ptr<ModelFile> open(const GgufSpec& spec) { return open_model(dir_.write("model.gguf", spec.bytes())); }
  TempDir dir_;
};

TEST_F(Gguf, TensorsAreSortedByNameWithTheOutermostDimensionFirst) {
  const std::string data =
      le(1.0f) + le(2.0f) + le(3.0f) + le(4.0f) + le(5.0f) + le(6.0f) + std::string(8, 'x') + le(7);
  const auto model = open({.tensors = {{"z", {3, 2}, 0, 0}, {"a", {1}, 26, 32}}, .data = data});
  EXPECT_EQ(model->format(), ModelFormat::kGguf);
  ASSERT_EQ(model->tensors().size(), 2u);
  EXPECT_EQ(model->tensors()[0].name, "a");
  EXPECT_EQ(model->tensors()[0].dtype, DType::kI32);
  const TensorInfo& z = model->require("z");
  EXPECT_THAT(z.shape, ElementsAre(2, 3));
  EXPECT_EQ(z.elements(), 6);
  EXPECT_EQ(z.bytes, 24u);
  std::vector<float> values(4);
  dequantize(z.dtype, z.data, 2, 6, values.data());
  EXPECT_THAT(values, ElementsAre(3, 4, 5, 6));
}

TEST_F(Gguf, VersionTwoAndScalarsAreRead) {
  const auto model = open({.tensors = {{"scalar", {}, 0, 0}}, .data = le(2.5f), .version = 2});
  EXPECT_TRUE(model->require("scalar").shape.empty());
  EXPECT_EQ(model->require("scalar").elements(), 1);
}

TEST_F(Gguf, AlignmentOfTheFileIsHonoured) {
  for (const uint32_t alignment : {1u, 64u, 4096u}) {
    const auto model = open({.pairs = {gguf_pair("general.alignment", 4, le(alignment))},
                             .tensors = {{"t", {1}, 0, 0}},
                             .data = le(42.0f),
                             .alignment = alignment});
    float value = 0;
    dequantize(DType::kF32, model->require("t").data, 0, 1, &value);
    EXPECT_EQ(value, 42.0f) << alignment;
  }
}

TEST_F(Gguf, MetadataOfEveryKindIsRead) {
  const auto model =
      open({.pairs = {gguf_pair("u8", 0, le<uint8_t>(200)), gguf_pair("i8", 1, le<int8_t>(-3)),
                      gguf_pair("u16", 2, le<uint16_t>(65535)), gguf_pair("i16", 3, le<int16_t>(-300)),
                      gguf_pair("u32", 4, le<uint32_t>(4000000000u)), gguf_pair("i32", 5, le(-70000)),
                      gguf_pair("f32", 6, le(0.5f)), gguf_pair("bool", 7, le<uint8_t>(1)),
                      gguf_pair("string", 8, gguf_string("text")),
                      gguf_pair("strings", 9, le(8u) + le<uint64_t>(2) + gguf_string("a") + gguf_string("")),
                      gguf_pair("u64", 10, le<uint64_t>(INT64_MAX)),
                      gguf_pair("u64 large", 10, le<uint64_t>(uint64_t{1} << 63)),
                      gguf_pair("i64", 11, le<int64_t>(INT64_MIN)), gguf_pair("f64", 12, le(0.1)),
                      gguf_pair("bools", 9, le(7u) + le<uint64_t>(2) + le<uint16_t>(1))}});
  const Metadata& m = model->metadata();
  EXPECT_EQ(m.require_int("u8"), 200);
  EXPECT_EQ(m.require_int("i8"), -3);
  EXPECT_EQ(m.require_int("u16"), 65535);
  EXPECT_EQ(m.require_int("i16"), -300);
  EXPECT_EQ(m.require_int("u32"), 4000000000);
  EXPECT_EQ(m.require_int("i32"), -70000);
  EXPECT_EQ(m.require_double("f32"), 0.5);
  EXPECT_EQ(m.get_bool("bool"), true);
  EXPECT_EQ(m.require_string("string"), "text");
  EXPECT_THAT(*m.get_strings("strings"), ElementsAre("a", ""));
  EXPECT_EQ(m.require_int("u64"), INT64_MAX);
  EXPECT_EQ(m.require_double("u64 large"), 0x1p63);
  EXPECT_EQ(m.require_int("i64"), INT64_MIN);
  EXPECT_EQ(m.require_double("f64"), 0.1);
  EXPECT_THAT(std::get<std::vector<bool>>(m.values().at("bools")), ElementsAre(true, false));
}

TEST_F(Gguf, MissingTensorNamesTheNearest) {
  const auto model = open({.tensors = {{"token_embd.weight", {1}, 0, 0}}, .data = le(0)});
  EXPECT_EQ(model->find("token_embed.weight"), nullptr);
  testing::expect_error(ErrorCode::kModel, {"model.gguf", "'token_embed.weight' is missing", "'token_embd.weight'"},
                        [&] { model->require("token_embed.weight"); });
}

}  // namespace
}  // namespace atb
