// A whole file, read-only, as a memory map. A file that shrinks while it is mapped is out of scope.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace atb {

class MappedFile {
 public:
  /// Error{kFile} naming the path and the reason: missing, a folder, a device, not readable, not mappable.
  explicit MappedFile(const std::string& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&&) = delete;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::string_view text() const { return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}; }

 private:
  std::string path_;
  std::span<const std::byte> bytes_;
};

}  // namespace atb
