#include "models/presets.h"

#include <atb/error.h>
#include <gtest/gtest.h>

#include "models/model.h"

namespace atb {
namespace {

TEST(Presets, BuildTheirGraphs) {
  for (const std::string& name : shape_preset_names()) {
    const BuiltModel model = build_model(*shape_file(shape_preset(name), DType::kF16, 1), DType::kF16);
    EXPECT_NO_THROW(model.graph.verify()) << name;
    EXPECT_EQ(model.info.layers, 1);
  }
}

TEST(Presets, HaveThePublishedNumberOfParameters) {
  const auto parameters = [](const char* name) {
    return build_model(*shape_file(shape_preset(name), DType::kF16), DType::kF16).info.parameters;
  };
  EXPECT_EQ(parameters("llama-2-7b"), 6738415616);  // what torch counts for the published models
  EXPECT_EQ(parameters("llama-2-13b"), 13015864320);
}

TEST(Presets, AnUnknownNameGetsTheNearest) {
  try {
    shape_preset("llama-2-7");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("'llama-2-7b'"), std::string::npos);
  }
}

}  // namespace
}  // namespace atb
