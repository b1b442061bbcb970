// From a path or a published shape to its explanation: the file's header and the graph, no weights.
#include <atb/explain.h>

#include "base/options.h"
#include "cost/profile.h"
#include "engine/kv_dtype.h"
#include "models/model.h"
#include "models/presets.h"

namespace atb {

Explanation explain_file(const std::string& path, const ExplainRequest& request) {
  const std::unique_ptr<ModelFile> file = open_model(path);
  return explain(build_model(*file, default_kv_dtype(*file)).graph, path, request);
}

// Weights as the device computes them: bf16 where kernels work on tiles of rows, fp16 on the Ascend 910.
Explanation explain_shape(const std::string& preset, const ExplainRequest& request) {
  const std::string device = request.device.empty() ? read_env().device_profile.value_or("host") : request.device;
  const DType weights = find_profile(device, "").row_tiled ? DType::kBF16 : DType::kF16;
  return explain(build_model(*shape_file(shape_preset(preset), weights), weights).graph, preset, request);
}

}  // namespace atb
