// What the program writes: results to stdout, messages to stderr.
#pragma once

#include <atb/error.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace atb::cli {

/// Writes all of it at once. False when nobody reads any more (a closed pipe), which is no error.
bool write_out(std::string_view text);
void write_err(std::string_view text);

/// One object and a line end; bytes that are no UTF-8 become U+FFFD.
bool write_json(const nlohmann::ordered_json& object);

/// The line on stderr, and with `json` the error object on stdout. Returns the exit code.
int report_error(const Error& error, bool json);

double peak_mb();  ///< most memory that this process had resident so far, MiB

}  // namespace atb::cli
