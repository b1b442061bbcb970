#include "runtime/weights.h"

#include <algorithm>

namespace atb {

size_t PackedWeight::bytes() const noexcept {
  return static_cast<size_t>(panel_count(source.n)) * panel_bytes(format, source.k);
}

const PackedWeight& Weights::add(const WeightSource& source, const PackedFormat& format) {
  for (const auto& known : packed_)
    if (known.source.data == source.data && known.source.in_out == source.in_out && known.format == format)
      return known;
  return packed_.emplace_back(PackedWeight{source, format});
}

void Weights::pack(ThreadPool& pool) {
  size_t total = 0;
  for (const auto& w : packed_) total += w.bytes();
  arena_ = MemoryBlock(total, LargePages::kWanted, "packed weights");
  std::vector<std::byte*> targets;
  std::byte* next = arena_.data();
  for (auto& w : packed_) {
    w.panels = next;
    targets.push_back(next);
    next += w.bytes();
  }
  pool.run([&](int thread) {
    for (size_t i = 0; i < packed_.size(); ++i) {
      const PackedWeight& w = packed_[i];
      const Share share = even_share(panel_count(w.source.n), thread, pool.threads());
      const size_t skip = static_cast<size_t>(share.begin) * panel_bytes(w.format, w.source.k);
      pack_panels(w.source, w.format, share.begin, share.end, targets[i] + skip);
    }
  });
}

float* Weights::allocate(size_t count) {
  expanded_bytes_ += count * sizeof(float);
  return floats_.emplace_back(count).data();
}

const float* Weights::expand(const TensorInfo& tensor) {
  auto [known, is_new] = expanded_.try_emplace(tensor.data, nullptr);
  if (is_new) {
    float* values = allocate(static_cast<size_t>(tensor.elements()));
    dequantize(tensor.dtype, tensor.data, 0, tensor.elements(), values);
    known->second = values;
  }
  return known->second;
}

const float* Weights::repeat(float value, int64_t count) {
  float* values = allocate(static_cast<size_t>(count));
  std::fill_n(values, count, value);
  return values;
}

}  // namespace atb
