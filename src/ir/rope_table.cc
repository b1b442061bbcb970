// Frequencies of rotary embeddings and their scalings, as the config keys of Hugging Face models mean them.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "ir/infer.h"

namespace atb {
namespace {

using Frequencies = std::vector<double>;

void scale_linear(const RopeAttrs& a, Frequencies& frequencies) {
  for (double& f : frequencies) f /= a.factor;
}

// Llama 3.1: wavelengths above original_context/low are stretched by `factor`, those below original_context/high are
// kept, and between them the two are blended linearly in original_context/wavelength.
void scale_llama3(const RopeAttrs& a, Frequencies& frequencies) {
  const auto context = static_cast<double>(a.original_context);
  for (double& f : frequencies) {
    const double turns = context * f / (2 * std::numbers::pi);  // original_context / wavelength
    const double keep = (turns - a.low_freq_factor) / (a.high_freq_factor - a.low_freq_factor);
    f *= std::lerp(1 / a.factor, 1.0, std::clamp(keep, 0.0, 1.0));
  }
}

// The pair whose angle turns `rotations` times over the original context (Peng et al. 2023, section 3.2).
double yarn_pair(const RopeAttrs& a, double rotations) {
  const double wavelength = static_cast<double>(a.original_context) / (rotations * 2 * std::numbers::pi);
  return static_cast<double>(a.rotary_dim) * std::log(wavelength) / (2 * std::log(a.theta));
}

// YaRN: fast pairs are kept, slow pairs interpolated, a linear ramp over the pairs between.
void scale_yarn(const RopeAttrs& a, Frequencies& frequencies) {
  const double low = std::max(std::floor(yarn_pair(a, a.beta_fast)), 0.0);
  double high = std::min(std::ceil(yarn_pair(a, a.beta_slow)), static_cast<double>(a.rotary_dim - 1));
  if (high == low) high += 0.001;  // as transformers does, so that the ramp has a slope
  for (size_t i = 0; i < frequencies.size(); ++i) {
    const double ramp = std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= std::lerp(1.0, 1 / a.factor, ramp);
  }
}

// YaRN: 0.1 ln(factor) + 1 (Peng et al. 2023, equation 22), unless the config says another.
double attention_factor(const RopeAttrs& a) {
  if (a.attention_factor > 0) return a.attention_factor;
  return a.scaling == RopeScaling::kYarn && a.factor > 1 ? 0.1 * std::log(a.factor) + 1.0 : 1.0;
}

}  // namespace

RopeTable rope_table(const RopeAttrs& a) {
  RopeTable table{Frequencies(static_cast<size_t>(a.rotary_dim / 2)), attention_factor(a)};
  for (size_t i = 0; i < table.inverse_frequency.size(); ++i)
    table.inverse_frequency[i] = std::pow(a.theta, -2.0 * static_cast<double>(i) / static_cast<double>(a.rotary_dim));
  switch (a.scaling) {
    case RopeScaling::kNone:
      break;
    case RopeScaling::kLinear:
      scale_linear(a, table.inverse_frequency);
      break;
    case RopeScaling::kLlama3:
      scale_llama3(a, table.inverse_frequency);
      break;
    case RopeScaling::kYarn:
      scale_yarn(a, table.inverse_frequency);
      break;
  }
  return table;
}

}  // namespace atb
