// Chooses the architecture by what the file calls itself.
#include <atb/error.h>

#include <algorithm>

#include "base/text.h"
#include "models/model.h"

namespace atb {

#define ATB_ARCHITECTURE(builder, gguf, hf) \
  BuiltModel build_##builder(const ModelFile& file, DType kv_dtype, bool fp32_activations);
#include "models/models.inc"
#undef ATB_ARCHITECTURE

namespace {

struct Architecture {
  const char *gguf, *hf;
  BuiltModel (*build)(const ModelFile& file, DType kv_dtype, bool fp32_activations);

  const char* name(ModelFormat format) const { return format == ModelFormat::kGguf ? gguf : hf; }
};

constexpr Architecture kArchitectures[] = {
#define ATB_ARCHITECTURE(builder, gguf, hf) {gguf, hf, build_##builder},
#include "models/models.inc"
#undef ATB_ARCHITECTURE
};

std::vector<std::string> names(ModelFormat format) {
  std::vector<std::string> all;
  for (const Architecture& architecture : kArchitectures) {
    if (std::find(all.begin(), all.end(), architecture.name(format)) == all.end()) {
      all.emplace_back(architecture.name(format));
    }
  }
  return all;
}

std::string architecture_of(const ModelFile& file) {
  if (file.format() == ModelFormat::kGguf) return file.metadata().require_string("general.architecture");
  const std::vector<std::string>* classes = file.metadata().get_strings("architectures");
  if (classes != nullptr && classes->size() == 1) return classes->front();
  throw Error(ErrorCode::kModel, "no single class name under 'architectures'", file.metadata().source(),
              "expected one of " + join(names(file.format()), ", "));
}

}  // namespace

BuiltModel build_model(const ModelFile& file, DType kv_dtype, bool fp32_activations) {
  const std::string wanted = architecture_of(file);
  for (const Architecture& architecture : kArchitectures) {
    if (wanted == architecture.name(file.format())) return architecture.build(file, kv_dtype, fp32_activations);
  }
  throw Error(ErrorCode::kModel, "unknown architecture '" + wanted + "'", file.metadata().source(),
              "supported are " + join(names(file.format()), ", "));
}

std::vector<std::string> known_architectures() {
  std::vector<std::string> all = names(ModelFormat::kGguf);
  for (std::string& name : names(ModelFormat::kHuggingFace)) all.push_back(std::move(name));
  return all;
}

}  // namespace atb
