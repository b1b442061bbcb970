#include "tokenizer/json_reader.h"

#include <atb/error.h>
#include <fmt/format.h>

namespace atb {
namespace {

template <typename T>
const T& expect(const JsonReader& reader, const Json& value, std::string_view key, const char* kind) {
  if (const T* typed = value.as<T>()) return *typed;
  reader.damaged(fmt::format("\"{}\" is {}, expected {}", key, value.kind(), kind));
}

}  // namespace

const Json& JsonReader::member(const Json& object, std::string_view key) {
  static const Json null{};
  const Json* found = object.find(key);
  return found ? *found : null;
}

const std::string& JsonReader::text(const Json& value, std::string_view key) const {
  return expect<std::string>(*this, member(value, key), key, "a string");
}

const Json::Array& JsonReader::list(const Json& value, std::string_view key) const {
  return expect<Json::Array>(*this, member(value, key), key, "an array");
}

bool JsonReader::flag(const Json& value, std::string_view key, bool otherwise) const {
  const Json& found = member(value, key);
  return is_null(found) ? otherwise : expect<bool>(*this, found, key, "a boolean");
}

int64_t JsonReader::integer(const Json& value, std::string_view key) const {
  return expect<int64_t>(*this, member(value, key), key, "an integer");
}

void JsonReader::damaged(std::string message) const {
  throw Error(ErrorCode::kModel, std::move(message), path_, "the file is damaged; get it again");
}

void JsonReader::unsupported(std::string message) const {
  throw Error(ErrorCode::kModel, std::move(message), path_, "use a model whose tokenizer has only supported parts");
}

}  // namespace atb
