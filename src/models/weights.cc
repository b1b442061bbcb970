#include "models/weights.h"

#include <atb/error.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace atb {
namespace {

/// "layers.12.attn.q.weight" as "layers.*.attn.q.weight" and "12".
struct LayerName {
  std::string pattern, layer;
};

LayerName split_layer(std::string_view param) {
  constexpr std::string_view kDigits = "0123456789";
  const size_t begin = param.find_first_of(kDigits);
  if (begin == 0 || begin == param.npos || param[begin - 1] != '.') return {std::string(param), ""};
  const size_t end = std::min(param.find_first_not_of(kDigits, begin), param.size());
  return {std::string(param.substr(0, begin)) + "*" + std::string(param.substr(end)),
          std::string(param.substr(begin, end - begin))};
}

std::string insert_layer(std::string_view pattern, const std::string& layer) {
  std::string name(pattern);
  const size_t star = name.find('*');
  if (star != name.npos) name.replace(star, 1, layer);
  return name;
}

}  // namespace

std::string Weights::file_name(std::string_view param) const {
  const auto [pattern, layer] = split_layer(param);
  for (const TensorName& row : names_) {
    if (pattern != row.param) continue;
    const char* name = file_->format() == ModelFormat::kGguf ? row.gguf : row.hf;
    return name == nullptr ? "" : insert_layer(name, layer);
  }
  return "";
}

const TensorInfo* Weights::find(std::string_view param) const {
  const std::string name = file_name(param);
  return name.empty() ? nullptr : file_->find(name);
}

const TensorInfo& Weights::require(std::string_view param) const {
  const std::string name = file_name(param);
  if (!name.empty()) return file_->require(name);
  std::vector<std::string> known;
  for (const TensorName& row : names_) known.emplace_back(row.param);
  throw Error(ErrorCode::kModel, fmt::format("the model has no param '{}'", param), file_->path(),
              fmt::format("did you mean '{}'?", nearest_name(param, known)));
}

ValueId Weights::param(Graph& g, const std::string& param, const std::vector<int64_t>& shape) const {
  const TensorInfo& tensor = require(param);
  const std::string where = fmt::format("{}: tensor {}", file_->path(), tensor.name);
  if (tensor.shape != shape) {
    throw Error(ErrorCode::kModel,
                fmt::format("shape [{}] found, [{}] expected", fmt::join(tensor.shape, ", "), fmt::join(shape, ", ")),
                where, "the weights do not fit the sizes that the file's config states");
  }
  const DTypeInfo& dtype = dtype_info(tensor.dtype);
  if (!dtype.floating && !dtype.quantized) {
    throw Error(ErrorCode::kModel, fmt::format("dtype {} found, floating-point numbers expected", dtype.name), where,
                "convert the model to f32, f16, bf16 or a GGUF block format");
  }
  return g.param(param, tensor.dtype, Shape(shape.begin(), shape.end()));
}

std::string summarize_types(std::span<const TensorInfo> tensors) {
  std::array<int, kDTypeCount> counts{};
  for (const TensorInfo& tensor : tensors) ++counts[static_cast<size_t>(tensor.dtype)];
  std::vector<size_t> order;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] > 0) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return counts[a] > counts[b]; });
  std::vector<std::string> parts;
  for (size_t i : order) parts.push_back(fmt::format("{} {}", counts[i], dtype_name(static_cast<DType>(i))));
  return join(parts, ", ");
}

int64_t count_parameters(std::span<const TensorInfo> tensors) {
  int64_t total = 0;
  for (const TensorInfo& tensor : tensors) total += tensor.elements();
  return total;
}

}  // namespace atb
