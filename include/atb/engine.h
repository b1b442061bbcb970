// Load a model, tokenize, generate.
//
// Ownership: a Model owns its weights; copies share them. A Session owns its KV cache and shares the model's weights.
// Thread-safety: a Model may be used from several threads; steps of the model wait for each other (one computes at a
// time), callbacks run outside of them. A Session belongs to one thread at a time.
// Errors: atb::Error, see error.h; a failed call leaves the Model as it was.
#pragma once

#include <atb/dtype.h>
#include <atb/error.h>
#include <atb/fusion.h>

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
  std::optional<int> threads = {};             ///< default: what affinity, cgroup and cores allow
  std::optional<std::string> precision = {};   ///< "default", "fp32", "bf16"
  std::optional<std::string> kv_type = {};     ///< "f32", "f16", "bf16"; default: f32 with precision "fp32", else the
                                               ///< dtype of the model's weights, f16 for block formats
  std::optional<std::string> max_isa = {};     ///< "portable", "avx2", ..., "amx"
  std::optional<int64_t> context = {};         ///< tokens; default: the model's context length, at most 8192
  std::optional<int64_t> prefill_block = {};   ///< tokens per prefill step; default 256
  std::optional<std::string> graph_text = {};  ///< as printed by Model::graph_text(): runs instead of the model's own
  FusionOptions fusion = {};                   ///< which operators run as one kernel; the results are the same bits.
                                               ///< Fusion is off unless `fusion.fusion` or ATB_OP_FUSION says "on"
};

/// The filters work in this order: repetition penalty, temperature, top-k, top-p, min-p, then one draw from what is
/// left. The same seed and logits give the same tokens everywhere. A value outside its range is Error{kUsage}.
struct SamplingOptions {
  double temperature = 0.0;     ///< >= 0; 0: the most likely token, the lowest id among equals
  int64_t top_k = 0;            ///< >= 0; keeps the k most likely tokens; 0: off
  double top_p = 1.0;           ///< (0, 1]; keeps the fewest most likely tokens that hold this probability; 1: off
  double min_p = 0.0;           ///< [0, 1]; drops tokens less likely than this times the most likely one; 0: off
  double repeat_penalty = 1.0;  ///< > 0; logits of recent tokens are divided by it (multiplied if negative); 1: off
  int64_t repeat_last_n = 64;   ///< >= 0; how many tokens are recent, those of the prompt included
  uint64_t seed = 0;
};

struct GenerateOptions {
  int64_t max_tokens = 128;  ///< >= 0
  SamplingOptions sampling = {};
  std::vector<std::string> stop = {};    ///< generation ends before the first of these; no part of it is streamed
  bool ignore_eos = false;               ///< goes on after an end-of-sequence token
  bool parse_special = false;            ///< control tokens in the prompt's text
  std::function<bool()> cancelled = {};  ///< asked before every step of the model; true ends the generation
};

enum class FinishReason { kEos, kStop, kLength, kContext, kCancelled };
const char* finish_reason_name(FinishReason reason) noexcept;  ///< "eos", "stop", "length", "context", "cancelled"

struct GenerateResult {
  std::string text;
  std::vector<TokenId> tokens;  ///< without the end-of-sequence token that ended it
  FinishReason finish_reason = FinishReason::kLength;
  int64_t prompt_tokens = 0;
  int64_t cached_tokens = 0;                              ///< of the prompt, not computed again (Session)
  double prefill_s = 0, decode_s = 0, first_token_s = 0;  ///< seconds
  double prefill_tok_s() const;                           ///< prompt tokens computed per second
  double decode_tok_s() const;                            ///< tokens per second after the first; 0 if there were none
};

/// Called with each piece of text as it is final (whole characters only). Return false to cancel.
using TextCallback = std::function<bool(std::string_view piece)>;

struct ChatTurn {
  std::string role, content;
};

/// The tokens around a text, as the vocabulary spells them; empty where the model has none.
struct SpecialTokens {
  std::optional<TokenId> bos = {};
  std::string bos_text = {}, eos_text = {};
  std::vector<TokenId> eos = {};  ///< every token that ends generation; eos_text is the first
  bool adds_bos = false;          ///< tokenize() begins with bos
};

/// What `atb info` says of a loaded model.
struct ModelDescription {
  std::string path, architecture, weight_types, isa, cube, vector, precision, kv_type;
  int64_t layers, hidden_size, intermediate_size, heads, kv_heads, head_dim, vocab_size, parameters;
  int64_t context;      ///< tokens that a sequence may have as loaded
  int64_t max_context;  ///< tokens that the model was trained for
  int threads;
  double load_s;             ///< seconds that Model::load took
  double kernels_per_layer;  ///< launches of the plan's steps that belong to layers, per layer
};

class Session;

class Model {
 public:
  /// A GGUF file or a Hugging Face folder.
  static Model load(const std::string& path, const LoadOptions& options = {});

  const ModelDescription& description() const;
  std::string graph_text() const;  ///< the graph that runs

  // Text needs the model's tokenizer. A model without one loads and works on ids; these calls then throw the reason.
  std::vector<TokenId> tokenize(std::string_view text, bool add_special = true, bool parse_special = false) const;
  std::string detokenize(const std::vector<TokenId>& tokens) const;
  int64_t vocab_size() const;
  SpecialTokens special_tokens() const;
  std::vector<TokenId> chat_tokens(const std::vector<ChatTurn>& turns) const;  ///< with the model's chat template
  const std::string& chat_template() const;

  /// Continues the prompt. An empty one starts from the model's BOS token; without one it is Error{kUsage}. A prompt
  /// longer than the context is Error{kResources} with both numbers. Without a tokenizer the result has no text, and
  /// generation does not know where the model would end.
  GenerateResult generate(std::string_view prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {}) const;
  GenerateResult generate(const std::vector<TokenId>& prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {}) const;

  /// Logits of every position, row-major [tokens][vocab_size].
  std::vector<float> logits(const std::vector<TokenId>& tokens) const;

  Session session() const;

  struct Impl;

 private:
  explicit Model(std::shared_ptr<Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<Impl> impl_;
};

/// A sequence whose KV cache lives on between calls: what a prompt has in common with the tokens so far is not
/// computed again. A chat passes its whole history every time.
class Session {
 public:
  explicit Session(std::shared_ptr<Model::Impl> model);  ///< Model::session()
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  /// As Model::generate.
  GenerateResult generate(std::string_view prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {});
  GenerateResult generate(const std::vector<TokenId>& prompt, const GenerateOptions& options = {},
                          const TextCallback& on_text = {});

  /// Appends tokens to the sequence: logits of the last one, [vocab_size]. Error{kUsage} for no tokens or one outside
  /// the vocabulary, Error{kResources} for more than the context holds.
  std::vector<float> feed(const std::vector<TokenId>& tokens);

  int64_t length() const;         ///< tokens in the KV cache
  void truncate(int64_t length);  ///< forgets all but the first `length` tokens; Error{kUsage} for more than there are
  void reset() { truncate(0); }

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// This machine, for `atb info`.
struct MachineDescription {
  std::string cpu, isa;
  std::string cube;    ///< the matrix path per dtype: "avx512_vnni int8, avx512_bf16 bf16, avx512 fp32"
  std::string vector;  ///< "avx512", "avx2" or "portable"
  std::string threads_reason;
  int64_t l2_bytes, llc_bytes;  ///< of one core; the last level; 0 where the system does not tell
  int threads;
};
/// Error{kUsage} as Model::load for options and variables.
MachineDescription describe_machine(const LoadOptions& options = {});

}  // namespace atb
