#include "io/byte_reader.h"

#include <atb/error.h>
#include <fmt/format.h>

namespace atb {
namespace {

constexpr const char* kTruncatedHint = "the file is truncated or damaged; download it again";

}  // namespace

size_t ByteReader::read_count(size_t min_bytes, std::string_view items) {
  const uint64_t count = read<uint64_t>();
  if (count <= remaining() / min_bytes) return count;
  fail(fmt::format("{} {} cannot fit into the remaining {} bytes of the file", count, items, remaining()),
       kTruncatedHint);
}

void ByteReader::fail(const std::string& message, const std::string& hint) const {
  throw Error(ErrorCode::kFile, message, fmt::format("{}, {}, byte {}", file_, context_, position_), hint);
}

void ByteReader::truncated(uint64_t needed) const {
  fail(fmt::format("the file ends too early: {} bytes expected, {} left", needed, remaining()), kTruncatedHint);
}

}  // namespace atb
