// Small text helpers for error messages and tables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace atb {

/// Levenshtein distance: the least number of bytes inserted, removed or replaced.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `name` by edit distance (for "did you mean"), empty if there are none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

/// ASCII letters only.
bool equal_ignoring_case(std::string_view a, std::string_view b) noexcept;

/// Without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text) noexcept;

/// The parts between separators, trimmed; empty parts are dropped.
std::vector<std::string> split(std::string_view text, char separator);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Bytes as "1.5 MiB".
std::string format_bytes(double bytes);

}  // namespace atb
