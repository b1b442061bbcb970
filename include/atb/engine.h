// Load a model, tokenize, generate.
//
// Ownership: a Model owns its weights; copies share them. A generation owns its own KV cache.
// Thread-safety: a Model may be used from several threads; calls that compute wait for each other (one computes at a
// time). Errors: atb::Error, see error.h; a failed call leaves the Model as it was.
#pragma once

#include <atb/dtype.h>
#include <atb/error.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace atb {

using TokenId = int32_t;

/// How to load. An empty field takes the environment variable (ATB_NUM_THREADS, ATB_PRECISION, ATB_MAX_ISA), then the
/// default.
struct LoadOptions {
  std::optional<int> threads;             ///< default: what affinity, cgroup and cores allow
  std::optional<std::string> precision;   ///< "default", "fp32", "bf16"
  std::optional<std::string> kv_type;     ///< "f32", "f16", "bf16"; default: the model's dtype, f16 for block formats
  std::optional<std::string> max_isa;     ///< "portable", "avx2", ..., "amx"
  std::optional<int64_t> context;         ///< tokens; default: the model's context length, at most 8192
  std::optional<int64_t> prefill_block;   ///< tokens per prefill step; default 256
  std::optional<std::string> graph_text;  ///< a graph as printed by Model::graph_text(), run instead of the model's own
};

struct SamplingOptions {
  double temperature = 0.0;  ///< 0: greedy
  int64_t top_k = 0;         ///< 0: off
  double top_p = 1.0;        ///< 1: off
  double min_p = 0.0;        ///< 0: off
  double repeat_penalty = 1.0;
  int64_t repeat_last_n = 64;
  uint64_t seed = 0;
};

struct GenerateOptions {
  int64_t max_tokens = 128;
  SamplingOptions sampling;
  std::vector<std::string> stop;  ///< generation ends before the first of these
  bool ignore_eos = false;
  bool parse_special = false;  ///< control tokens in the prompt's text
};

enum class FinishReason { kEos, kStop, kLength, kContext, kCancelled };
const char* finish_reason_name(FinishReason reason) noexcept;  ///< "eos", "stop", "length", "context", "cancelled"

struct GenerateResult {
  std::string text;
  std::vector<TokenId> tokens;
  FinishReason finish_reason = FinishReason::kLength;
  int64_t prompt_tokens = 0;
  double prefill_s = 0, decode_s = 0, first_token_s = 0;  ///< seconds
  double prefill_tok_s() const;
  double decode_tok_s() const;
};

/// Called with each piece of text as it is final (whole characters only). Return false to cancel.
using TextCallback = std::function<bool(std::string_view piece)>;

struct ChatTurn {
  std::string role, content;
};

/// What `atb info` says of a loaded model.
struct ModelDescription {
  std::string path, architecture, weight_types, isa, cube, vector, precision, kv_type;
  int64_t layers, hidden_size, intermediate_size, heads, kv_heads, head_dim, vocab_size, context, parameters;
  int threads;
  double load_s;
  double kernels_per_layer;
};

class Model {
 public:
  /// A GGUF file or a Hugging Face folder.
  static Model load(const std::string& path, const LoadOptions& options = {});

  const ModelDescription& description() const;
  std::string graph_text() const;  ///< the graph that runs

  std::vector<TokenId> tokenize(std::string_view text, bool add_special = true, bool parse_special = false) const;
  std::string detokenize(const std::vector<TokenId>& tokens) const;
  int64_t vocab_size() const;
  std::vector<TokenId> chat_tokens(const std::vector<ChatTurn>& turns) const;  ///< with the model's chat template
  const std::string& chat_template() const;

  GenerateResult generate(std::string_view prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {}) const;
  GenerateResult generate(const std::vector<TokenId>& prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {}) const;

  /// Logits of every position, row-major [tokens][vocab_size].
  std::vector<float> logits(const std::vector<TokenId>& tokens) const;

  struct Impl;

 private:
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// This machine, for `atb info`.
struct MachineDescription {
  std::string cpu, isa, cube, vector, threads_reason;
  int64_t l2_bytes, llc_bytes;
  int threads;
};
MachineDescription describe_machine(const LoadOptions& options = {});

}  // namespace atb
