#include "cost/profile.h"

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../support/temp_dir.h"
#include "cost/profile_fields.h"

namespace atb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Error error_of(const std::string& json) {
  try {
    parse_profile(json, "dev.json");
  } catch (const Error& error) {
    return error;
  }
  return {ErrorCode::kInternal, "no error"};
}

/// A valid profile with one field set to other JSON text.
std::string with(const std::string& key, const std::string& value) {
  std::string json = profile_to_json(builtin_profile("zen4"));
  const size_t at = json.find("\"" + key + "\":");
  const size_t begin = json.find(' ', at) + 1, end = json.find_first_of(",\n", begin);
  return json.replace(begin, end - begin, value);
}

TEST(Profile, BuiltInRowsAreListed) {
  EXPECT_THAT(builtin_profile_names(),
              ElementsAre("ascend910", "ascend910b", "emerald_rapids", "zen4", "avx2_desktop"));
}

TEST(Profile, BuiltInRowsRoundTripThroughJson) {
  for (const std::string& name : builtin_profile_names()) {
    const std::string json = profile_to_json(builtin_profile(name));
    EXPECT_EQ(profile_to_json(parse_profile(json, name)), json);
  }
}

TEST(Profile, AnUnknownNameGetsTheNearest) {
  try {
    builtin_profile("zen5");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'zen4'"));
    EXPECT_THAT(error.what(), HasSubstr("ascend910b"));
  }
}

TEST(Profile, ErrorsNameFileKeyValueAndRange) {
  const Error range = error_of(with("memory_efficiency", "1.5"));
  EXPECT_EQ(range.code(), ErrorCode::kFile);
  EXPECT_THAT(range.what(), HasSubstr("dev.json: memory_efficiency"));
  EXPECT_THAT(range.what(), HasSubstr("found 1.5"));
  EXPECT_THAT(range.what(), HasSubstr("a number from 0.001 to 1"));
  EXPECT_THAT(error_of(with("launch", "\"fast\"")).what(), HasSubstr("dev.json: launch"));
  EXPECT_THAT(error_of(with("launch", "\"fast\"")).what(), HasSubstr("found a string"));
  EXPECT_THAT(error_of(with("row_tiled", "1")).what(), HasSubstr("expected true or false"));
  EXPECT_THAT(error_of(with("cores", "2.5")).what(), HasSubstr("expected a whole number"));
  EXPECT_THAT(error_of(with("cores", "0")).what(), HasSubstr("a number from 1 to"));
  EXPECT_THAT(error_of(with("name", "7")).what(), HasSubstr("expected a string"));
  EXPECT_THAT(error_of(with("llc_bandwidth", "0")).what(), HasSubstr("llc_bandwidth"));
  EXPECT_THAT(error_of(with("vector_ops", "1e999")).message(), HasSubstr("JSON"));
}

TEST(Profile, EveryNumberIsCheckedAtBothEnds) {
  for (const ProfileField& field : profile_fields()) {
    if (field.high <= 0) continue;
    EXPECT_EQ(error_of(with(field.key, "-1")).code(), ErrorCode::kFile) << field.key;
    EXPECT_EQ(error_of(with(field.key, "1e300")).code(), ErrorCode::kFile) << field.key;
  }
}

TEST(Profile, UnknownAndMissingKeysAreErrors) {
  EXPECT_THAT(error_of(R"({"memory_bandwith": 1})").what(), HasSubstr("did you mean 'memory_bandwidth'"));
  EXPECT_THAT(error_of(R"({"name": "x"})").what(), HasSubstr("dev.json: cube_f32"));
  EXPECT_THAT(error_of("[]").what(), HasSubstr("expected a JSON object"));
  EXPECT_THAT(error_of("{").what(), HasSubstr("dev.json"));
}

TEST(Profile, AFileIsRecognisedByItsPath) {
  const atb::testing::TempDir folder;
  const std::string path = folder.write("mine.json", with("name", "\"mine\""));
  EXPECT_EQ(find_profile(path, "").name, "mine");
  EXPECT_THROW(find_profile(path + ".missing", ""), Error);
  EXPECT_EQ(find_profile("ascend910", "").name, "ascend910");
}

TEST(Profile, TheHostIsTheProbesRecordOrTheNearestRow) {
  const atb::testing::TempDir folder;
  const std::string cache = folder.write("host.json", with("name", "\"probed\""));
  EXPECT_EQ(host_profile(cache).name, "probed");
  for (const std::string& none : {std::string(), cache + ".missing"}) {
    const DeviceProfile host = host_profile(none);
    EXPECT_EQ(host.name, "host");
    EXPECT_THAT(host.source, HasSubstr("not measured"));
  }
}

TEST(Profile, TheMatrixRateFollowsTheWeights) {
  const DeviceProfile& p = builtin_profile("zen4");
  EXPECT_EQ(p.cube_rate(DType::kBF16), p.cube_bf16);
  EXPECT_EQ(p.cube_rate(DType::kF16), p.cube_f16);
  EXPECT_EQ(p.cube_rate(DType::kF32), p.cube_f32);
  EXPECT_EQ(p.cube_rate(DType::kQ4_K), p.cube_int8);
  EXPECT_EQ(p.cube_rate(DType::kI8), p.cube_int8);
}

}  // namespace
}  // namespace atb
