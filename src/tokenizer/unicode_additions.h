// Characters that Unicode 15, 15.1 and 16 added. PCRE2 10.42 knows Unicode 14, the Hugging Face library knows 16, and a
// character must be of the same category in both.
#pragma once

#include <string>
#include <string_view>

namespace atb {

/// The additions of a general category ("L", "Lu", "Nd", ...), as members of a PCRE2 character class; empty for other
/// properties.
std::string unicode_additions(std::string_view category);

}  // namespace atb
