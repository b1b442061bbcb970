#include "io/printable.h"

#include <fmt/format.h>

namespace atb {

std::string printable(std::string_view text) {
  constexpr size_t kMaxBytes = 80;
  std::string out = "'";
  for (const char c : text.substr(0, kMaxBytes)) {
    if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + (text.size() > kMaxBytes ? "...'" : "'");
}

}  // namespace atb
