// Tokens that are found in the text before anything else: control tokens such as <|im_start|>, and whole words that
// were added to a trained vocabulary.
#pragma once

#include <bitset>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace atb {

struct AddedToken {
  std::string text;
  TokenId id;
  bool control = false;      ///< only in trusted text
  bool strip_left = false;   ///< takes the white space before it
  bool strip_right = false;  ///< takes the white space after it
  bool single_word = false;  ///< not inside of a word
};

/// A part of a text: an added token, or (token == nullptr) ordinary text.
struct Fragment {
  const AddedToken* token;
  std::string text;
};

/// The longest of a set of added tokens at the leftmost place, again and again.
class AddedTokens {
 public:
  /// Empty texts are left out.
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// Appends the fragments of `text`. Control tokens are ordinary text unless `trusted`.
  void split(std::string_view text, bool trusted, std::vector<Fragment>& out) const;
  bool empty() const { return tokens_.empty(); }

 private:
  const AddedToken* longest_at(std::string_view text) const;

  std::vector<AddedToken> tokens_;  ///< sorted by text
  std::bitset<256> starts_;         ///< first bytes
};

/// Takes the white space beside tokens that strip it, and joins neighbouring texts.
std::vector<Fragment> strip_and_join(std::vector<Fragment> fragments);

}  // namespace atb
