// Small text helpers for error messages and tables.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atb {

/// The candidate nearest to `name` by edit distance (for "did you mean"), empty if there are none.
std::string nearest_name(std::string_view name, const std::vector<std::string>& candidates);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Bytes as "1.5 MiB".
std::string format_bytes(double bytes);

}  // namespace atb
