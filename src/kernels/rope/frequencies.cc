#include <cmath>

#include "base/check.h"
#include "ir/infer.h"
#include "kernels/rope/rope.h"

namespace atb {

RopeFrequencies rope_frequencies(const RopeAttrs& attrs, std::span<const float> factors) {
  RopeTable table = rope_table(attrs);
  ATB_CHECK(factors.empty() || factors.size() == table.inverse_frequency.size());
  for (size_t i = 0; i < factors.size(); ++i) table.inverse_frequency[i] /= static_cast<double>(factors[i]);
  return {std::move(table.inverse_frequency), table.attention_factor};
}

void rope_angles(const RopeFrequencies& frequencies, const int32_t* positions, int64_t begin, int64_t end,
                 float* table) noexcept {
  const int64_t pairs = static_cast<int64_t>(frequencies.inverse.size());
  for (int64_t t = begin; t < end; ++t) {
    float* cosines = table + t * 2 * pairs;
    for (int64_t i = 0; i < pairs; ++i) {
      const double angle = positions[t] * frequencies.inverse[static_cast<size_t>(i)];
      cosines[i] = static_cast<float>(std::cos(angle) * frequencies.magnitude);
      cosines[pairs + i] = static_cast<float>(std::sin(angle) * frequencies.magnitude);
    }
  }
}

}  // namespace atb
