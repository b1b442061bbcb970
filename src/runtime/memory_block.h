// Anonymous memory from the system: zeroed, touched only where it is used, in large pages where they are allowed.
#pragma once

#include <cstddef>

namespace atb {

enum class LargePages : bool { kNo, kWanted };

/// Move-only owner of a mapping. Empty by default.
class MemoryBlock {
 public:
  MemoryBlock() = default;
  /// Maps `bytes`, aligned to 2 MiB if large pages are wanted, else to 4 KiB. Error{kResources} says what `purpose` was
  /// and how much is missing.
  MemoryBlock(size_t bytes, LargePages large_pages, const char* purpose);
  ~MemoryBlock();
  MemoryBlock(MemoryBlock&& other) noexcept;
  MemoryBlock& operator=(MemoryBlock&& other) noexcept;

  std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }

 private:
  void* mapping_ = nullptr;
  size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace atb
