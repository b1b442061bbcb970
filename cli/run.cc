// atb run: generate text.
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>

#include "command.h"
#include "default_model.h"
#include "interrupt.h"
#include "output.h"
#include "run_arguments.h"

namespace atb::cli {
namespace {

std::string read_prompt_file(const std::string& path) {
  if (path == "-") return {std::istreambuf_iterator<char>(std::cin), {}};
  std::ifstream file(path, std::ios::binary);
  try {
    std::string text(std::istreambuf_iterator<char>(file), {});
    if (file) return text;
  } catch (const std::ios_base::failure&) {  // opened, but a read failed: a folder, a broken disk
  }
  throw Error(ErrorCode::kFile, "cannot read the prompt", path, "check that the file exists and is readable");
}

std::string read_prompt(const RunArguments& arguments) {
  if (arguments.prompt) return *arguments.prompt;
  if (arguments.prompt_file) return read_prompt_file(*arguments.prompt_file);
  throw Error(ErrorCode::kUsage, "no prompt", "atb run", "use -p TEXT, -f FILE (- is stdin) or --chat");
}

// A model with a chat template was trained to answer: it gets the prompt as a user's turn unless --raw.
std::vector<TokenId> prompt_tokens(const Model& model, const RunArguments& arguments) {
  const std::string prompt = read_prompt(arguments);
  const bool raw = arguments.raw || model.chat_template().empty();
  return raw ? model.tokenize(prompt) : model.chat_tokens({{"user", prompt}});
}

nlohmann::ordered_json to_json(const Model& model, const GenerateResult& result) {
  const ModelDescription& d = model.description();
  return {{"text", result.text},
          {"prompt_tokens", result.prompt_tokens},
          {"generated_tokens", result.tokens.size()},
          {"finish_reason", finish_reason_name(result.finish_reason)},
          {"load_s", d.load_s},
          {"prefill_tok_s", result.prefill_tok_s()},
          {"decode_tok_s", result.decode_tok_s()},
          {"first_token_s", result.first_token_s},
          {"peak_mb", peak_mb()},
          {"model", d.path},
          {"isa", d.isa},
          {"cube", d.cube},
          {"precision", d.precision},
          {"kv_type", d.kv_type},
          {"threads", d.threads},
          {"kernels_per_layer", d.kernels_per_layer}};
}

void show_result(const Model& model, const GenerateResult& result, const RunArguments& arguments) {
  if (arguments.json) {
    write_json(to_json(model, result));
    return;
  }
  if (!result.text.ends_with('\n')) write_out("\n");
  if (!arguments.quiet) write_err(speed_line(model, result));
}

int run(const RunArguments& arguments) {
  catch_interrupts();
  if (!arguments.chat && !arguments.prompt && !arguments.prompt_file) read_prompt(arguments);  // before a long load
  const Model model = Model::load(choose_model(arguments.model.model), arguments.model.load);
  if (arguments.chat) return chat(model, arguments);
  GenerateOptions options = arguments.generate;
  options.max_tokens = arguments.max_tokens.value_or(options.max_tokens);
  options.cancelled = interrupted;
  const TextCallback stream = [](std::string_view piece) { return write_out(piece); };
  const GenerateResult result =
      model.generate(prompt_tokens(model, arguments), options, arguments.json ? TextCallback() : stream);
  show_result(model, result, arguments);
  return interrupted() ? kExitInterrupted : 0;
}

void add_sampling(CLI::App& app, SamplingOptions& sampling) {
  app.add_option("--temp", sampling.temperature, "temperature; 0 takes the most likely token")->capture_default_str();
  app.add_option("--top-k", sampling.top_k, "sample from the k most likely tokens; 0: off")->capture_default_str();
  app.add_option("--top-p", sampling.top_p, "sample from the most likely tokens that hold this probability; 1: off")
      ->capture_default_str();
  app.add_option("--min-p", sampling.min_p, "drop tokens less likely than this times the most likely; 0: off")
      ->capture_default_str();
  app.add_option("--repeat-penalty", sampling.repeat_penalty, "makes the last 64 tokens less likely; 1: off")
      ->capture_default_str();
  app.add_option("--seed", sampling.seed, "seed of the random choices")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
}

}  // namespace

std::string speed_line(const Model& model, const GenerateResult& result) {
  char line[256];
  std::snprintf(line, sizeof line,
                "load %.2f s | prefill %.1f tok/s (%lld tokens) | decode %.1f tok/s (%zu tokens) | peak %.0f MB\n",
                model.description().load_s, result.prefill_tok_s(),
                static_cast<long long>(result.prompt_tokens - result.cached_tokens), result.decode_tok_s(),
                result.tokens.size(), peak_mb());
  return line;
}

Action add_run(CLI::App& app) {
  const auto arguments = std::make_shared<RunArguments>();
  RunArguments& a = *arguments;
  add_model_arguments(app, a.model);
  CLI::Option* prompt =
      app.add_option("-p,--prompt", a.prompt, "the prompt; a model with a chat template gets it as a user's turn");
  CLI::Option* file = app.add_option("-f,--file", a.prompt_file, "read the prompt from a file (- is stdin)");
  CLI::Option* chat = app.add_flag("--chat", a.chat, "talk with the model; Ctrl-D ends, Ctrl-C stops an answer");
  CLI::Option* raw = app.add_flag("--raw", a.raw, "continue the prompt as it is, without the chat template");
  CLI::Option* json = app.add_flag("--json", a.json, "write one JSON object instead of text");
  prompt->excludes(file)->excludes(chat);
  chat->excludes(file)->excludes(raw)->excludes(json);
  app.add_option("-n,--max-tokens", a.max_tokens, "most tokens to generate (default: 128; --chat: up to the context)");
  add_sampling(app, a.generate.sampling);
  app.add_option("--stop", a.generate.stop, "end before this text (may be repeated)")->allow_extra_args(false);
  app.add_flag("--ignore-eos", a.generate.ignore_eos, "go on after the model's end-of-sequence token");
  app.add_flag("--quiet", a.quiet, "no line with times on stderr");
  return [arguments] { return run(*arguments); };
}

}  // namespace atb::cli
