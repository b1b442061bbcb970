// Checked access to the parts of a JSON file; every error names the file and the key.
#pragma once

#include <string>
#include <string_view>

#include "io/json.h"

namespace atb {

class JsonReader {
 public:
  explicit JsonReader(std::string path) : path_(std::move(path)) {}
  const std::string& path() const { return path_; }

  /// The member of an object; a JSON null if there is none.
  static const Json& member(const Json& object, std::string_view key);
  static bool is_null(const Json& value) { return value.as<std::nullptr_t>() != nullptr; }

  // Error{kModel} for a value of another type.
  const std::string& text(const Json& value, std::string_view key) const;  ///< the member `key` of `value`
  const Json::Array& list(const Json& value, std::string_view key) const;
  bool flag(const Json& value, std::string_view key, bool otherwise) const;  ///< `otherwise` if missing or null
  int64_t integer(const Json& value, std::string_view key) const;

  [[noreturn]] void damaged(std::string message) const;
  [[noreturn]] void unsupported(std::string message) const;

 private:
  std::string path_;
};

}  // namespace atb
