// JSON text as a small tree. The parser behind it is slow to compile, so that json.cc is the only file to include it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atb {

struct JsonMember;

struct Json {
  using Array = std::vector<Json>;
  using Object = std::vector<JsonMember>;  ///< in the order of the text; keys are unique

  /// Integers beyond int64 become doubles, so that whoever needs an integer refuses them.
  std::variant<std::nullptr_t, bool, int64_t, double, std::string, Array, Object> value;

  template <typename T>
  const T* as() const {
    return std::get_if<T>(&value);
  }
  /// The member of an object; nullptr if this is no object or has no such member. Linear in the members.
  const Json* find(std::string_view key) const;
  /// "null", "a boolean", "an integer", "a number", "a string", "an array" or "an object".
  const char* kind() const;
};

struct JsonMember {
  std::string key;
  Json value;
};

/// Parses untrusted text. Error{kFile} naming `where` for bad syntax (with the byte), a duplicate key, more than
/// 64 levels or more than 100 MB.
Json parse_json(std::string_view text, const std::string& where);

/// Like parse_json, and the top level must be an object.
Json::Object parse_json_object(std::string_view text, const std::string& where);

}  // namespace atb
