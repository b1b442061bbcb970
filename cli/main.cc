// The `atb` program: parses the command line, runs the command, turns errors into a line and an exit code.
#include <algorithm>
#include <csignal>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "command.h"
#include "output.h"

namespace atb::cli {
namespace {

struct Command {
  const char *name, *summary;
  AddCommand add;
};

constexpr Command kCommands[] = {
#define ATB_COMMAND(name, summary) {#name, summary, add_##name},
#include "commands.inc"
#undef ATB_COMMAND
};

constexpr const char* kFooter =
    "Exit codes: 0 done, 2 wrong usage, 3 a file is missing or damaged, 4 a model is not supported,\n"
    "5 not enough memory or context, 70 a bug of this program, 130 interrupted.\n"
    "With --json an error is also written to stdout as {\"error\": {\"code\", \"message\", \"where\", \"hint\"}}.";

/// CLI11 would only say that a command is missing.
void check_command_name(int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::string names;
  for (const Command& command : kCommands) {
    if (std::string_view(argv[1]) == command.name) return;
    names += (names.empty() ? "" : ", ") + std::string(command.name);
  }
  throw Error(ErrorCode::kUsage, std::string("unknown command '") + argv[1] + "'", "command line",
              "the commands are " + names);
}

int run_command_line(int argc, char** argv) {
  check_command_name(argc, argv);
  CLI::App app("Transformer Boost: fast inference of Transformer models on this CPU", "atb");
  app.set_version_flag("--version", "atb " ATB_VERSION);
  app.require_subcommand(1);
  app.footer(kFooter);
  int exit_code = 0;
  for (const Command& command : kCommands) {
    CLI::App* subcommand = app.add_subcommand(command.name, command.summary);
    subcommand->footer(kFooter);
    subcommand->callback([&exit_code, action = command.add(*subcommand)] { exit_code = action(); });
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help_or_version) {
    return app.exit(help_or_version);
  } catch (const CLI::ParseError& error) {
    throw Error(ErrorCode::kUsage, error.what(), "command line", "see atb --help or atb COMMAND --help");
  }
  return exit_code;
}

/// Before parsing: an error while parsing is reported as JSON too.
bool wants_json(int argc, char** argv) {
  return std::any_of(argv, argv + argc, [](const char* argument) { return std::string_view(argument) == "--json"; });
}

int guarded_main(int argc, char** argv) {
  const bool json = wants_json(argc, argv);
  try {
    return run_command_line(argc, argv);
  } catch (const Error& error) {
    return report_error(error, json);
  } catch (const std::bad_alloc&) {
    return report_error(Error(ErrorCode::kResources, "out of memory", "atb", "use a smaller model or --ctx"), json);
  } catch (const std::exception& error) {
    return report_error(Error(ErrorCode::kInternal, error.what(), "atb", "this is a bug: please report it"), json);
  }
}

}  // namespace
}  // namespace atb::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left is seen by write
  return atb::cli::guarded_main(argc, argv);
}
