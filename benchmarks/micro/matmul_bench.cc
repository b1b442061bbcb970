// One thread of every matmul variant that this CPU runs. Decode (few rows) reads an arena of weights far larger than
// the caches and reports GB/s, beside read/arena, the plain read of as many bytes; prefill reports GOPS (two operations
// per product). Every case is checked against fp64 before it is timed.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "io/model_file.h"
#include "kernels/matmul/matmul.h"

namespace atb {
namespace {

constexpr size_t kArenaBytes = size_t{256} << 20;

class Buffer {
 public:
  explicit Buffer(size_t size) : data_(static_cast<std::byte*>(::operator new (size, std::align_val_t{4096}))) {
    std::memset(data_, 0, size);
  }
  ~Buffer() { ::operator delete (data_, std::align_val_t{4096}); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::byte* data() const noexcept { return data_; }

 private:
  std::byte* data_;
};

struct Case {
  MatMulKernel kernel;
  DType dtype;
  int64_t m, n, k;
};

/// Blocks of random integers; every 16-bit word that a block might use as a scale is a small number.
std::vector<std::byte> random_weights(DType dtype, int64_t elements) {
  const DTypeInfo& info = dtype_info(dtype);
  std::vector<std::byte> data(static_cast<size_t>(elements / info.block_size * info.block_bytes));
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  if (info.quantized) {
    const uint16_t scale = f32_to_f16(0.01f);
    for (auto& byte : data) byte = static_cast<std::byte>(random());
    for (size_t at = 0; at < data.size(); at += static_cast<size_t>(info.block_bytes)) {
      std::memcpy(&data[at], &scale, 2);
      std::memcpy(&data[at + 2], &scale, 2);
      std::memcpy(&data[at + static_cast<size_t>(info.block_bytes) - 2], &scale, 2);
    }
    return data;
  }
  for (size_t i = 0; i < data.size() / static_cast<size_t>(info.block_bytes); ++i) {
    const float value = normal(random);
    const uint16_t half = dtype == DType::kF16 ? f32_to_f16(value) : f32_to_bf16(value);
    if (info.block_bytes == 4)
      std::memcpy(&data[4 * i], &value, 4);
    else
      std::memcpy(&data[2 * i], &half, 2);
  }
  return data;
}

/// The operands of a case; the weight matrix is repeated until it fills `bytes`.
class Operands {
 public:
  Operands(const Case& c, size_t bytes)
      : case_(c),
        format_(exact_format(c.dtype)),
        layout_(activation_layout(c.kernel, format_, c.k)),
        x_(static_cast<size_t>(c.m * c.k)),
        a_(static_cast<size_t>(c.m) * layout_.row_bytes()),
        matrix_bytes_(static_cast<size_t>(panel_count(c.n)) * panel_bytes(format_, c.k)),
        copies_(std::max<size_t>(1, bytes / matrix_bytes_)),
        w_(copies_ * matrix_bytes_),
        c_(static_cast<size_t>(c.m * c.n)) {
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    for (float& v : x_) v = normal(random);
    source_ = random_weights(c.dtype, c.n * c.k);
    pack_panels({c.dtype, source_.data(), c.n, c.k}, format_, 0, panel_count(c.n), w_.data());
    for (size_t i = 1; i < copies_; ++i) std::memcpy(w_.data() + i * matrix_bytes_, w_.data(), matrix_bytes_);
  }

  void prepare() {
    if (case_.kernel.prepare != nullptr) case_.kernel.prepare(layout_, x_.data(), case_.k, a_.data(), 0, case_.m);
  }
  void multiply(size_t copy) {
    const bool plain = case_.kernel.prepare == nullptr;
    case_.kernel.run({plain ? reinterpret_cast<const std::byte*>(x_.data()) : a_.data(),
                      plain ? case_.k * 4 : static_cast<int64_t>(layout_.row_bytes()), w_.data() + copy * matrix_bytes_,
                      c_.data(), case_.n, case_.m, case_.n, case_.k, format_},
                     0, panel_count(case_.n));
  }
  /// Cosine of row 0 with the fp64 product of the unquantised activations.
  double cosine() const {
    double dot = 0, got2 = 0, want2 = 0;
    std::vector<float> w(static_cast<size_t>(case_.k));
    for (int64_t n = 0; n < case_.n; ++n) {
      dequantize(case_.dtype, source_.data(), n * case_.k, (n + 1) * case_.k, w.data());
      double want = 0;
      for (size_t i = 0; i < w.size(); ++i) want += double{w[i]} * x_[i];
      const double got = c_[static_cast<size_t>(n)];
      dot += got * want, got2 += got * got, want2 += want * want;
    }
    return dot / std::sqrt(got2 * want2);
  }
  size_t copies() const noexcept { return copies_; }
  size_t matrix_bytes() const noexcept { return matrix_bytes_; }

