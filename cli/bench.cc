// atb bench: the articles' tables, modelled for a device.
#include <atb/plan_report.h>

#include <memory>

#include "command.h"
#include "output.h"
#include "report_json.h"

namespace atb::cli {
namespace {

struct BenchArguments {
  std::string device;
  bool json = false;
};

int bench(const BenchArguments& arguments) {
  const std::vector<ReportTable> tables = article_tables(arguments.device);
  if (arguments.json) {
    write_json({{"machine", arguments.device},
                {"probe", nullptr},
                {"profile", nlohmann::ordered_json::parse(device_profile_json(arguments.device))},
                {"tables", tables_json(tables)}});
    return 0;
  }
  std::string text = "modelled for " + arguments.device + "; in brackets the articles' figure and the deviation\n";
  for (const ReportTable& table : tables) text += "\n" + to_text(table);
  write_out(text);
  return 0;
}

}  // namespace

Action add_bench(CLI::App& app) {
  const auto arguments = std::make_shared<BenchArguments>();
  app.add_option("--device", arguments->device, "model this device: a built-in name, host or a JSON file")->required();
  app.add_flag("--json", arguments->json, "write one JSON object");
  return [arguments] { return bench(*arguments); };
}

}  // namespace atb::cli
