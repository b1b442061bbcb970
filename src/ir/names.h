// Which texts are names in a graph.
#pragma once

#include <string>
#include <string_view>

namespace atb {

/// [A-Za-z_][A-Za-z0-9_]*: symbolic dimensions.
bool is_symbol_name(std::string_view name) noexcept;

/// [A-Za-z0-9_.]: what the names of values are made of.
bool is_value_char(char c) noexcept;
bool is_value_name(std::string_view name) noexcept;

/// In double quotes, with \" \\ \n \t and \xNN for what a line of text cannot hold.
std::string quoted(std::string_view text);

}  // namespace atb
