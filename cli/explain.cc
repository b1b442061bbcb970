// atb explain: what is fused in a model, what it saves, and why the rest is not.
#include <atb/explain.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>

#include "command.h"
#include "default_model.h"
#include "output.h"

namespace atb::cli {
namespace {

struct ExplainArguments {
  std::string model, shape, region, html, dot;
  ExplainRequest request;
  bool json = false;
};

void write_file(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file)
    throw Error(ErrorCode::kFile, std::string("cannot write: ") + std::strerror(errno), path, "name another file");
}

int show_region(const ExplainArguments& arguments, const Explanation& explanation) {
  const std::vector<const ExplainedRegion*> found = find_regions(explanation, arguments.region);
  const RegionSpec spec = describe_region(explanation, *found.front());
  if (arguments.json) return write_out(region_json(spec) + "\n"), 0;
  std::string text = region_text(spec);
  if (found.size() > 1)
    text += "\n" + std::to_string(found.size()) + " regions have this name; name one by its path, as \"" +
            found.back()->region.layer + ":" + found.back()->region.name + "\"\n";
  write_out(text);
  return 0;
}

int explain_command(const ExplainArguments& arguments) {
  const Explanation explanation = arguments.shape.empty()
                                      ? explain_file(choose_model(arguments.model), arguments.request)
                                      : explain_shape(arguments.shape, arguments.request);
  if (!arguments.html.empty()) write_file(arguments.html, explain_html(explanation));
  if (!arguments.dot.empty()) write_file(arguments.dot, explain_dot(explanation));
  if (!arguments.region.empty()) return show_region(arguments, explanation);
  if (arguments.json) {
    write_out(explain_json(explanation) + "\n");
  } else if (arguments.html.empty() && arguments.dot.empty()) {
    write_out(explain_text(explanation));
  }
  return 0;
}

}  // namespace

Action add_explain(CLI::App& app) {
  const auto arguments = std::make_shared<ExplainArguments>();
  ExplainRequest& request = arguments->request;
  CLI::Option* model = app.add_option(
      "MODEL", arguments->model, "GGUF file or Hugging Face folder (default: $ATB_MODEL, else the installed model)");
  app.add_option("--shape", arguments->shape, "a published shape instead of a model, such as llama-2-7b")
      ->excludes(model);
  app.add_option("--layer", request.layer, "only the layer of this number");
  app.add_option("--device", request.device,
                 "decide for this device: a built-in name, host or a JSON file (ATB_DEVICE_PROFILE, then host)");
  app.add_option("--seq", request.tokens, "tokens of a call")->capture_default_str();
  app.add_option("--batch", request.batch, "sequences of a call")->capture_default_str();
  app.add_option("--past", request.past, "tokens already in the KV cache")->capture_default_str();
  app.add_option("--region", arguments->region,
                 "one region whole, as a code generator needs it: its name, its path, or path:name");
  app.add_flag("--json", arguments->json, "write one JSON object");
  app.add_option("--html", arguments->html, "write a page that opens offline to this file");
  app.add_option("--dot", arguments->dot, "write the fused graph for Graphviz to this file");
  return [arguments] { return explain_command(*arguments); };
}

}  // namespace atb::cli
