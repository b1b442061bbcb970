#include "io/gguf_metadata.h"

#include <fmt/format.h>

#include <array>

#include "io/printable.h"

namespace atb {
namespace {

constexpr const char* kDamagedHint = "the file is damaged or written by a newer tool; download or convert it again";

bool read_bool(ByteReader& in) {
  const auto byte = in.read<uint8_t>();
  if (byte > 1) in.fail(fmt::format("boolean {}, expected 0 or 1", byte), kDamagedHint);
  return byte == 1;
}

/// One value as MetadataValue stores it.
template <typename T>
auto read_scalar(ByteReader& in) {
  if constexpr (std::is_same_v<T, bool>) {
    return read_bool(in);
  } else if constexpr (std::is_same_v<T, std::string>) {
    return std::string(in.read_string());
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<double>(in.read<T>());
  } else {
    return static_cast<int64_t>(in.read<T>());
  }
}

template <typename T>
MetadataValue read_one(ByteReader& in) {
  return read_scalar<T>(in);
}

template <typename T>
MetadataValue read_array(ByteReader& in, size_t count) {
  std::vector<decltype(read_scalar<T>(in))> values;
  values.reserve(count);
  for (size_t i = 0; i < count; ++i) values.push_back(read_scalar<T>(in));
  return values;
}

// uint64 beyond int64 becomes a double, so that whoever needs an integer refuses it.
MetadataValue read_one_u64(ByteReader& in) {
  const auto value = in.read<uint64_t>();
  if (value > INT64_MAX) return static_cast<double>(value);
  return static_cast<int64_t>(value);
}

MetadataValue read_array_u64(ByteReader& in, size_t count) {
  std::vector<uint64_t> values(count);
  bool fits = true;
  for (uint64_t& value : values) {
    value = in.read<uint64_t>();
    fits = fits && value <= INT64_MAX;
  }
  if (fits) return std::vector<int64_t>(values.begin(), values.end());
  return std::vector<double>(values.begin(), values.end());
}

/// How to read the values of one type number.
struct ValueType {
  MetadataValue (*one)(ByteReader&);
  MetadataValue (*array)(ByteReader&, size_t count);
  size_t min_bytes;  ///< of one element
};

template <typename T>
constexpr ValueType value_type(size_t min_bytes = sizeof(T)) {
  return {read_one<T>, read_array<T>, min_bytes};
}

constexpr uint32_t kArray = 9;
constexpr std::array<ValueType, 13> kValueTypes = {
    value_type<uint8_t>(),
    value_type<int8_t>(),
    value_type<uint16_t>(),
    value_type<int16_t>(),
    value_type<uint32_t>(),
    value_type<int32_t>(),
    value_type<float>(),
    value_type<bool>(1),
    value_type<std::string>(sizeof(uint64_t)),
    ValueType{},  // kArray
    ValueType{read_one_u64, read_array_u64, sizeof(uint64_t)},
    value_type<int64_t>(),
    value_type<double>(),
};

const ValueType& find_value_type(const ByteReader& in, uint32_t number) {
  if (number < kValueTypes.size() && number != kArray) return kValueTypes[number];
  in.fail(number == kArray ? "an array inside an array is not supported" : fmt::format("unknown value type {}", number),
          kDamagedHint);
}

MetadataValue read_value(ByteReader& in) {
  const auto number = in.read<uint32_t>();
  if (number != kArray) return find_value_type(in, number).one(in);
  const ValueType& element = find_value_type(in, in.read<uint32_t>());
  return element.array(in, in.read_count(element.min_bytes, "array elements"));
}

}  // namespace

Metadata read_gguf_metadata(ByteReader& in, size_t count, const std::string& file) {
  Metadata metadata(file);
  for (size_t i = 0; i < count; ++i) {
    in.set_context(fmt::format("key {} of {}", i + 1, count));
    std::string key(in.read_string());
    if (key.empty()) in.fail("the key is empty", kDamagedHint);
    in.set_context("key " + printable(key));
    if (metadata.contains(key)) in.fail("the key occurs twice", kDamagedHint);
    MetadataValue value = read_value(in);
    metadata.set(std::move(key), std::move(value));
  }
  return metadata;
}

}  // namespace atb
