// Errors that the library throws. Nothing in the library prints or aborts.
#pragma once

#include <exception>
#include <string>

namespace atb {

/// What went wrong, as a class of faults. The value is the exit code of the `atb` command.
enum class ErrorCode {
  kUsage = 2,         ///< an argument, option or environment variable is wrong
  kFile = 3,          ///< a file is missing, truncated or malformed
  kModel = 4,         ///< a model, graph or tokenizer is not what is supported
  kResources = 5,     ///< memory, context length or a device is not enough
  kInternal = 70,     ///< a bug of this library
  kInterrupted = 130  ///< the caller or Ctrl-C stopped the work
};

/// "usage", "file", "model", "resources", "internal", "interrupted": the `code` of the JSON form.
const char* error_code_name(ErrorCode code) noexcept;

/// One error: what was wrong (value found and expected), where (file, tensor, argument, variable, node, offset) and
/// what to do about it. `what()` is one line: "message (where); hint".
class Error : public std::exception {
 public:
  Error(ErrorCode code, std::string message, std::string where = "", std::string hint = "");

  const char* what() const noexcept override { return line_.c_str(); }
  ErrorCode code() const noexcept { return code_; }
  const std::string& message() const noexcept { return message_; }
  const std::string& where() const noexcept { return where_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorCode code_;
  std::string message_, where_, hint_, line_;
};

}  // namespace atb
