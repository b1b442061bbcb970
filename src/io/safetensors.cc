// Source: the format's description in the README of huggingface/safetensors.
#include "io/safetensors.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "io/byte_reader.h"
#include "io/json.h"
#include "io/parsed_model.h"
#include "io/printable.h"

namespace atb {
namespace {

constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr size_t kMaxDims = 8;
constexpr std::string_view kMetadataKey = "__metadata__";
constexpr const char* kDamagedHint = "the file is truncated or damaged; download it again";

struct DTypeName {
  std::string_view name;
  DType dtype;
};
constexpr std::array<DTypeName, 10> kDTypeNames = {{{"F64", DType::kF64},
                                                    {"F32", DType::kF32},
                                                    {"F16", DType::kF16},
                                                    {"BF16", DType::kBF16},
                                                    {"I64", DType::kI64},
                                                    {"I32", DType::kI32},
                                                    {"I16", DType::kI16},
                                                    {"I8", DType::kI8},
                                                    {"U8", DType::kU8},
                                                    {"BOOL", DType::kBool}}};

/// One member of the header, with what its errors need.
struct Entry {
  const std::string& file;
  const std::string& name;
  const Json& json;

  [[noreturn]] void fail(const std::string& problem, ErrorCode code = ErrorCode::kFile,
                         const char* hint = kDamagedHint) const {
    throw Error(code, fmt::format("tensor {} {}", printable(name), problem), file, hint);
  }

  /// The member `key`, which must be a T ("an array").
  template <typename T>
  const T& member(std::string_view key, std::string_view expected) const {
    const Json* value = json.find(key);
    const T* typed = value == nullptr ? nullptr : value->as<T>();
    if (typed != nullptr) return *typed;
    fail(fmt::format("has {} as its '{}', expected {}", value == nullptr ? "nothing" : value->kind(), key, expected));
  }

  /// The member `key`: an array of at most `max_count` integers >= 0.
  std::vector<int64_t> sizes(std::string_view key, size_t max_count) const {
    const auto& array = member<Json::Array>(key, "an array");
    if (array.size() > max_count)
      fail(fmt::format("has {} numbers as its '{}', expected at most {}", array.size(), key, max_count));
    std::vector<int64_t> values;
    for (const Json& element : array) {
      const int64_t* value = element.as<int64_t>();
      if (value == nullptr || *value < 0) fail(fmt::format("has a '{}' that is not all integers >= 0", key));
      values.push_back(*value);
    }
    return values;
  }
};

DType read_dtype(const Entry& entry) {
  const auto& name = entry.member<std::string>("dtype", "a string");
  const auto it = std::find_if(kDTypeNames.begin(), kDTypeNames.end(), [&](const auto& d) { return d.name == name; });
  if (it != kDTypeNames.end()) return it->dtype;
  entry.fail(fmt::format("has dtype {}, which is not supported", printable(name)), ErrorCode::kModel,
             "supported are F64, F32, F16, BF16, I64, I32, I16, I8, U8 and BOOL");
}

/// Checks the entry by itself; the order of the tensors comes later.
TensorInfo read_tensor(const Entry& entry, std::span<const std::byte> data) {
  const DType dtype = read_dtype(entry);
  std::vector<int64_t> shape = entry.sizes("shape", kMaxDims);
  const std::vector<int64_t> offsets = entry.sizes("data_offsets", 2);
  if (offsets.size() != 2) entry.fail(fmt::format("has {} data_offsets, expected 2", offsets.size()));
  const auto begin = static_cast<uint64_t>(offsets[0]), end = static_cast<uint64_t>(offsets[1]);
  if (begin > end) entry.fail(fmt::format("begins at byte {}, after its end {}", begin, end));
  if (end > data.size()) entry.fail(fmt::format("ends at data byte {}, but the file has {}", end, data.size()));
  const auto bytes = tensor_bytes(dtype, shape);
  if (!bytes) entry.fail(fmt::format("has the shape [{}], which is too large", fmt::join(shape, ", ")));
  if (*bytes != end - begin) {
    entry.fail(fmt::format("has {} bytes, but its shape [{}] and dtype {} need {}", end - begin, fmt::join(shape, ", "),
                           dtype_name(dtype), *bytes));
  }
  return {entry.name, dtype, std::move(shape), data.data() + begin, *bytes};
}

/// The format wants the data covered once: no gaps, no overlaps, nothing after the last tensor.
void check_coverage(const std::vector<TensorInfo>& tensors, std::span<const std::byte> data, const std::string& file) {
  std::vector<const TensorInfo*> by_place;
  for (const TensorInfo& tensor : tensors) by_place.push_back(&tensor);
  std::sort(by_place.begin(), by_place.end(),
            [](const auto* a, const auto* b) { return a->data != b->data ? a->data < b->data : a->bytes < b->bytes; });
  const std::byte* end = data.data();
  for (const TensorInfo* tensor : by_place) {
    if (tensor->data != end) {
      throw Error(
          ErrorCode::kFile,
          fmt::format("tensor {} begins at data byte {}, expected {}: the data has {}", printable(tensor->name),
                      tensor->data - data.data(), end - data.data(), tensor->data > end ? "a gap" : "an overlap"),
          file, kDamagedHint);
    }
    end += tensor->bytes;
  }
  const auto rest = data.size() - static_cast<size_t>(end - data.data());
  if (rest == 0) return;
  throw Error(ErrorCode::kFile, fmt::format("{} bytes after the last tensor, expected none", rest), file, kDamagedHint);
}

/// The JSON text; leaves the reader at the data.
Json::Object read_header(const MappedFile& file, size_t& data_begin) {
  ByteReader in(file.bytes(), file.path());
  in.set_context("header length");
  const auto length = in.read<uint64_t>();
  if (length > kMaxHeaderBytes) {
    in.fail(fmt::format("the header has {} bytes, expected at most {}", length, kMaxHeaderBytes),
            "this is no safetensors file, or it is damaged");
  }
  if (length > in.remaining()) {
    in.fail(fmt::format("the header has {} bytes, but only {} follow", length, in.remaining()), kDamagedHint);
  }
  data_begin = in.position() + length;
  return parse_json_object(file.text().substr(in.position(), length), file.path() + ", header");
}

}  // namespace

std::vector<TensorInfo> read_safetensors(const MappedFile& file) {
  size_t data_begin = 0;
  const Json::Object header = read_header(file, data_begin);
  const auto data = file.bytes().subspan(data_begin);
  std::vector<TensorInfo> tensors;
  for (const JsonMember& member : header) {
    if (member.key == kMetadataKey) continue;
    tensors.push_back(read_tensor({file.path(), member.key, member.value}, data));
  }
  check_coverage(tensors, data, file.path());
  return tensors;
}

}  // namespace atb
