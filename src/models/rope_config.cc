#include "models/rope_config.h"

#include <fmt/format.h>

#include <cmath>

#include "base/text.h"

namespace atb {
namespace {

struct ScalingName {
  const char* name;
  RopeScaling scaling;
};
constexpr ScalingName kScalingNames[] = {{"none", RopeScaling::kNone},
                                         {"default", RopeScaling::kNone},
                                         {"linear", RopeScaling::kLinear},
                                         {"llama3", RopeScaling::kLlama3},
                                         {"yarn", RopeScaling::kYarn}};

RopeScaling parse_scaling(const Config& config, ConfigKey key) {
  const std::string name = config.get_string(key).value_or("none");
  std::vector<std::string> known;
  for (const ScalingName& row : kScalingNames) {
    if (name == row.name) return row.scaling;
    known.emplace_back(row.name);
  }
  config.fail(key, "RoPE scaling '" + name + "' is not supported", "supported are " + join(known, ", "));
}

void require_factor(const Config& config, ConfigKey key, RopeAttrs& attrs) {
  if (attrs.scaling == RopeScaling::kNone) return;
  const std::optional<double> factor = config.get_positive(key);
  if (!factor) config.fail(key, "the scaling factor is missing", "the config is incomplete");
  attrs.factor = *factor;
}

/// YaRN's temperature for a stretch of `factor` (Peng et al. 2023, eq. 22).
double yarn_temperature(double factor, double weight = 1.0) {
  return factor <= 1.0 ? 1.0 : 0.1 * weight * std::log(factor) + 1.0;
}

void read_gguf_scaling(const Config& config, int64_t context_length, RopeAttrs& attrs) {
  constexpr ConfigKey kType = {"rope.scaling.type", nullptr}, kFactor = {"rope.scaling.factor", nullptr};
  constexpr ConfigKey kOldLinear = {"rope.scale_linear", nullptr};
  constexpr ConfigKey kOriginal = {"rope.scaling.original_context_length", nullptr};
  constexpr ConfigKey kAttention = {"rope.scaling.attn_factor", nullptr};
  attrs.pairing = RopePairing::kInterleaved;
  attrs.scaling = parse_scaling(config, kType);
  if (const auto linear = config.get_positive(kOldLinear); linear && attrs.scaling == RopeScaling::kNone) {
    attrs.scaling = RopeScaling::kLinear;
    attrs.factor = *linear;
    return;
  }
  require_factor(config, kFactor, attrs);
  if (attrs.scaling != RopeScaling::kYarn) return;
  attrs.original_context = config.get_size(kOriginal).value_or(context_length);
  // GGUF's factor multiplies the temperature; ours replaces it.
  if (const auto factor = config.get_positive(kAttention)) {
    attrs.attention_factor = *factor * yarn_temperature(attrs.factor);
  }
}

/// The keys of one settings object: "rope_parameters.factor" or "rope_scaling.factor".
class HfRope {
 public:
  explicit HfRope(const Config& config) : config_(config), prefix_(find_prefix(config.metadata())) {}

  std::string name(const char* key) const { return prefix_ + key; }
  std::optional<double> positive(const char* key) const { return config_.get_positive({nullptr, name(key).c_str()}); }
  std::optional<int64_t> size(const char* key) const { return config_.get_size({nullptr, name(key).c_str()}); }
  bool has(const char* key) const { return config_.metadata().contains(name(key)); }

 private:
  static std::string find_prefix(const Metadata& metadata) {
    constexpr std::string_view kNew = "rope_parameters.";
    const auto it = metadata.values().lower_bound(kNew);
    const bool found = it != metadata.values().end() && it->first.starts_with(kNew);
    return found ? std::string(kNew) : "rope_scaling.";
  }

  const Config& config_;
  std::string prefix_;
};

void read_llama3(const HfRope& rope, RopeAttrs& attrs) {
  attrs.low_freq_factor = rope.positive("low_freq_factor").value_or(attrs.low_freq_factor);
  attrs.high_freq_factor = rope.positive("high_freq_factor").value_or(attrs.high_freq_factor);
}

void read_yarn(const HfRope& rope, RopeAttrs& attrs) {
  attrs.beta_fast = rope.positive("beta_fast").value_or(attrs.beta_fast);
  attrs.beta_slow = rope.positive("beta_slow").value_or(attrs.beta_slow);
  const auto mscale = rope.positive("mscale"), mscale_all_dim = rope.positive("mscale_all_dim");
  if (const auto factor = rope.positive("attention_factor")) {
    attrs.attention_factor = *factor;
  } else if (mscale && mscale_all_dim) {
    attrs.attention_factor = yarn_temperature(attrs.factor, *mscale) / yarn_temperature(attrs.factor, *mscale_all_dim);
  }
}

void read_hf_scaling(const Config& config, int64_t context_length, RopeAttrs& attrs) {
  const HfRope rope(config);
  if (const auto theta = rope.positive("rope_theta")) attrs.theta = *theta;
  const std::string type = rope.name(rope.has("rope_type") ? "rope_type" : "type"), factor = rope.name("factor");
  attrs.scaling = parse_scaling(config, {nullptr, type.c_str()});
  require_factor(config, {nullptr, factor.c_str()}, attrs);
  if (attrs.scaling == RopeScaling::kNone) return;
  attrs.original_context = rope.size("original_max_position_embeddings").value_or(context_length);
  if (attrs.scaling == RopeScaling::kLlama3) read_llama3(rope, attrs);
  if (attrs.scaling == RopeScaling::kYarn) read_yarn(rope, attrs);
}

int64_t read_rotary_dim(const Config& config, int64_t head_dim) {
  constexpr ConfigKey kDim = {"rope.dimension_count", nullptr}, kPartial = {nullptr, "partial_rotary_factor"};
  const double partial = config.is_gguf() ? 1.0 : config.get_positive(kPartial).value_or(1.0);
  const int64_t dim = config.is_gguf() ? config.get_size(kDim).value_or(head_dim)
                                       : static_cast<int64_t>(static_cast<double>(head_dim) * std::min(partial, 2.0));
  if (dim >= 1 && dim <= head_dim && dim % 2 == 0) return dim;
  config.fail(config.is_gguf() ? kDim : kPartial,
              fmt::format("{} rotary components, expected an even number up to {}", dim, head_dim),
              "the file's config contradicts itself");
}

}  // namespace

RopeAttrs read_rope(const Config& config, int64_t head_dim, int64_t context_length) {
  RopeAttrs attrs;
  attrs.head_dim = head_dim;
  attrs.rotary_dim = read_rotary_dim(config, head_dim);
  attrs.theta = config.get_positive({"rope.freq_base", "rope_theta"}).value_or(attrs.theta);
  (config.is_gguf() ? read_gguf_scaling : read_hf_scaling)(config, context_length, attrs);
  return attrs;
}

}  // namespace atb
