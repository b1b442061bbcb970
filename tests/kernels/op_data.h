// What the tests of operator kernels share: rows of random numbers, the fp64 reference on them, and one test instance
// per line of a kernel table.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernel_table.h"
#include "kernels/reference.h"
#include "support/isa_report.h"

namespace atb::testing {

/// Half the distance of neighbouring fp32 numbers around 1: what one rounding costs.
inline constexpr double kUnit = 0x1p-24;

using Floats = std::vector<float>;

inline Floats normal_floats(int64_t count, float mean = 0, float deviation = 1, uint32_t seed = 7) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(mean, deviation);
  Floats values(static_cast<size_t>(count));
  for (float& v : values) v = normal(random);
  return values;
}

inline RefTensor tensor(std::vector<int64_t> shape, const Floats& values) {
  return {std::move(shape), std::vector<double>(values.begin(), values.end())};
}

inline RefTensor reference(Op op, const Attrs& attrs, const std::vector<RefTensor>& inputs) {
  std::vector<const RefTensor*> pointers;
  for (const RefTensor& input : inputs) pointers.push_back(&input);
  return reference_of(op)(attrs, pointers);
}

inline bool same_bits(const Floats& a, const Floats& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

/// One test per variant of a kernel table; a variant that this CPU lacks counts as skipped.
template <class Fn>
class KernelTest : public ::testing::TestWithParam<Kernel<Fn>> {
 protected:
  void SetUp() override { ATB_REQUIRE_ISA(this->GetParam().isa); }
  Fn fn() const { return this->GetParam().fn; }
};

template <class Info>
std::string kernel_test_name(const Info& info) {
  std::string name = info.param.name;
  for (char& c : name)
    if (c == '/') c = '_';
  return name;
}

/// Runs a kernel on [0, count) at once and, again, in ranges of 1, 2, 3, ... ; the result must be the same bits.
template <class Run>
Floats run_in_ranges(int64_t count, Run run) {
  const Floats whole = run([&](auto fn, const auto& args) { fn(args, 0, count); });
  const Floats pieces = run([&](auto fn, const auto& args) {
    for (int64_t begin = 0, length = 1; begin < count; begin += length++)
      fn(args, begin, std::min(begin + length, count));
  });
  EXPECT_TRUE(same_bits(whole, pieces)) << "the result depends on how the work is cut";
  return whole;
}

}  // namespace atb::testing
