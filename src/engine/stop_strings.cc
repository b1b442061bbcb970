#include "engine/stop_strings.h"

#include <atb/error.h>

#include <algorithm>
#include <utility>

namespace atb {

StopStrings::StopStrings(std::vector<std::string> stops) : stops_(std::move(stops)) {
  if (std::find(stops_.begin(), stops_.end(), "") == stops_.end()) return;
  throw Error(ErrorCode::kUsage, "an empty stop string", "stop", "leave it out: it would end every generation at once");
}

std::string StopStrings::push(std::string_view text) {
  if (matched_) return "";
  pending_ += text;
  size_t end = std::string::npos;
  for (const std::string& stop : stops_) end = std::min(end, pending_.find(stop));
  matched_ = end != std::string::npos;
  if (!matched_) end = pending_.size() - held_back();
  std::string safe = pending_.substr(0, end);
  pending_.erase(0, end);
  return safe;
}

std::string StopStrings::flush() { return matched_ ? "" : std::exchange(pending_, ""); }

size_t StopStrings::held_back() const {
  size_t most = 0;
  for (const std::string& stop : stops_) {
    for (size_t n = std::min(stop.size() - 1, pending_.size()); n > most; --n) {
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) most = n;
    }
  }
  return most;
}

}  // namespace atb
