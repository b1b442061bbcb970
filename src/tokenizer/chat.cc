#include <atb/error.h>
#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "tokenizer/chat_formats.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/utf8.h"

namespace atb {
namespace {

using Spans = std::vector<Tokenizer::Span>;

[[noreturn]] void refuse(std::string message, std::string hint) {
  throw Error(ErrorCode::kModel, std::move(message), "chat template", std::move(hint));
}

const ChatFormat& format_of(const Tokenizer& tokenizer) {
  if (tokenizer.chat_template().empty()) refuse("the model has no chat template", "give a plain prompt instead");
  if (const ChatFormat* format = find_chat_format(tokenizer.chat_template())) return *format;
  refuse(fmt::format("the model's template is none of the built-in ones ({})", join(chat_format_names(), ", ")),
         "render it in Python: model.tokenizer.apply_chat_template(messages), or give a plain prompt");
}

/// As Jinja's trim (Python's str.strip), at the end and, if `at_start`, at the start too.
std::string_view trimmed(std::string_view text, bool at_start) {
  const auto is_space = [](std::string_view c) {
    return is_white_space(utf8_code(c)) || (c.size() == 1 && c[0] >= 0x1C && c[0] <= 0x1F);
  };
  size_t begin = text.size(), end = 0;
  for (size_t at = 0; at < text.size();) {
    const Utf8Head head = utf8_head(text.substr(at));
    if (head.kind != Utf8Head::kCharacter || !is_space(text.substr(at, head.length))) {
      begin = std::min(begin, at);
      end = at + head.length;
    }
    at += head.length;
  }
  if (!at_start) begin = 0;
  return begin < end ? text.substr(begin, end - begin) : std::string_view();
}

class Renderer {
 public:
  Renderer(const Tokenizer& tokenizer, const ChatFormat& format) : tokenizer_(tokenizer), format_(format) {}

  Spans render(const std::vector<ChatMessage>& messages) {
    if (format_.begins_with_bos) markup("{bos}", "");
    begin_default_system(messages);
    for (size_t i = 0; i < messages.size(); ++i) {
      const bool folded = messages[i].role == "system" && format_.system_place == ChatFormat::System::kInUserTurn;
      if (folded) {
        fold_system(messages, i);
      } else {
        turn(messages[i]);
      }
    }
    markup(format_.generation, "");
    return std::move(spans_);
  }

 private:
  std::string token(std::optional<TokenId> id) const { return id ? std::string(tokenizer_.token_text(*id)) : ""; }

  void markup(std::string_view text, std::string_view role) {
    std::string out(text);
    const auto fill = [&](std::string_view name, const std::string& value) {
      const size_t at = out.find(name);
      if (at != std::string::npos) out.replace(at, name.size(), value);
    };
    fill("{bos}", token(tokenizer_.bos()));
    fill("{eos}", tokenizer_.eos().empty() ? "" : token(tokenizer_.eos().front()));
    // A role is the caller's text too: it must not become a control token.
    const size_t at = out.find("{role}");
    spans_.push_back({out.substr(0, at), true});
    if (at == std::string::npos) return;
    spans_.push_back({std::string(role), false});
    spans_.push_back({out.substr(at + 6), true});
  }

  void content(const ChatMessage& message, bool at_start) {
    const std::string_view text = message.content;
    spans_.push_back({std::string(format_.trims ? trimmed(text, at_start) : text), false});
  }

  void begin_default_system(const std::vector<ChatMessage>& messages) {
    if (messages.empty() || messages[0].role == "system") return;
    const std::string message = default_system_message(format_, tokenizer_.chat_template());
    if (message.empty()) return;
    markup(format_.system.open, "system");
    markup(message, "");
    markup(format_.system.close, "system");
  }

  const ChatTurn& turn_of(const ChatMessage& message) const {
    if (message.role == "assistant") return format_.assistant;
    if (message.role == "system") {
      if (format_.system_place == ChatFormat::System::kTurn) return format_.system;
      refuse(fmt::format("the template {} has no system messages", format_.name), "put the text into the user message");
    }
    if (message.role == "user" || format_.any_role) return format_.user;
    refuse(fmt::format("the template {} has no role \"{}\", expected system, user or assistant", format_.name,
                       message.role),
           "correct the role");
  }

  void turn(const ChatMessage& message) {
    const ChatTurn& around = turn_of(message);
    markup(around.open, message.role);
    // A system message that is folded into this turn comes right after its opening; the two are trimmed as one text.
    const bool at_start = pending_.empty();
    for (Tokenizer::Span& span : pending_) spans_.push_back(std::move(span));
    pending_.clear();
    content(message, at_start);
    markup(around.close, message.role);
  }

  /// Keeps the system message for the user's turn that has to follow it.
  void fold_system(const std::vector<ChatMessage>& messages, size_t i) {
    if (i != 0 || messages.size() < 2 || messages[1].role != "user") {
      refuse(fmt::format("the template {} takes a system message only first and before a user message", format_.name),
             "reorder the messages");
    }
    pending_ = {{std::string(format_.system.open), true},
                {messages[i].content, false},
                {std::string(format_.system.close), true}};
  }

  const Tokenizer& tokenizer_;
  const ChatFormat& format_;
  Spans spans_, pending_;
};

}  // namespace

std::string render_chat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages) {
  std::string text;
  for (const auto& span : Renderer(tokenizer, format_of(tokenizer)).render(messages)) text += span.text;
  return text;
}

std::vector<TokenId> encode_chat(const Tokenizer& tokenizer, const std::vector<ChatMessage>& messages) {
  const Spans spans = Renderer(tokenizer, format_of(tokenizer)).render(messages);
  std::vector<TokenId> ids = tokenizer.encode_spans(spans, false);
  const bool has_bos = tokenizer.bos() && !ids.empty() && ids.front() == *tokenizer.bos();
  if (tokenizer.adds_bos() && !has_bos) ids.insert(ids.begin(), *tokenizer.bos());
  return ids;
}

}  // namespace atb
