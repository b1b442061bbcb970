#include "io/json_metadata.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "io/printable.h"

namespace atb {
namespace {

// Prefixes repeat in every key below them: without a limit a small file could make a giant table.
constexpr size_t kMaxKeyBytes = 256;

template <typename T>
bool all_are(const Json::Array& array) {
  return std::all_of(array.begin(), array.end(), [](const Json& e) { return e.as<T>() != nullptr; });
}

template <typename T>
std::vector<T> elements(const Json::Array& array) {
  std::vector<T> values;
  values.reserve(array.size());
  for (const Json& element : array) values.push_back(*element.as<T>());
  return values;
}

bool all_numbers(const Json::Array& array) {
  return std::all_of(array.begin(), array.end(), [](const Json& e) { return e.as<int64_t>() || e.as<double>(); });
}

std::vector<double> numbers(const Json::Array& array) {
  std::vector<double> values;
  values.reserve(array.size());
  for (const Json& e : array)
    values.push_back(e.as<double>() ? *e.as<double>() : static_cast<double>(*e.as<int64_t>()));
  return values;
}

class Flattener {
 public:
  explicit Flattener(Metadata& out) : out_(out) {}

  void object(const std::string& prefix, const Json::Object& members) {
    for (const auto& [key, value] : members) put(prefix + key, value);
  }

 private:
  void put(const std::string& key, const Json& json) {
    std::visit([&](const auto& v) { set(key, v); }, json.value);
  }

  void set(const std::string&, std::nullptr_t) {}
  void set(const std::string& key, const Json::Object& members) { object(checked(key) + ".", members); }
  void set(const std::string& key, const Json::Array& array) {
    if (all_are<int64_t>(array)) return set(key, MetadataValue(elements<int64_t>(array)));
    if (all_numbers(array)) return set(key, MetadataValue(numbers(array)));
    if (all_are<std::string>(array)) return set(key, MetadataValue(elements<std::string>(array)));
    if (all_are<bool>(array)) return set(key, MetadataValue(elements<bool>(array)));
    for (size_t i = 0; i < array.size(); ++i) put(fmt::format("{}.{}", checked(key), i), array[i]);
  }
  void set(const std::string& key, MetadataValue value) {
    if (out_.contains(checked(key))) fail(key, "occurs twice when nested keys are joined by dots");
    out_.set(key, std::move(value));
  }

  const std::string& checked(const std::string& key) const {
    if (key.size() > kMaxKeyBytes) fail(key, fmt::format("is longer than {} bytes", kMaxKeyBytes));
    return key;
  }

  [[noreturn]] void fail(const std::string& key, const std::string& problem) const {
    throw Error(ErrorCode::kFile, fmt::format("key {} {}", printable(key), problem), out_.source(),
                "the file is damaged or not a model's configuration");
  }

  Metadata& out_;
};

}  // namespace

Metadata flatten_json(const Json::Object& object, const std::string& file) {
  Metadata metadata(file);
  Flattener(metadata).object("", object);
  return metadata;
}

}  // namespace atb
