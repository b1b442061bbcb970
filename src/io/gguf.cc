// GGUF files, versions 2 and 3, little-endian: header, key-value pairs, tensor table, padding, tensor data.
// Source: docs/gguf.md of the ggml project.
#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "io/byte_reader.h"
#include "io/gguf_metadata.h"
#include "io/gguf_types.h"
#include "io/parsed_model.h"
#include "io/printable.h"

namespace atb {
namespace {

constexpr uint32_t kMagic = 0x46554747;  // "GGUF"
constexpr uint32_t kMaxDims = 4;
constexpr size_t kMinTensorBytes = 8 + 1 + 4 + 4 + 8;  // name of one byte, no dimensions, type, offset
constexpr int64_t kDefaultAlignment = 32;
constexpr const char* kDamagedHint = "the file is damaged; download or convert it again";

/// A tensor whose place in the file is not checked yet.
struct TensorEntry {
  TensorInfo info;
  uint64_t offset;  ///< from the start of the data section
};

void check_version(ByteReader& in) {
  if (in.read<uint32_t>() != kMagic) in.fail("the file does not start with 'GGUF'", "give a GGUF file");
  const auto version = in.read<uint32_t>();
  if (version == 2 || version == 3) return;
  const uint32_t swapped = __builtin_bswap32(version);
  if (swapped >= 1 && swapped <= 3) {
    in.fail("the file is big-endian, expected little-endian",
            "convert it with gguf-convert-endian of the gguf package");
  }
  in.fail(fmt::format("GGUF version {}, expected 2 or 3", version), "convert the model again with a current tool");
}

std::vector<int64_t> read_shape(ByteReader& in) {
  const auto dims = in.read<uint32_t>();
  if (dims > kMaxDims) in.fail(fmt::format("{} dimensions, expected at most {}", dims, kMaxDims), kDamagedHint);
  std::vector<int64_t> shape(dims);
  for (int64_t& dim : shape) {
    dim = in.read<int64_t>();
    if (dim <= 0) in.fail(fmt::format("dimension {}, expected at least 1", dim), kDamagedHint);
  }
  std::reverse(shape.begin(), shape.end());  // the file starts with the innermost
  return shape;
}

DType read_dtype(ByteReader& in, const std::string& file, const std::string& tensor) {
  const auto number = in.read<uint32_t>();
  const GgufType* type = find_gguf_type(number);
  if (type != nullptr && type->dtype) return *type->dtype;
  const std::string name = type == nullptr ? "unknown" : type->name;
  throw Error(ErrorCode::kModel,
              fmt::format("tensor {} has type {} ({}), which is not supported", printable(tensor), number, name), file,
              "use a file of F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K and Q6_K tensors");
}

/// Rows of block formats are whole blocks.
void check_rows(const ByteReader& in, const TensorInfo& info) {
  const int block_size = dtype_info(info.dtype).block_size;
  const int64_t row = info.shape.empty() ? 1 : info.shape.back();
  if (row % block_size == 0) return;
  in.fail(fmt::format("rows of {} elements, expected a multiple of {} for {}", row, block_size, dtype_name(info.dtype)),
          kDamagedHint);
}

TensorEntry read_tensor(ByteReader& in, const std::string& file) {
  TensorEntry entry{};
  TensorInfo& info = entry.info;
  info.name = in.read_string();
  if (info.name.empty()) in.fail("the tensor's name is empty", kDamagedHint);
  in.set_context("tensor " + printable(info.name));
  info.shape = read_shape(in);
  info.dtype = read_dtype(in, file, info.name);
  check_rows(in, info);
  const auto bytes = tensor_bytes(info.dtype, info.shape);
  if (!bytes) in.fail(fmt::format("shape [{}] is too large", fmt::join(info.shape, ", ")), kDamagedHint);
  info.bytes = *bytes;
  entry.offset = in.read<uint64_t>();
  return entry;
}

uint64_t read_alignment(const Metadata& metadata) {
  const int64_t alignment = metadata.get_int("general.alignment").value_or(kDefaultAlignment);
  if (alignment > 0 && std::has_single_bit(static_cast<uint64_t>(alignment))) return static_cast<uint64_t>(alignment);
  throw Error(ErrorCode::kFile, fmt::format("general.alignment is {}, expected a power of two", alignment),
              metadata.source(), kDamagedHint);
}

[[noreturn]] void fail_at(const std::string& file, const TensorEntry& entry, const std::string& problem) {
  throw Error(ErrorCode::kFile, fmt::format("tensor {} {}", printable(entry.info.name), problem),
              fmt::format("{}, data offset {}", file, entry.offset),
              "the file is truncated or damaged; download it again");
}

/// Points every tensor to its bytes, which must be aligned, inside `data` and its own.
void place_tensors(std::vector<TensorEntry>& entries, std::span<const std::byte> data, uint64_t alignment,
                   const std::string& file) {
  std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
  uint64_t end_of_previous = 0;
  for (TensorEntry& entry : entries) {
    TensorInfo& info = entry.info;
    if (entry.offset % alignment != 0) fail_at(file, entry, fmt::format("is not aligned to {} bytes", alignment));
    if (entry.offset < end_of_previous) fail_at(file, entry, "overlaps the tensor before it");
    if (entry.offset > data.size() || info.bytes > data.size() - entry.offset) {
      fail_at(file, entry, fmt::format("has {} bytes, which exceed the data section of {}", info.bytes, data.size()));
    }
    info.data = data.data() + entry.offset;
    end_of_previous = entry.offset + info.bytes;
  }
}

/// What follows `position`, padded to the alignment; empty if the file ends before.
std::span<const std::byte> data_section(std::span<const std::byte> file, uint64_t position, uint64_t alignment) {
  const uint64_t padding = (alignment - position % alignment) % alignment;
  return padding > file.size() - position ? std::span<const std::byte>() : file.subspan(position + padding);
}

}  // namespace

std::unique_ptr<ModelFile> open_gguf(const std::string& path) {
  auto model = std::make_unique<ParsedModel>(ModelFormat::kGguf, path);
  const MappedFile& map = model->maps_.emplace_back(path);
  ByteReader in(map.bytes(), path);
  in.set_context("header");
  check_version(in);
  const size_t tensor_count = in.read_count(kMinTensorBytes, "tensors");
  const size_t pair_count = in.read_count(kMinGgufPairBytes, "keys");
  model->metadata_ = read_gguf_metadata(in, pair_count, path);

  std::vector<TensorEntry> entries;
  for (size_t i = 0; i < tensor_count; ++i) {
    in.set_context(fmt::format("tensor {} of {}", i + 1, tensor_count));
    entries.push_back(read_tensor(in, path));
  }
  const uint64_t alignment = read_alignment(model->metadata_);
  place_tensors(entries, data_section(map.bytes(), in.position(), alignment), alignment, path);
  for (TensorEntry& entry : entries) model->tensors_.push_back(std::move(entry.info));
  sort_by_name(model->tensors_, path);
  return model;
}

}  // namespace atb
