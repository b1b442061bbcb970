// Unicode normal forms (UAX #15), by utf8proc.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atb {

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };

/// The text in the forms' composition, first one first. Bytes that are not valid UTF-8 stay as they are.
std::string normalize(std::string_view text, const std::vector<NormalForm>& forms);

}  // namespace atb
