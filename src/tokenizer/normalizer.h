// Unicode normal forms (UAX #15), by utf8proc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atb {

/// The compatibility forms are left out: the Hugging Face library has an older version of them than utf8proc.
enum class NormalForm { kNfc, kNfd };

/// The text in the forms' composition, first one first. Bytes that are not valid UTF-8 stay as they are.
std::string normalize(std::string_view text, const std::vector<NormalForm>& forms);

}  // namespace atb
