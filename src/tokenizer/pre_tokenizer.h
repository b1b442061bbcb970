// Pre-tokenisation: a text is cut into pieces, and no token spans two of them.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/normalizer.h"
#include "tokenizer/pattern.h"

namespace atb {

/// One step: every piece so far is cut at the bounds of the pattern's matches.
struct SplitStep {
  enum class Drop { kNothing, kMatches, kGaps };

  Pattern pattern;
  Drop drop = Drop::kNothing;
  bool prefix_space = false;  ///< pieces get a space in front first, unless they have one
};

class PreTokenizer {
 public:
  explicit PreTokenizer(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

  /// The pieces of a text; they point into `text`, or into `added` where a space was put in front.
  std::vector<std::string_view> split(std::string_view text, std::deque<std::string>& added) const;

 private:
  std::vector<SplitStep> steps_;
};

/// What a value of GGUF's tokenizer.ggml.pre stands for.
struct NamedPreTokenizer {
  std::vector<std::string_view> names;
  std::vector<std::string_view> patterns;  ///< applied one after the other
  std::vector<NormalForm> normal_forms = {};
  bool ignore_merges = false;  ///< a piece that is in the vocabulary is that token
  bool adds_bos = false;       ///< unless the file says otherwise

  PreTokenizer build() const;
};

/// GPT-2's pattern, which byte-level pre-tokenisers use unless told otherwise.
std::string_view gpt2_pattern();
/// One numeric character.
std::string_view numeric_pattern();

/// Error{kModel} with the nearest known name for an unknown one.
const NamedPreTokenizer& named_pre_tokenizer(std::string_view name, const std::string& where);

}  // namespace atb
