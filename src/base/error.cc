#include <atb/error.h>

#include <utility>

namespace atb {

const char* error_code_name(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kUsage:
      return "usage";
    case ErrorCode::kFile:
      return "file";
    case ErrorCode::kModel:
      return "model";
    case ErrorCode::kResources:
      return "resources";
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kInterrupted:
      return "interrupted";
  }
  return "internal";
}

Error::Error(ErrorCode code, std::string message, std::string where, std::string hint)
    : code_(code), message_(std::move(message)), where_(std::move(where)), hint_(std::move(hint)), line_(message_) {
  if (!where_.empty()) line_ += " (" + where_ + ")";
  if (!hint_.empty()) line_ += "; " + hint_;
}

}  // namespace atb
