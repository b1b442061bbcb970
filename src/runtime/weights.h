// The weights of a plan: matrices packed for their kernels in one arena in execution order, and small tensors
// (norm weights, biases) expanded to fp32.
#pragma once

#include <deque>
#include <map>
#include <vector>

#include "io/model_file.h"
#include "kernels/matmul/packed.h"
#include "runtime/memory_block.h"
#include "runtime/thread_pool.h"

namespace atb {

struct PackedWeight {
  WeightSource source;
  PackedFormat format;
  const std::byte* panels = nullptr;  ///< set by pack()

  size_t bytes() const noexcept;
};

class Weights {
 public:
  /// The weight that is packed from this source; the same source and format give the same weight. Addresses stay.
  const PackedWeight& add(const WeightSource& source, const PackedFormat& format);
  /// Packs everything that was added, on all threads of the pool. Once.
  void pack(ThreadPool& pool);

  /// A whole tensor in fp32.
  const float* expand(const TensorInfo& tensor);
  /// `count` times the same number.
  const float* repeat(float value, int64_t count);

  const std::deque<PackedWeight>& packed() const noexcept { return packed_; }
  size_t bytes() const noexcept { return arena_.size() + expanded_bytes_; }

 private:
  float* allocate(size_t count);

  std::deque<PackedWeight> packed_;
  std::map<const std::byte*, const float*> expanded_;
  std::deque<std::vector<float>> floats_;
  size_t expanded_bytes_ = 0;
  MemoryBlock arena_;
};

}  // namespace atb
