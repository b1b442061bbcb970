// User profiles as JSON: one object, keys and ranges as in profile_fields().
#include <atb/error.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "base/text.h"
#include "cost/profile_fields.h"
#include "io/json.h"
#include "io/printable.h"

namespace atb {
namespace {

[[noreturn]] void fail(const std::string& where, const char* key, std::string message, std::string hint) {
  throw Error(ErrorCode::kFile, std::move(message), where + ": " + key, std::move(hint));
}

std::string range_of(const ProfileField& field) {
  return fmt::format("a number from {:g} to {:g}{}{} ({})", field.low, field.high, *field.unit != 0 ? " " : "",
                     field.unit, field.meaning);
}

double number_of(const ProfileField& field, const Json& value, const std::string& where) {
  const auto* integer = value.as<int64_t>();
  const auto* real = value.as<double>();
  if (integer == nullptr && real == nullptr)
    fail(where, field.key, fmt::format("found {}", value.kind()), "expected " + range_of(field));
  const double number = integer != nullptr ? static_cast<double>(*integer) : *real;
  if (!(number >= field.low && number <= field.high))
    fail(where, field.key, fmt::format("found {:g}", number), "expected " + range_of(field));
  return number;
}

void set(std::string& member, const ProfileField& field, const Json& value, const std::string& where) {
  const auto* text = value.as<std::string>();
  if (text == nullptr) fail(where, field.key, fmt::format("found {}", value.kind()), "expected a string");
  member = *text;
}

void set(bool& member, const ProfileField& field, const Json& value, const std::string& where) {
  const auto* flag = value.as<bool>();
  if (flag == nullptr) fail(where, field.key, fmt::format("found {}", value.kind()), "expected true or false");
  member = *flag;
}

void set(double& member, const ProfileField& field, const Json& value, const std::string& where) {
  member = number_of(field, value, where);
}

void set(int& member, const ProfileField& field, const Json& value, const std::string& where) {
  const double number = number_of(field, value, where);
  if (number != std::floor(number))
    fail(where, field.key, fmt::format("found {:g}", number), "expected a whole number");
  member = static_cast<int>(number);
}

void reject_unknown_keys(const Json::Object& object, const std::string& where) {
  std::vector<std::string> known;
  for (const ProfileField& field : profile_fields()) known.emplace_back(field.key);
  for (const JsonMember& member : object) {
    if (std::find(known.begin(), known.end(), member.key) != known.end()) continue;
    throw Error(ErrorCode::kFile, "unknown key " + printable(member.key), where,
                "did you mean '" + nearest_name(member.key, known) + "'? Known are " + join(known, ", "));
  }
}

/// What a reader of the numbers could not make sense of, though each is in its range.
void check_together(const DeviceProfile& profile, const std::string& where) {
  if (profile.llc_bytes > 0 && profile.llc_bandwidth <= 0)
    fail(where, "llc_bandwidth", fmt::format("found {:g}", profile.llc_bandwidth),
         "a last level of llc_bytes > 0 needs a bandwidth");
  if (!profile.cube_to_vector && profile.llc_bytes <= 0)
    fail(where, "cube_to_vector", "found false without a last level", "give llc_bytes and llc_bandwidth");
  if (profile.name.empty()) fail(where, "name", "found an empty text", "give the device a name");
}

}  // namespace

DeviceProfile parse_profile(const std::string& json, const std::string& where) {
  const Json root{parse_json_object(json, where)};
  reject_unknown_keys(*root.as<Json::Object>(), where);
  DeviceProfile profile;
  for (const ProfileField& field : profile_fields()) {
    const Json* value = root.find(field.key);
    if (value != nullptr) {
      std::visit([&](auto member) { set(profile.*member, field, *value, where); }, field.member);
    } else if (field.required) {
      fail(where, field.key, "the key is missing", fmt::format("add {}: {}", field.key, field.meaning));
    }
  }
  check_together(profile, where);
  return profile;
}

DeviceProfile load_profile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad())
    throw Error(ErrorCode::kFile, "cannot read the device profile", path,
                "give a JSON file or one of " + join(builtin_profile_names(), ", "));
  return parse_profile(text, path);
}

std::string profile_to_json(const DeviceProfile& profile) {
  nlohmann::ordered_json json;
  for (const ProfileField& field : profile_fields())
    std::visit([&](auto member) { json[field.key] = profile.*member; }, field.member);
  return json.dump(2) + "\n";
}

}  // namespace atb
