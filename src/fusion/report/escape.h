// Names from files are untrusted wherever they are shown.
#pragma once

#include <string>
#include <string_view>

namespace atb {

/// Control bytes as \xNN, so a name can neither move a terminal's cursor nor start a line.
std::string for_terminal(std::string_view text);
/// Text or attribute value of HTML and SVG; control bytes become U+FFFD, as do bytes that are no UTF-8.
std::string for_html(std::string_view text);
/// The inside of a quoted string of DOT, taken literally.
std::string for_dot(std::string_view text);

}  // namespace atb
