#include "runtime/memory_block.h"

#include <atb/error.h>
#include <sys/mman.h>

#include <cstdint>
#include <utility>

#include "base/text.h"

namespace atb {
namespace {

constexpr size_t kLargePage = size_t{2} << 20;

std::byte* align_up(void* p, size_t alignment) {
  const auto address = reinterpret_cast<uintptr_t>(p);
  return reinterpret_cast<std::byte*>((address + alignment - 1) / alignment * alignment);
}

}  // namespace

MemoryBlock::MemoryBlock(size_t bytes, LargePages large_pages, const char* purpose) : size_(bytes) {
  if (bytes == 0) return;
  const size_t slack = large_pages == LargePages::kWanted ? kLargePage : 0;
  mapped_ = bytes + slack;
  void* mapping =
      mapped_ < bytes ? MAP_FAILED : mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    throw Error(ErrorCode::kResources, "no memory for " + format_bytes(static_cast<double>(bytes)), purpose,
                "close other programs, or choose a smaller context, block or model");
  mapping_ = mapping;
  data_ = slack != 0 ? align_up(mapping, kLargePage) : static_cast<std::byte*>(mapping);
  // Advice only: where the system has no large pages to give, small ones do.
  if (slack != 0) madvise(data_, bytes, MADV_HUGEPAGE);
}

MemoryBlock::~MemoryBlock() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

MemoryBlock::MemoryBlock(MemoryBlock&& other) noexcept
    : mapping_(std::exchange(other.mapping_, nullptr)),
      mapped_(std::exchange(other.mapped_, 0)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MemoryBlock& MemoryBlock::operator=(MemoryBlock&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_, other.mapped_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

}  // namespace atb
