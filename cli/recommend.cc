// atb recommend: which fusions to use for a task.
#include <atb/plan_report.h>

#include <memory>

#include "command.h"
#include "output.h"

namespace atb::cli {
namespace {

struct RecommendArguments {
  RecommendRequest request;
  bool json = false;
};

nlohmann::ordered_json options_json(const FusionOptions& options) {
  return {{"fusion", options.fusion.value_or(true)},
          {"mlp", options.mlp.value_or(true)},
          {"attention", options.attention.value_or(true)},
          {"layernorm", options.layernorm.value_or(true)},
          {"bias", options.bias.value_or(true)}};
}

int run(const RecommendArguments& arguments) {
  const Recommendation r = recommend(arguments.request);
  const nlohmann::ordered_json options = options_json(r.options);
  if (arguments.json) {
    write_json({{"options", options}, {"rule", r.rule}, {"reason", r.reason}, {"warnings", r.warnings}});
    return 0;
  }
  std::string text = r.reason + "\n";
  for (const auto& [name, on] : options.items()) text += "  " + name + (on.get<bool>() ? " on\n" : " off\n");
  write_out(text);
  return 0;
}

}  // namespace

Action add_recommend(CLI::App& app) {
  const auto arguments = std::make_shared<RecommendArguments>();
  RecommendRequest& request = arguments->request;
  app.add_option("--seq-len", request.seq_len, "tokens of a call (512 if not given)");
  app.add_option("--batch", request.batch, "sequences of a call")->capture_default_str();
  app.add_flag("--training", request.training, "gradients are needed");
  app.add_option("--latency-ms", request.latency_ms, "wanted latency, at most");
  app.add_option("--qps", request.qps, "wanted queries per second, at least");
  app.add_option("--device", request.device, "a built-in device, host or a JSON file (ATB_DEVICE_PROFILE, then host)");
  app.add_option("--shape", request.model, "shape preset of the model")->capture_default_str();
  app.add_flag("--json", arguments->json, "write one JSON object");
  return [arguments] { return run(*arguments); };
}

}  // namespace atb::cli
