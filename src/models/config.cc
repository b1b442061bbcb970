#include "models/config.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <cmath>

namespace atb {
namespace {

constexpr int64_t kMaxSize = int64_t{1} << 24;
constexpr const char* kDamaged = "the file is damaged or of a kind that is not supported";

}  // namespace

Config::Config(const ModelFile& file) : metadata_(file.metadata()), gguf_(file.format() == ModelFormat::kGguf) {
  if (gguf_) prefix_ = metadata_.require_string("general.architecture") + ".";
}

std::string Config::name(ConfigKey key) const {
  const char* name = gguf_ ? key.gguf : key.hf;
  return name == nullptr ? "" : prefix_ + name;
}

void Config::fail(ConfigKey key, std::string message, std::string hint) const {
  throw Error(ErrorCode::kModel, name(key) + ": " + std::move(message), metadata_.source(), std::move(hint));
}

int64_t Config::require_size(ConfigKey key) const {
  metadata_.require_int(name(key));
  return *get_size(key);
}

std::optional<int64_t> Config::get_size(ConfigKey key) const {
  const std::optional<int64_t> size = get_int(key);
  if (size && (*size < 1 || *size > kMaxSize))
    fail(key, fmt::format("{}, expected 1 to {}", *size, kMaxSize), kDamaged);
  return size;
}

std::optional<double> Config::get_positive(ConfigKey key) const {
  const std::optional<double> value = get_double(key);
  if (value && !(std::isfinite(*value) && *value > 0)) {
    fail(key, fmt::format("{}, expected a number above 0", *value), kDamaged);
  }
  return value;
}

std::optional<int64_t> Config::get_int(ConfigKey key) const { return metadata_.get_int(name(key)); }
std::optional<double> Config::get_double(ConfigKey key) const { return metadata_.get_double(name(key)); }
std::optional<bool> Config::get_bool(ConfigKey key) const { return metadata_.get_bool(name(key)); }
std::optional<std::string> Config::get_string(ConfigKey key) const { return metadata_.get_string(name(key)); }

}  // namespace atb
