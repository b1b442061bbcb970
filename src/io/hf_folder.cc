// A Hugging Face folder: config.json, and the weights in model.safetensors or in the shards that
// model.safetensors.index.json lists. Other files of the folder are ignored.
#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "io/json.h"
#include "io/json_metadata.h"
#include "io/parsed_model.h"
#include "io/printable.h"
#include "io/safetensors.h"

namespace atb {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDownloadHint = "download the whole folder again";

bool exists(const std::string& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

[[noreturn]] void fail(const std::string& message, const std::string& where, const std::string& hint = kDownloadHint) {
  throw Error(ErrorCode::kFile, message, where, hint);
}

Metadata read_config(const std::string& folder) {
  const std::string path = folder + "/config.json";
  if (!exists(path))
    fail("no model: the folder has no config.json", folder, "give a Hugging Face folder or a GGUF file");
  return flatten_json(parse_json_object(MappedFile(path).text(), path), path);
}

/// Which shard an index says to hold each tensor.
using WeightMap = std::map<std::string, std::string, std::less<>>;

/// A shard lies beside its index: a path could lead out of the folder.
void check_shard_name(const std::string& shard, const std::string& index) {
  const bool plain = !shard.empty() && shard != "." && shard != ".." &&
                     shard.find_first_of("/\\") == std::string::npos && shard.find('\0') == std::string::npos;
  if (!plain) fail(fmt::format("shard {} is not a plain file name", printable(shard)), index);
}

WeightMap read_index(const std::string& path) {
  const Json root{parse_json_object(MappedFile(path).text(), path)};
  const Json* weight_map = root.find("weight_map");
  const auto* members = weight_map == nullptr ? nullptr : weight_map->as<Json::Object>();
  if (members == nullptr || members->empty()) fail("expected an object 'weight_map' with entries", path);
  WeightMap map;
  for (const auto& [tensor, value] : *members) {
    const auto* shard = value.as<std::string>();
    if (shard == nullptr)
      fail(fmt::format("tensor {} names {}, expected a file", printable(tensor), value.kind()), path);
    check_shard_name(*shard, path);
    map.emplace(tensor, *shard);
  }
  return map;
}

void add_file(ParsedModel& model, const std::string& path) {
  const auto tensors = read_safetensors(model.maps_.emplace_back(path));
  model.tensors_.insert(model.tensors_.end(), tensors.begin(), tensors.end());
}

/// Where each tensor was found, against where the index says it is.
void check_shard(const std::string& shard, std::span<const TensorInfo> tensors, const WeightMap& index,
                 const std::string& index_path) {
  for (const TensorInfo& tensor : tensors) {
    const auto listed = index.find(tensor.name);
    if (listed == index.end() || listed->second == shard) continue;
    fail(fmt::format("tensor {} is in {}, the index says {}", printable(tensor.name), printable(shard),
                     printable(listed->second)),
         index_path);
  }
}

void add_shards(ParsedModel& model, const std::string& folder, const std::string& index_path) {
  const WeightMap index = read_index(index_path);
  std::vector<std::string> shards;
  for (const auto& [tensor, shard] : index) shards.push_back(shard);
  std::sort(shards.begin(), shards.end());
  shards.erase(std::unique(shards.begin(), shards.end()), shards.end());
  for (const std::string& shard : shards) {
    const std::string path = folder + "/" + shard;
    if (!exists(path)) fail(fmt::format("shard {} is missing", printable(shard)), index_path);
    const size_t before = model.tensors_.size();
    add_file(model, path);
    check_shard(shard, std::span(model.tensors_).subspan(before), index, index_path);
  }
  sort_by_name(model.tensors_, index_path);
  for (const auto& [tensor, shard] : index) {
    if (model.find(tensor) == nullptr) {
      fail(fmt::format("tensor {} is not in {}, where the index says it is", printable(tensor), printable(shard)),
           index_path);
    }
  }
}

}  // namespace

std::unique_ptr<ModelFile> open_hf_folder(const std::string& folder) {
  auto model = std::make_unique<ParsedModel>(ModelFormat::kHuggingFace, folder);
  model->metadata_ = read_config(folder);
  const std::string single = folder + "/model.safetensors", index = folder + "/model.safetensors.index.json";
  if (exists(single)) {
    add_file(*model, single);
    sort_by_name(model->tensors_, single);
  } else if (exists(index)) {
    add_shards(*model, folder, index);
  } else {
    fail("the folder has neither model.safetensors nor model.safetensors.index.json", folder,
         "save the model with save_pretrained(..., safe_serialization=True)");
  }
  return model;
}

}  // namespace atb
