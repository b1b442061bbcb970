// What `atb run` was asked for.
#pragma once

#include <atb/engine.h>

#include <optional>
#include <string>

#include "load_options.h"

namespace atb::cli {

struct RunArguments {
  ModelArguments model;
  std::optional<std::string> prompt, prompt_file;
  std::optional<int64_t> max_tokens;
  GenerateOptions generate;
  bool chat = false, raw = false, json = false, quiet = false;
};

/// "load 0.11 s | prefill 310.2 tok/s (24 tokens) | decode 92.8 tok/s (31 tokens) | peak 214 MB"
std::string speed_line(const Model& model, const GenerateResult& result);

/// A conversation on stdin and stdout until the end of input (Ctrl-D). Ctrl-C stops an answer; while waiting for a line
/// it ends the program. Returns the exit code.
int chat(const Model& model, const RunArguments& arguments);

}  // namespace atb::cli
