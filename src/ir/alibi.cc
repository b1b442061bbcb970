#include <cmath>

#include "ir/infer.h"

namespace atb {

// For a power of two n the slopes are 2^(-8/n), 2^(-16/n), ... (Press et al. 2022, section 3). Any other number of
// heads takes those of the power of two below, then every second slope of the power of two above.
std::vector<double> alibi_slopes(int64_t heads) {
  std::vector<double> slopes;
  if (heads <= 0) return slopes;
  int64_t power = 1;
  while (power <= heads / 2) power *= 2;
  for (int64_t i = 1; i <= power; ++i)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(power)));
  for (int64_t i = 1; static_cast<int64_t>(slopes.size()) < heads; i += 2)
    slopes.push_back(std::exp2(-4.0 * static_cast<double>(i) / static_cast<double>(power)));
  return slopes;
}

}  // namespace atb
