// Weights, activations and the fp64 answer for the matmul tests.
#pragma once

#include <atb/dtype.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <vector>

#include "base/half.h"
#include "io/block_formats.h"
#include "io/model_file.h"
#include "kernels/matmul/matmul.h"

namespace atb::testing {

/// Bytes that start at a multiple of 64.
class AlignedBytes {
 public:
  explicit AlignedBytes(size_t size)
      : data_(static_cast<std::byte*>(::operator new (std::max<size_t>(size, 1), std::align_val_t{64}))) {
    std::memset(data_.get(), 0xa5, size);
  }
  std::byte* data() noexcept { return data_.get(); }
  const std::byte* data() const noexcept { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* p) const noexcept { ::operator delete (p, std::align_val_t{64}); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

using Random = std::mt19937;

inline std::vector<float> random_floats(Random& random, int64_t count) {
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

inline uint16_t random_scale(Random& random, float low, float high) {
  return f32_to_f16(std::uniform_real_distribution<float>(low, high)(random));
}

/// Random bits with scales of a sensible size, for one block of each dtype.
template <typename Block>
void set_scales(Block& b, Random& random) {
  b.d = random_scale(random, 0.01f, 0.1f);
  if constexpr (requires { b.m; }) b.m = random_scale(random, -0.8f, -0.1f);
  if constexpr (requires { b.dmin; }) b.dmin = random_scale(random, 0.01f, 0.1f);
}

template <typename Block>
std::vector<std::byte> random_blocks(Random& random, int64_t elements) {
  std::vector<std::byte> data(static_cast<size_t>(elements / Block::kElements) * sizeof(Block));
  for (std::byte& byte : data) byte = static_cast<std::byte>(random());
  for (size_t at = 0; at < data.size(); at += sizeof(Block)) {
    Block block;
    std::memcpy(&block, &data[at], sizeof block);
    set_scales(block, random);
    std::memcpy(&data[at], &block, sizeof block);
  }
  return data;
}

template <typename Stored, typename Convert>
std::vector<std::byte> random_plain(Random& random, int64_t elements, Convert convert) {
  std::vector<std::byte> data(static_cast<size_t>(elements) * sizeof(Stored));
  const auto values = random_floats(random, elements);
  for (size_t i = 0; i < values.size(); ++i) {
    const Stored stored = convert(values[i]);
    std::memcpy(&data[i * sizeof stored], &stored, sizeof stored);
  }
  return data;
}

inline std::vector<std::byte> random_weights(DType dtype, Random& random, int64_t elements) {
  switch (dtype) {
    case DType::kF16:
      return random_plain<uint16_t>(random, elements, f32_to_f16);
    case DType::kBF16:
      return random_plain<uint16_t>(random, elements, f32_to_bf16);
    case DType::kF64:
      return random_plain<double>(random, elements, [](float v) { return double{v}; });
    case DType::kQ4_0:
      return random_blocks<BlockQ4_0>(random, elements);
    case DType::kQ4_1:
      return random_blocks<BlockQ4_1>(random, elements);
    case DType::kQ5_0:
      return random_blocks<BlockQ5_0>(random, elements);
    case DType::kQ5_1:
      return random_blocks<BlockQ5_1>(random, elements);
    case DType::kQ8_0:
      return random_blocks<BlockQ8_0>(random, elements);
    case DType::kQ4_K:
      return random_blocks<BlockQ4_K>(random, elements);
    case DType::kQ5_K:
      return random_blocks<BlockQ5_K>(random, elements);
    case DType::kQ6_K:
      return random_blocks<BlockQ6_K>(random, elements);
    default:
      return random_plain<float>(random, elements, [](float v) { return v; });
  }
}

/// A weight matrix and its values.
struct Weights {
  WeightSource source;
  std::vector<std::byte> bytes;
  std::vector<float> values;  ///< [n][k]

  Weights(DType dtype, int64_t n, int64_t k, Random& random)
      : source{dtype, nullptr, n, k}, bytes(random_weights(dtype, random, n * k)), values(static_cast<size_t>(n * k)) {
    source.data = bytes.data();
    dequantize(dtype, bytes.data(), 0, n * k, values.data());
  }
};

struct Packed {
  PackedFormat format;
  AlignedBytes panels;

  Packed(const WeightSource& source, const PackedFormat& wanted)
      : format(wanted), panels(static_cast<size_t>(panel_count(source.n)) * panel_bytes(wanted, source.k)) {
    pack_panels(source, format, 0, panel_count(source.n), panels.data());
  }
};

/// Rows as a kernel reads them, and the values that they stand for.
struct Activations {
  std::vector<float> x;
  ActivationLayout layout;
  AlignedBytes prepared;
  int64_t row_bytes;
  std::vector<double> values;  ///< [m][k]

  Activations(const MatMulKernel& kernel, const PackedFormat& format, std::vector<float> rows, int64_t m, int64_t k)
      : x(std::move(rows)),
        layout(activation_layout(kernel, format, k)),
        prepared(static_cast<size_t>(m) * layout.row_bytes()),
        row_bytes(kernel.prepare == nullptr ? k * 4 : static_cast<int64_t>(layout.row_bytes())),
        values(static_cast<size_t>(m * k)) {
    if (kernel.prepare != nullptr) kernel.prepare(layout, x.data(), k, prepared.data(), 0, m);
    for (int64_t i = 0; i < m * k; ++i) values[static_cast<size_t>(i)] = value(i / k, i % k);
  }
  const std::byte* data() const {
    return layout.format == ActivationFormat::kF32 ? reinterpret_cast<const std::byte*>(x.data()) : prepared.data();
  }

 private:
  double value(int64_t row, int64_t k) const {
    const std::byte* at = data() + row * row_bytes;
    if (layout.format == ActivationFormat::kInt8) return int8_value(at + k / layout.group * (layout.group + 16), k);
    if (layout.format == ActivationFormat::kF32) return read<float>(at + k * 4);
    return double{bf16_to_f32(read<uint16_t>(at + k * 2))};
  }
  double int8_value(const std::byte* group, int64_t k) const {
    return double{read<GroupStats>(group + layout.group).scale} * read<int8_t>(group + k % layout.group);
  }
  template <typename T>
  static T read(const std::byte* p) {
    T v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
};

/// The exact product and how far fp32 may be from it.
struct Answer {
  double value, tolerance;
};

/// Each of the additions and roundings of an output is off by at most 2^-24 of the sum of magnitudes so far (N. Higham,
/// Accuracy and Stability of Numerical Algorithms, section 3.1), twice that for a rounded product. Block formats add
/// scale * q and min of a group apart: each is at most twice the largest weight of a group, which holds for the random
/// blocks of these tests.
inline Answer exact_answer(const Activations& a, const Weights& w, int64_t row, int64_t n) {
  const int64_t k = w.source.k, group = a.layout.format == ActivationFormat::kInt8 ? a.layout.group : 1;
  const double* x = &a.values[static_cast<size_t>(row * k)];
  const float* y = &w.values[static_cast<size_t>(n * k)];
  Answer answer{0, 0};
  for (int64_t g = 0; g < k; g += group) {
    double magnitude = 0, largest = 0;
    for (int64_t i = g; i < std::min(g + group, k); ++i) {
      answer.value += x[i] * y[i];
      magnitude += std::abs(x[i]);
      largest = std::max(largest, std::abs(double{y[i]}));
    }
    answer.tolerance += (group > 1 ? 4 : 1) * magnitude * largest;
  }
  const double additions = static_cast<double>(k) / static_cast<double>(group) * (group > 1 ? 2 : 1);
  answer.tolerance *= (additions + 4) * 2 * 0x1p-24;
  return answer;
}

}  // namespace atb::testing
