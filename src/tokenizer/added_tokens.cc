#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <cstdint>

#include "tokenizer/pattern.h"
#include "tokenizer/utf8.h"

namespace atb {
namespace {

bool is_word_character(std::string_view character) {
  static const Pattern word(R"([\p{L}\p{Nl}\p{M}\p{Nd}\p{Pc}\x{200C}\x{200D}\x{24B6}-\x{24E9}])", "added tokens");
  std::vector<Pattern::Range> matches;
  word.find_all(character, matches);
  return !matches.empty();
}

std::string_view last_character(std::string_view text) {
  size_t begin = text.size();
  while (begin > 0 && text.size() - begin < 4) {
    if ((static_cast<uint8_t>(text[--begin]) & 0xC0) != 0x80) break;
  }
  return text.substr(begin);
}

bool touches_word(std::string_view text, size_t begin, size_t end) {
  const std::string_view rest = text.substr(end);
  return is_word_character(last_character(text.substr(0, begin))) ||
         (!rest.empty() && is_word_character(rest.substr(0, utf8_head(rest).length)));
}

size_t leading_space(std::string_view text) {
  size_t used = 0;
  while (used < text.size()) {
    const Utf8Head head = utf8_head(text.substr(used));
    if (head.kind != Utf8Head::kCharacter || !is_white_space(utf8_code(text.substr(used)))) break;
    used += head.length;
  }
  return used;
}

size_t trailing_space(std::string_view text) {
  size_t used = 0;
  while (used < text.size()) {
    const std::string_view last = last_character(text.substr(0, text.size() - used));
    if (leading_space(last) != last.size()) break;
    used += last.size();
  }
  return used;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.text.empty(); });
  std::stable_sort(tokens_.begin(), tokens_.end(), [](const auto& a, const auto& b) { return a.text < b.text; });
  for (const AddedToken& token : tokens_) starts_.set(static_cast<uint8_t>(token.text[0]));
}

const AddedToken* AddedTokens::longest_at(std::string_view text) const {
  const AddedToken* longest = nullptr;
  auto first = tokens_.begin(), last = tokens_.end();
  // Byte by byte, [first, last) is narrowed to the tokens that start like the text.
  for (size_t depth = 0; first != last && depth < text.size(); ++depth) {
    const auto byte = static_cast<uint8_t>(text[depth]);
    const auto at = [depth](const AddedToken& t) {
      return depth < t.text.size() ? static_cast<uint8_t>(t.text[depth]) : -1;
    };
    first = std::partition_point(first, last, [&](const AddedToken& t) { return at(t) < byte; });
    last = std::partition_point(first, last, [&](const AddedToken& t) { return at(t) <= byte; });
    if (first != last && first->text.size() == depth + 1) longest = &*first;
  }
  return longest;
}

void AddedTokens::split(std::string_view text, bool trusted, std::vector<Fragment>& out) const {
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = starts_[static_cast<uint8_t>(text[at])] ? longest_at(text.substr(at)) : nullptr;
    const size_t end = at + (token ? token->text.size() : 1);
    const bool refused = token && ((token->control && !trusted) || (token->single_word && touches_word(text, at, end)));
    if (token && !refused) {
      if (done < at) out.push_back({nullptr, std::string(text.substr(done, at - done))});
      out.push_back({token, ""});
      done = end;
    }
    at = end;
  }
  if (done < text.size()) out.push_back({nullptr, std::string(text.substr(done))});
}

std::vector<Fragment> strip_and_join(std::vector<Fragment> fragments) {
  std::vector<Fragment> out;
  bool strip_right = false;
  for (Fragment& fragment : fragments) {
    if (fragment.token) {
      if (fragment.token->strip_left && !out.empty() && !out.back().token) {
        out.back().text.resize(out.back().text.size() - trailing_space(out.back().text));
      }
      strip_right = fragment.token->strip_right;
      out.push_back(std::move(fragment));
      continue;
    }
    if (strip_right) fragment.text.erase(0, leading_space(fragment.text));
    if (fragment.text.empty()) continue;
    strip_right = false;
    if (!out.empty() && !out.back().token) {
      out.back().text += fragment.text;
    } else {
      out.push_back(std::move(fragment));
    }
  }
  return out;
}

}  // namespace atb
