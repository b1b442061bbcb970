// Hyperparameters of a model, read by one key for both formats. Files are untrusted: a size is checked before it is
// used in a product.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/model_file.h"

namespace atb {

/// A value's name in GGUF metadata (after "<architecture>.") and in config.json; nullptr where a format has none.
struct ConfigKey {
  const char *gguf, *hf;
};

class Config {
 public:
  explicit Config(const ModelFile& file);

  bool is_gguf() const noexcept { return gguf_; }
  const Metadata& metadata() const noexcept { return metadata_; }
  std::string name(ConfigKey key) const;  ///< as the file spells it: "llama.block_count"

  /// A size in [1, 2^24]. A missing key or another value is Error{kModel} naming file, key and value.
  int64_t require_size(ConfigKey key) const;
  std::optional<int64_t> get_size(ConfigKey key) const;
  std::optional<int64_t> get_int(ConfigKey key) const;
  std::optional<double> get_double(ConfigKey key) const;
  std::optional<bool> get_bool(ConfigKey key) const;
  std::optional<std::string> get_string(ConfigKey key) const;
  /// A finite number above zero.
  std::optional<double> get_positive(ConfigKey key) const;

  /// Error{kModel} about a value of this file.
  [[noreturn]] void fail(ConfigKey key, std::string message, std::string hint) const;

 private:
  const Metadata& metadata_;
  bool gguf_;
  std::string prefix_;
};

/// What every decoder names alike.
namespace config_keys {
inline constexpr ConfigKey kLayers = {"block_count", "num_hidden_layers"};
inline constexpr ConfigKey kHiddenSize = {"embedding_length", "hidden_size"};
inline constexpr ConfigKey kIntermediateSize = {"feed_forward_length", "intermediate_size"};
inline constexpr ConfigKey kHeads = {"attention.head_count", "num_attention_heads"};
inline constexpr ConfigKey kKvHeads = {"attention.head_count_kv", "num_key_value_heads"};
inline constexpr ConfigKey kHeadDim = {"attention.key_length", "head_dim"};
inline constexpr ConfigKey kValueHeadDim = {"attention.value_length", nullptr};
inline constexpr ConfigKey kContextLength = {"context_length", "max_position_embeddings"};
inline constexpr ConfigKey kVocabSize = {"vocab_size", "vocab_size"};
inline constexpr ConfigKey kRmsNormEps = {"attention.layer_norm_rms_epsilon", "rms_norm_eps"};
inline constexpr ConfigKey kWindow = {"attention.sliding_window", "sliding_window"};
}  // namespace config_keys

}  // namespace atb
