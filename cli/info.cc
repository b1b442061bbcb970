// atb info: this machine and a model.
#include <cstdio>
#include <memory>
#include <optional>

#include "command.h"
#include "default_model.h"
#include "load_options.h"
#include "output.h"

namespace atb::cli {
namespace {

struct InfoArguments {
  ModelArguments model;
  bool json = false;
};

nlohmann::ordered_json model_json(const ModelDescription& d) {
  return {{"path", d.path},
          {"architecture", d.architecture},
          {"parameters", d.parameters},
          {"weight_types", d.weight_types},
          {"layers", d.layers},
          {"hidden_size", d.hidden_size},
          {"intermediate_size", d.intermediate_size},
          {"heads", d.heads},
          {"kv_heads", d.kv_heads},
          {"head_dim", d.head_dim},
          {"vocab_size", d.vocab_size},
          {"context", d.context},
          {"max_context", d.max_context},
          {"cube", d.cube},
          {"precision", d.precision},
          {"kv_type", d.kv_type},
          {"kernels_per_layer", d.kernels_per_layer},
          {"load_s", d.load_s}};
}

nlohmann::ordered_json machine_json(const MachineDescription& m) {
  return {{"cpu", m.cpu},           {"isa", m.isa},
          {"cube", m.cube},         {"vector", m.vector},
          {"l2_bytes", m.l2_bytes}, {"llc_bytes", m.llc_bytes},
          {"threads", m.threads},   {"threads_reason", m.threads_reason}};
}

std::string plain(const nlohmann::ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_number_float()) return value.dump();
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", value.get<double>());
  return text;
}

/// One "key  value" line per member.
std::string table(const nlohmann::ordered_json& object) {
  std::string text;
  for (const auto& [key, value] : object.items()) {
    text += key + std::string(key.size() < 20 ? 20 - key.size() : 1, ' ') + plain(value) + "\n";
  }
  return text;
}

int info(const InfoArguments& arguments) {
  nlohmann::ordered_json machine = machine_json(describe_machine(arguments.model.load));
  nlohmann::ordered_json model;  // null if there is none
  const std::string& named = arguments.model.model;
  if (const auto path = named.empty() ? find_default_model() : named) {
    model = model_json(Model::load(*path, arguments.model.load).description());
  }
  if (arguments.json) {
    machine["model"] = std::move(model);
    write_json(machine);
  } else {
    write_out(table(machine) + "\n" + (model.is_null() ? "no model named, and no default one found\n" : table(model)));
  }
  return 0;
}

}  // namespace

Action add_info(CLI::App& app) {
  const auto arguments = std::make_shared<InfoArguments>();
  add_model_arguments(app, arguments->model);
  app.add_flag("--json", arguments->json, "write one JSON object");
  return [arguments] { return info(*arguments); };
}

}  // namespace atb::cli
