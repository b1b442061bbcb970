// Typed key-value pairs of a model file: GGUF metadata, or config.json flattened with dots ("rope_scaling.factor").
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace atb {

using MetadataValue = std::variant<bool, int64_t, double, std::string, std::vector<bool>, std::vector<int64_t>,
                                   std::vector<double>, std::vector<std::string>>;

class Metadata {
 public:
  /// `source` is the file that the values came from, for error messages.
  explicit Metadata(std::string source = "") : source_(std::move(source)) {}

  void set(std::string key, MetadataValue value) { values_[std::move(key)] = std::move(value); }
  bool contains(std::string_view key) const { return values_.find(key) != values_.end(); }
  const std::map<std::string, MetadataValue, std::less<>>& values() const { return values_; }
  const std::string& source() const { return source_; }

  // Readers. A missing key gives nothing; a key of another type is Error{kModel} naming file, key, type found and type
  // expected. Integers widen to double; a double with an integral value does not narrow.
  std::optional<bool> get_bool(std::string_view key) const;
  std::optional<int64_t> get_int(std::string_view key) const;
  std::optional<double> get_double(std::string_view key) const;
  std::optional<std::string> get_string(std::string_view key) const;
  const std::vector<std::string>* get_strings(std::string_view key) const;
  std::optional<std::vector<int64_t>> get_ints(std::string_view key) const;
  std::optional<std::vector<double>> get_doubles(std::string_view key) const;

  /// Like the readers, but a missing key is Error{kModel} naming file and key.
  int64_t require_int(std::string_view key) const;
  double require_double(std::string_view key) const;
  std::string require_string(std::string_view key) const;

 private:
  std::string source_;
  std::map<std::string, MetadataValue, std::less<>> values_;
};

}  // namespace atb
