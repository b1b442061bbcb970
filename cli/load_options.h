// The options that say which model is loaded and how, the same for every command.
#pragma once

#include <atb/engine.h>

#include <CLI/CLI.hpp>
#include <string>

namespace atb::cli {

struct ModelArguments {
  std::string model;
  LoadOptions load;
};

void add_model_arguments(CLI::App& app, ModelArguments& arguments);

}  // namespace atb::cli
