// The well-known chat templates as data: how each role's turn begins and ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace atb {

/// What stands around a message. In the texts {role}, {bos} and {eos} stand for the message's role and the model's
/// tokens.
struct ChatTurn {
  std::string_view open = {}, close = {};
};

struct ChatFormat {
  enum class System {
    kTurn,         ///< a turn of its own
    kInUserTurn,   ///< text before the first user message, inside of `system`'s open and close
    kNotSupported  ///< the template refuses it
  };

  std::string_view name;
  std::vector<std::string_view> present = {},
                                absent = {};  ///< what the Jinja source contains and does not: how it is recognised
  bool begins_with_bos = false;               ///< `{bos}` comes first
  bool trims = false;                         ///< white space around messages is removed
  bool any_role = false;                      ///< other roles have turns too, like the user's
  System system_place = System::kTurn;
  ChatTurn system = {}, user = {}, assistant = {};
  std::string_view generation = {};  ///< where the assistant speaks
};

/// The format that a Jinja template is; nullptr if it is none of the well-known ones.
const ChatFormat* find_chat_format(std::string_view jinja);

/// The names of the well-known formats.
std::vector<std::string> chat_format_names();

/// The system message that a template of the ChatML family puts in when there is none ("" if it puts in none).
std::string default_system_message(const ChatFormat& format, std::string_view jinja);

}  // namespace atb
