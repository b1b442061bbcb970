#include <atb/error.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/check.h"

namespace atb {
namespace {

TEST(Error, WhatIsOneLineOfMessagePlaceAndHint) {
  const Error full(ErrorCode::kFile, "magic is 'ABCD', 'GGUF' expected", "model.gguf, offset 0", "download it again");
  EXPECT_STREQ(full.what(), "magic is 'ABCD', 'GGUF' expected (model.gguf, offset 0); download it again");
  EXPECT_STREQ(Error(ErrorCode::kModel, "no layers").what(), "no layers");
  EXPECT_STREQ(Error(ErrorCode::kModel, "no layers", "", "check it").what(), "no layers; check it");
}

TEST(Error, CodesAreTheExitCodesOfTheCommand) {
  const std::pair<ErrorCode, std::pair<int, const char*>> expected[] = {{ErrorCode::kUsage, {2, "usage"}},
                                                                        {ErrorCode::kFile, {3, "file"}},
                                                                        {ErrorCode::kModel, {4, "model"}},
                                                                        {ErrorCode::kResources, {5, "resources"}},
                                                                        {ErrorCode::kInterrupted, {130, "interrupted"}},
                                                                        {ErrorCode::kInternal, {70, "internal"}}};
  for (const auto& [code, value_and_name] : expected) {
    EXPECT_EQ(static_cast<int>(code), value_and_name.first);
    EXPECT_STREQ(error_code_name(code), value_and_name.second);
  }
}

TEST(Check, FailureIsAnInternalErrorWithThePlace) {
  ATB_CHECK(1 + 1 == 2);
  try {
    ATB_CHECK(1 + 1 == 3);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInternal);
    EXPECT_THAT(error.message(), ::testing::HasSubstr("1 + 1 == 3"));
    EXPECT_THAT(error.where(), ::testing::HasSubstr("error_test.cc:"));
  }
}

}  // namespace
}  // namespace atb
