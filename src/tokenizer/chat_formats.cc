// One row per format; the first whose marks fit is taken. A template that does more than the row says (tools, dates,
// thinking) must be excluded by `absent`: an error is better than a conversation that is almost right.
#include "tokenizer/chat_formats.h"

#include <algorithm>

namespace atb {
namespace {

const std::vector<ChatFormat>& table() {
  static const std::vector<ChatFormat> rows = {
      {.name = "chatml",
       .present = {"<|im_start|>", "<|im_end|>"},
       .absent = {"</think>", "<|im_sep|>", "bos_token", "| trim", "|trim"},
       .any_role = true,
       .system = {"<|im_start|>system\n", "<|im_end|>\n"},
       .user = {"<|im_start|>{role}\n", "<|im_end|>\n"},
       .assistant = {"<|im_start|>assistant\n", "<|im_end|>\n"},
       .generation = "<|im_start|>assistant\n"},
      {.name = "llama-3",
       .present = {"<|start_header_id|>", "<|eot_id|>"},
       .absent = {"Cutting Knowledge", "tools"},
       .begins_with_bos = true,
       .trims = true,
       .any_role = true,
       .system = {"<|start_header_id|>system<|end_header_id|>\n\n", "<|eot_id|>"},
       .user = {"<|start_header_id|>{role}<|end_header_id|>\n\n", "<|eot_id|>"},
       .assistant = {"<|start_header_id|>assistant<|end_header_id|>\n\n", "<|eot_id|>"},
       .generation = "<|start_header_id|>assistant<|end_header_id|>\n\n"},
      {.name = "llama-2",
       .present = {"[INST]", "<<SYS>>", "bos_token"},
       .trims = true,
       .system_place = ChatFormat::System::kInUserTurn,
       .system = {"<<SYS>>\n", "\n<</SYS>>\n\n"},
       .user = {"{bos}[INST] ", " [/INST]"},
       .assistant = {" ", " {eos}"}},
      {.name = "mistral",
       .present = {"'[INST] '", "' [/INST]'", "bos_token"},
       .absent = {"<<SYS>>", "tools", "system_message", "trim"},
       .begins_with_bos = true,
       .system_place = ChatFormat::System::kNotSupported,
       .user = {"[INST] ", " [/INST]"},
       .assistant = {"", "{eos}"}},
      {.name = "gemma-2",
       .present = {"<start_of_turn>", "<end_of_turn>", "System role not supported"},
       .begins_with_bos = true,
       .trims = true,
       .system_place = ChatFormat::System::kNotSupported,
       .user = {"<start_of_turn>user\n", "<end_of_turn>\n"},
       .assistant = {"<start_of_turn>model\n", "<end_of_turn>\n"},
       .generation = "<start_of_turn>model\n"},
      {.name = "phi-3",
       .present = {"'<|user|>\\n'", "'<|end|>\\n'", "<|assistant|>"},
       .absent = {"bos_token", "<|im_start|>"},
       .system = {"<|system|>\n", "<|end|>\n"},
       .user = {"<|user|>\n", "<|end|>\n"},
       .assistant = {"<|assistant|>\n", "<|end|>\n"},
       .generation = "<|assistant|>\n"},
      {.name = "zephyr",
       .present = {"<|user|>", "<|system|>", "<|assistant|>", "eos_token"},
       .absent = {"<|end|>", "bos_token"},
       .system = {"<|system|>\n", "{eos}\n"},
       .user = {"<|user|>\n", "{eos}\n"},
       .assistant = {"<|assistant|>\n", "{eos}\n"},
       .generation = "<|assistant|>\n"},
  };
  return rows;
}

bool fits(const ChatFormat& format, std::string_view jinja) {
  const auto has = [&](std::string_view mark) { return jinja.find(mark) != std::string_view::npos; };
  return std::all_of(format.present.begin(), format.present.end(), has) &&
         std::none_of(format.absent.begin(), format.absent.end(), has);
}

/// Jinja's string escape \n as the character.
std::string unescape_newlines(std::string_view text) {
  std::string out(text);
  for (size_t at = 0; (at = out.find("\\n", at)) != std::string::npos; ++at) out.replace(at, 2, "\n");
  return out;
}

}  // namespace

const ChatFormat* find_chat_format(std::string_view jinja) {
  const auto row = std::find_if(table().begin(), table().end(), [&](const ChatFormat& f) { return fits(f, jinja); });
  return row == table().end() ? nullptr : &*row;
}

std::vector<std::string> chat_format_names() {
  std::vector<std::string> names;
  for (const ChatFormat& format : table()) names.emplace_back(format.name);
  return names;
}

std::string default_system_message(const ChatFormat& format, std::string_view jinja) {
  if (format.name != "chatml") return "";
  const std::string source = unescape_newlines(jinja);
  const std::string_view open = format.system.open, close = "<|im_end|>";
  // A default stands between the markers as part of the same string literal; a message of the user is spliced in.
  for (size_t at = source.find(open); at != std::string::npos; at = source.find(open, at + 1)) {
    const size_t begin = at + open.size(), end = source.find(close, begin);
    if (end == std::string::npos) break;
    const std::string text = source.substr(begin, end - begin);
    if (!text.empty() && text.find_first_of("'\"{}") == std::string::npos) return text;
  }
  return "";
}

}  // namespace atb
