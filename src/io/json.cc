#include "io/json.h"

#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "io/printable.h"

namespace atb {
namespace {

constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxBytes = 100'000'000;

/// Builds the tree from the parser's events. `open_` are the containers around the next value; a container does not
/// grow while one of its elements is open, so that the pointers stay valid.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(Json& root, const std::string& where) : root_(root), where_(where) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool v) override { return put(v); }
  bool number_integer(int64_t v) override { return put(v); }
  bool number_unsigned(uint64_t v) override {
    return v <= INT64_MAX ? put(static_cast<int64_t>(v)) : put(static_cast<double>(v));
  }
  bool number_float(double v, const std::string&) override { return put(v); }
  bool string(std::string& v) override { return put(std::move(v)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(size_t) override { return open(Json::Object()); }
  bool start_array(size_t) override { return open(Json::Array()); }
  bool end_array() override { return close(); }
  bool key(std::string& k) override {
    std::get<Json::Object>(open_.back()->value).push_back({std::move(k), {}});
    return true;
  }
  bool end_object() override {
    reject_duplicates(std::get<Json::Object>(open_.back()->value));
    return close();
  }
  bool parse_error(size_t byte, const std::string& token, const nlohmann::detail::exception&) override {
    throw Error(ErrorCode::kFile, fmt::format("not valid JSON at byte {}, near {}", byte, printable(token)), where_,
                "the file is damaged or no JSON; download it again");
  }

 private:
  template <typename T>
  bool put(T&& v) {
    slot().value = std::forward<T>(v);
    return true;
  }

  template <typename T>
  bool open(T&& container) {
    if (open_.size() == kMaxDepth) {
      throw Error(ErrorCode::kFile, fmt::format("JSON is nested deeper than {} levels", kMaxDepth), where_,
                  "no model file needs this; the file is damaged");
    }
    Json& place = slot();
    place.value = std::forward<T>(container);
    open_.push_back(&place);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  /// Where the next value goes.
  Json& slot() {
    if (open_.empty()) return root_;
    if (auto* array = std::get_if<Json::Array>(&open_.back()->value)) return array->emplace_back();
    return std::get<Json::Object>(open_.back()->value).back().value;
  }

  void reject_duplicates(const Json::Object& object) const {
    std::vector<std::string_view> keys;
    keys.reserve(object.size());
    for (const JsonMember& member : object) keys.push_back(member.key);
    std::sort(keys.begin(), keys.end());
    const auto twin = std::adjacent_find(keys.begin(), keys.end());
    if (twin == keys.end()) return;
    throw Error(ErrorCode::kFile, fmt::format("duplicate JSON key {}", printable(*twin)), where_,
                "each key may occur once; the file is damaged");
  }

  Json& root_;
  const std::string& where_;
  std::vector<Json*> open_;
};

}  // namespace

const Json* Json::find(std::string_view key) const {
  const Object* object = as<Object>();
  if (object == nullptr) return nullptr;
  const auto it = std::find_if(object->begin(), object->end(), [&](const JsonMember& m) { return m.key == key; });
  return it == object->end() ? nullptr : &it->value;
}

const char* Json::kind() const {
  static constexpr std::array kNames = {"null",     "a boolean", "an integer", "a number",
                                        "a string", "an array",  "an object"};
  static_assert(kNames.size() == std::variant_size_v<decltype(value)>);
  return kNames[value.index()];
}

Json parse_json(std::string_view text, const std::string& where) {
  if (text.size() > kMaxBytes) {
    throw Error(ErrorCode::kFile, fmt::format("JSON of {} bytes, expected at most {}", text.size(), kMaxBytes), where,
                "no model file needs this; the file is damaged");
  }
  Json root;
  TreeBuilder builder(root, where);
  nlohmann::json::sax_parse(text, &builder);
  return root;
}

Json::Object parse_json_object(std::string_view text, const std::string& where) {
  Json root = parse_json(text, where);
  if (auto* object = std::get_if<Json::Object>(&root.value)) return std::move(*object);
  throw Error(ErrorCode::kFile, fmt::format("expected a JSON object, found {}", root.kind()), where,
              "the file is damaged or of another kind; download it again");
}

}  // namespace atb
