// Reads little-endian values from untrusted bytes; never past their end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace atb {

class ByteReader {
 public:
  ByteReader(std::span<const std::byte> bytes, std::string file) : bytes_(bytes), file_(std::move(file)) {}

  /// What is being read, for error messages: "tensor 'x'".
  void set_context(std::string context) { context_ = std::move(context); }

  size_t position() const { return position_; }
  size_t remaining() const { return bytes_.size() - position_; }

  template <typename T>
  T read() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }

  /// A 64-bit length and that many bytes; the view lives as long as the bytes.
  std::string_view read_string() {
    const auto bytes = take(read<uint64_t>());
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }

  /// A 64-bit number of items that take at least `min_bytes` each; Error{kFile} if the rest of the file is too small.
  size_t read_count(size_t min_bytes, std::string_view items);

  /// Error{kFile}: "message in <context> at byte <position>".
  [[noreturn]] void fail(const std::string& message, const std::string& hint) const;

 private:
  std::span<const std::byte> take(uint64_t bytes) {
    if (bytes > remaining()) truncated(bytes);
    const auto taken = bytes_.subspan(position_, bytes);
    position_ += bytes;
    return taken;
  }

  [[noreturn]] void truncated(uint64_t needed) const;

  std::span<const std::byte> bytes_;
  std::string file_, context_;
  size_t position_ = 0;
};

}  // namespace atb
