// Finds stop strings in a stream of text, also across the pieces it comes in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atb {

class StopStrings {
 public:
  /// Error{kUsage} for an empty stop string.
  explicit StopStrings(std::vector<std::string> stops);

  /// Adds text and returns what is safe to show: all before a stop string, and nothing that may become one. After a
  /// match there is nothing more to show.
  std::string push(std::string_view text);
  std::string flush();  ///< what was held back, when no more text comes
  bool matched() const noexcept { return matched_; }

 private:
  size_t held_back() const;  ///< bytes at the end that may be the start of a stop string

  std::vector<std::string> stops_;
  std::string pending_;
  bool matched_ = false;
};

}  // namespace atb