 private:
  Case case_;
  PackedFormat format_;
  ActivationLayout layout_;
  std::vector<float> x_;
  Buffer a_;
  size_t matrix_bytes_, copies_;
  Buffer w_;
  std::vector<float> c_;
  std::vector<std::byte> source_;
};

bool checked(benchmark::State& state, Operands& operands) {
  operands.prepare();
  operands.multiply(0);
  if (operands.cosine() > 0.999) return true;
  state.SkipWithError("wrong product");
  return false;
}

void decode(benchmark::State& state, const Case& c) {
  Operands operands(c, kArenaBytes);
  if (!checked(state, operands)) return;
  for (auto _ : state)
    for (size_t i = 0; i < operands.copies(); ++i) operands.multiply(i);
  const double bytes = static_cast<double>(operands.copies() * operands.matrix_bytes() * state.iterations());
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsRate);
}

void prefill(benchmark::State& state, const Case& c) {
  Operands operands(c, 0);
  if (!checked(state, operands)) return;
  for (auto _ : state) operands.multiply(0);
  const double operations = 2.0 * static_cast<double>(c.m * c.n * c.k * state.iterations());
  state.counters["GOPS"] = benchmark::Counter(operations * 1e-9, benchmark::Counter::kIsRate);
}

void prepare(benchmark::State& state, const Case& c) {
  Operands operands(c, 0);
  for (auto _ : state) operands.prepare();
  const double values = static_cast<double>(c.m * c.k * state.iterations());
  state.counters["Gvalues/s"] = benchmark::Counter(values * 1e-9, benchmark::Counter::kIsRate);
}

void read_arena(benchmark::State& state) {
  const Buffer arena(kArenaBytes);
  for (auto _ : state) {
    uint64_t sum = 0;
    for (size_t i = 0; i < kArenaBytes; i += 64) {
      uint64_t word;
      std::memcpy(&word, arena.data() + i, sizeof word);
      sum += word;
    }
    benchmark::DoNotOptimize(sum);
  }
  const double bytes = static_cast<double>(kArenaBytes * state.iterations());
  state.counters["GB/s"] = benchmark::Counter(bytes * 1e-9, benchmark::Counter::kIsRate);
}

constexpr DType kDTypes[] = {DType::kF32,  DType::kF16,  DType::kBF16, DType::kQ4_0,
                             DType::kQ4_1, DType::kQ8_0, DType::kQ6_K};

void register_kernel(const MatMulKernel& kernel) {
  for (const DType dtype : kDTypes) {
    if (exact_format(dtype).kind != kernel.kind) continue;
    const std::string name = std::string(kernel.name) + "/" + dtype_name(dtype);
    for (const int64_t m : {1, 4})
      benchmark::RegisterBenchmark((name + "/decode/" + std::to_string(m)).c_str(), decode,
                                   Case{kernel, dtype, m, 1536, 1536})
          ->Unit(benchmark::kMillisecond);
    for (const int64_t m : {32, 256})
      benchmark::RegisterBenchmark((name + "/prefill/" + std::to_string(m)).c_str(), prefill,
                                   Case{kernel, dtype, m, 1536, 1536})
          ->Unit(benchmark::kMillisecond);
    if (kernel.prepare != nullptr)
      benchmark::RegisterBenchmark((name + "/prepare").c_str(), prepare, Case{kernel, dtype, 32, 16, 1536});
  }
}

}  // namespace
}  // namespace atb

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("read/arena", atb::read_arena)->Unit(benchmark::kMillisecond);
  for (const atb::MatMulKernel& kernel : atb::matmul_kernels())
    if (atb::cpu_features().supports(kernel.isa)) atb::register_kernel(kernel);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
}
