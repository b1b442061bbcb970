#include "io/metadata.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <array>

#include "io/printable.h"

namespace atb {
namespace {

/// In the order of MetadataValue.
constexpr std::array kKindNames = {
    "a boolean",           "an integer",         "a number", "a string", "an array of booleans", "an array of integers",
    "an array of numbers", "an array of strings"};
static_assert(kKindNames.size() == std::variant_size_v<MetadataValue>);

template <typename T>
constexpr size_t kind_of() {
  return MetadataValue(T{}).index();
}

const MetadataValue* find_value(const Metadata& metadata, std::string_view key) {
  const auto it = metadata.values().find(key);
  return it == metadata.values().end() ? nullptr : &it->second;
}

[[noreturn]] void wrong_kind(const Metadata& metadata, std::string_view key, size_t found, size_t expected) {
  throw Error(ErrorCode::kModel,
              fmt::format("key {} is {}, expected {}", printable(key), kKindNames[found], kKindNames[expected]),
              metadata.source(), "the file is not what its architecture says; convert or download it again");
}

[[noreturn]] void missing(const Metadata& metadata, std::string_view key) {
  throw Error(ErrorCode::kModel, fmt::format("key {} is missing", printable(key)), metadata.source(),
              "the file is not what its architecture says; convert or download it again");
}

/// An empty array says nothing about the type of its elements.
bool is_empty_array(const MetadataValue& value) {
  return std::visit(
      [](const auto& v) {
        if constexpr (requires(decltype(v) x) { x.begin(); } && !std::is_same_v<decltype(v), const std::string&>) {
          return v.empty();
        }
        return false;
      },
      value);
}

/// The value of `key` as a T, nullptr if there is none.
template <typename T>
const T* get(const Metadata& metadata, std::string_view key) {
  static const T kEmpty{};
  const MetadataValue* value = find_value(metadata, key);
  if (value == nullptr) return nullptr;
  if (const T* exact = std::get_if<T>(value)) return exact;
  if (MetadataValue(kEmpty).index() >= kind_of<std::vector<bool>>() && is_empty_array(*value)) return &kEmpty;
  wrong_kind(metadata, key, value->index(), MetadataValue(kEmpty).index());
}

template <typename T>
std::optional<T> copied(const T* value) {
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

template <typename T>
T required(std::optional<T> value, const Metadata& metadata, std::string_view key) {
  if (!value) missing(metadata, key);
  return *std::move(value);
}

}  // namespace

std::optional<bool> Metadata::get_bool(std::string_view key) const { return copied(get<bool>(*this, key)); }
std::optional<int64_t> Metadata::get_int(std::string_view key) const { return copied(get<int64_t>(*this, key)); }

std::optional<double> Metadata::get_double(std::string_view key) const {
  const MetadataValue* value = find_value(*this, key);
  if (value != nullptr && std::holds_alternative<int64_t>(*value))
    return static_cast<double>(std::get<int64_t>(*value));
  return copied(get<double>(*this, key));
}

std::optional<std::string> Metadata::get_string(std::string_view key) const {
  return copied(get<std::string>(*this, key));
}

const std::vector<std::string>* Metadata::get_strings(std::string_view key) const {
  return get<std::vector<std::string>>(*this, key);
}

std::optional<std::vector<int64_t>> Metadata::get_ints(std::string_view key) const {
  return copied(get<std::vector<int64_t>>(*this, key));
}

std::optional<std::vector<double>> Metadata::get_doubles(std::string_view key) const {
  const MetadataValue* value = find_value(*this, key);
  if (value != nullptr && std::holds_alternative<std::vector<int64_t>>(*value)) {
    const auto& ints = std::get<std::vector<int64_t>>(*value);
    return std::vector<double>(ints.begin(), ints.end());
  }
  return copied(get<std::vector<double>>(*this, key));
}

int64_t Metadata::require_int(std::string_view key) const { return required(get_int(key), *this, key); }
double Metadata::require_double(std::string_view key) const { return required(get_double(key), *this, key); }
std::string Metadata::require_string(std::string_view key) const { return required(get_string(key), *this, key); }

}  // namespace atb
