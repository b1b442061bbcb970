// Names from untrusted files inside one-line error messages.
#pragma once

#include <string>
#include <string_view>

namespace atb {

/// `text` in single quotes: printable ASCII as it is, every other byte as \xNN, cut after 80 bytes with "...".
std::string printable(std::string_view text);

}  // namespace atb
