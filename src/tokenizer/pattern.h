// Regular expressions of pre-tokenisers. They are written for Oniguruma (Ruby syntax), which the Hugging Face library
// uses; here PCRE2 runs them, after the few places where the two differ have been rewritten or refused.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace atb {

class Pattern {
 public:
  struct Range {
    size_t begin, end;
  };

  /// Error{kModel} naming `where` if the expression is malformed or means something else to PCRE2.
  Pattern(std::string_view expression, const std::string& where);

  /// Appends all matches from left to right. Bytes that are not valid UTF-8 match nothing. Thread-safe.
  void find_all(std::string_view text, std::vector<Range>& matches) const;

 private:
  std::shared_ptr<const void> code_;
};

/// The expression as PCRE2 has to read it. Error{kModel} for what cannot be translated.
std::string translate_pattern(std::string_view expression, const std::string& where);

/// An expression that matches `text` itself.
std::string escape_pattern(std::string_view text);

}  // namespace atb
