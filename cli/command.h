// A command of the program: one file, one line in commands.inc.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>

namespace atb::cli {

/// What a command does once its options are parsed; the result is the exit code.
using Action = std::function<int()>;

/// Adds a command's options to its subcommand.
using AddCommand = Action (*)(CLI::App& app);

#define ATB_COMMAND(name, summary) Action add_##name(CLI::App& app);
#include "commands.inc"
#undef ATB_COMMAND

}  // namespace atb::cli
