// atb run --chat: a conversation. The session keeps the KV cache, so a turn computes only what is new.
#include <unistd.h>

#include <iostream>
#include <limits>

#include "interrupt.h"
#include "output.h"
#include "run_arguments.h"

namespace atb::cli {
namespace {

bool read_line(std::string& line) {
  if (isatty(STDIN_FILENO) != 0) write_err("> ");
  return static_cast<bool>(std::getline(std::cin, line));
}

class Chat {
 public:
  Chat(const Model& model, const RunArguments& arguments)
      : model_(model), session_(model.session()), options_(arguments.generate), quiet_(arguments.quiet) {
    options_.max_tokens = arguments.max_tokens.value_or(std::numeric_limits<int64_t>::max());
    options_.cancelled = interrupted;
  }

  /// False when nobody reads the answers any more.
  bool turn(std::string line) {
    turns_.push_back({"user", std::move(line)});
    bool open = true;
    GenerateResult result = session_.generate(model_.chat_tokens(turns_), options_, [&](std::string_view piece) {
      open = write_out(piece);
      return open;
    });
    open = open && write_out("\n");
    if (!quiet_) write_err(speed_line(model_, result));
    turns_.push_back({"assistant", std::move(result.text)});
    clear_interrupt();
    return open;
  }

 private:
  const Model& model_;
  Session session_;
  GenerateOptions options_;
  bool quiet_;
  std::vector<ChatTurn> turns_;
};

}  // namespace

int chat(const Model& model, const RunArguments& arguments) {
  if (model.chat_template().empty()) {
    throw Error(ErrorCode::kModel, "the model has no chat template", model.description().path,
                "use an instruct model, or -p TEXT to complete a text");
  }
  Chat conversation(model, arguments);
  for (std::string line; read_line(line);) {
    if (!line.empty() && !conversation.turn(std::move(line))) break;
  }
  return interrupted() ? kExitInterrupted : 0;
}

}  // namespace atb::cli
