#include <atb/plan_report.h>

#include "base/options.h"
#include "cost/profile.h"
#include "engine/article_tables.h"
#include "engine/layer_blocks.h"
#include "fusion/fuse.h"
#include "fusion/recommend.h"
#include "models/model.h"
#include "models/presets.h"

namespace atb {
namespace {

constexpr const char* kHostCache = "";  // nothing is measured: the built-in row nearest to this machine

DeviceProfile device_of(const std::string& name) {
  return find_profile(name.empty() ? read_env().device_profile.value_or("host") : name, kHostCache);
}

}  // namespace

std::vector<ReportTable> article_tables(const std::string& device) { return article_tables(device_of(device)); }

std::string device_profile_json(const std::string& device) { return profile_to_json(device_of(device)); }

Recommendation recommend(const RecommendRequest& request) {
  const DeviceProfile profile = device_of(request.device);
  const DType weights = profile.row_tiled ? DType::kBF16 : DType::kF16;
  const Graph graph = recognise(build_model(*shape_file(shape_preset(request.model), weights), weights).graph);
  return recommend(request, graph, whole_blocks(graph, Block::kMlp).front(), profile);
}

}  // namespace atb
