#include "base/options.h"

#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

namespace atb {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

EnvOptions parse(const std::map<std::string, std::string>& variables) {
  return parse_env([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

TEST(Options, EmptyEnvironmentSetsNothing) {
  const EnvOptions options = parse({});
  EXPECT_EQ(options.op_fusion, std::nullopt);
  EXPECT_EQ(options.num_threads, std::nullopt);
  EXPECT_EQ(options.max_isa, std::nullopt);
  EXPECT_TRUE(options.fusion_disable.empty());
}

TEST(Options, EveryVariableReachesItsField) {
  const EnvOptions options = parse({{"ATB_OP_FUSION", "1"},
                                    {"ATB_FUSE_MLP", "0"},
                                    {"ATB_FUSE_ATTENTION", "1"},
                                    {"ATB_FUSE_LAYERNORM", "0"},
                                    {"ATB_FUSE_BIAS", "0"},
                                    {"ATB_FUSION_DISABLE", "add_layernorm, bias"},
                                    {"ATB_LOG_LEVEL", "DEBUG"},
                                    {"ATB_LOG_FORMAT", "json"},
                                    {"ATB_NUM_THREADS", "12"},
                                    {"ATB_PRECISION", "bf16"},
                                    {"ATB_DEVICE_PROFILE", "ascend910"},
                                    {"ATB_PROFILING", "/tmp/traces"},
                                    {"ATB_MODEL", "model.gguf"},
                                    {"ATB_MAX_ISA", "avx512_vnni"}});
  EXPECT_EQ(options.op_fusion, true);
  EXPECT_EQ(options.fuse_mlp, false);
  EXPECT_EQ(options.fuse_attention, true);
  EXPECT_EQ(options.fuse_layernorm, false);
  EXPECT_EQ(options.fuse_bias, false);
  EXPECT_THAT(options.fusion_disable, ElementsAre("add_layernorm", "bias"));
  EXPECT_EQ(options.log_level, LogLevel::kDebug);
  EXPECT_EQ(options.log_format, LogFormat::kJson);
  EXPECT_EQ(options.num_threads, 12);
  EXPECT_EQ(options.precision, Precision::kBf16);
  EXPECT_EQ(options.device_profile, "ascend910");
  EXPECT_EQ(options.profiling, "/tmp/traces");
  EXPECT_EQ(options.model, "model.gguf");
  EXPECT_EQ(options.max_isa, Isa::kAvx512Vnni);
}

TEST(Options, EmptyValueCountsAsNotSet) {
  EXPECT_EQ(parse({{"ATB_NUM_THREADS", ""}}).num_threads, std::nullopt);
  EXPECT_EQ(parse({{"ATB_OP_FUSION", ""}}).op_fusion, std::nullopt);
}

struct BadValue {
  const char *variable, *value, *expected;
};

class OptionsError : public ::testing::TestWithParam<BadValue> {};

TEST_P(OptionsError, NamesVariableValueAndWhatIsExpected) {
  const auto& [variable, value, expected] = GetParam();
  try {
    parse({{variable, value}});
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUsage);
    EXPECT_EQ(error.where(), variable);
    EXPECT_THAT(error.message(), HasSubstr("'" + std::string(value) + "'"));
    EXPECT_THAT(error.message(), HasSubstr(expected));
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, OptionsError,
    ::testing::Values(BadValue{"ATB_OP_FUSION", "yes", "0 or 1"}, BadValue{"ATB_FUSE_MLP", "2", "0 or 1"},
                      BadValue{"ATB_FUSE_ATTENTION", "on", "0 or 1"}, BadValue{"ATB_FUSE_LAYERNORM", "01", "0 or 1"},
                      BadValue{"ATB_FUSE_BIAS", "-1", "0 or 1"}, BadValue{"ATB_LOG_LEVEL", "LOUD", "DEBUG, INFO"},
                      BadValue{"ATB_LOG_FORMAT", "xml", "text or json"}, BadValue{"ATB_NUM_THREADS", "0", "1 to 4096"},
                      BadValue{"ATB_NUM_THREADS", "4097", "1 to 4096"},
                      BadValue{"ATB_NUM_THREADS", "99999999999999999999", "1 to 4096"},
                      BadValue{"ATB_NUM_THREADS", "4 ", "1 to 4096"}, BadValue{"ATB_NUM_THREADS", "-2", "1 to 4096"},
                      BadValue{"ATB_PRECISION", "fp8", "fp32 or bf16"}, BadValue{"ATB_MAX_ISA", "avx3", "avx512"}));

TEST(Options, ProcessEnvironmentIsRead) {
  setenv("ATB_NUM_THREADS", "3", 1);
  EXPECT_EQ(read_env().num_threads, 3);
  unsetenv("ATB_NUM_THREADS");
  EXPECT_EQ(read_env().num_threads, std::nullopt);
}

TEST(Options, EveryVariableIsDescribed) {
  EXPECT_EQ(env_variables().size(), 14u);
  for (const auto& variable : env_variables()) {
    EXPECT_THAT(variable.name, ::testing::StartsWith("ATB_"));
    EXPECT_STRNE(variable.meaning, "");
  }
}

TEST(Options, PrecisionNamesParseBack) {
  for (const auto precision : {Precision::kDefault, Precision::kFp32, Precision::kBf16})
    EXPECT_EQ(parse_precision(precision_name(precision)), precision);
  EXPECT_EQ(parse_precision("int8"), std::nullopt);
}

}  // namespace
}  // namespace atb
