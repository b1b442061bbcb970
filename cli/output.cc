#include "output.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace atb::cli {
namespace {

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

/// One line, whatever a file name or tensor name holds.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

std::string dump(const nlohmann::ordered_json& object) {
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace

bool write_out(std::string_view text) {
  if (write_all(STDOUT_FILENO, text)) return true;
  if (errno == EPIPE) return false;
  throw Error(ErrorCode::kFile, std::string("cannot write: ") + std::strerror(errno), "standard output",
              "check the file or device that it goes to");
}
void write_err(std::string_view text) { write_all(STDERR_FILENO, text); }

bool write_json(const nlohmann::ordered_json& object) { return write_out(dump(object)); }

int report_error(const Error& error, bool json) {
  write_err("atb: error: " + one_line(error.what()) + "\n");
  if (json) {
    // Not write_out: what cannot be written here has no other place to be reported.
    write_all(STDOUT_FILENO, dump({{"error",
                                    {{"code", error_code_name(error.code())},
                                     {"message", error.message()},
                                     {"where", error.where()},
                                     {"hint", error.hint()}}}}));
  }
  return static_cast<int>(error.code());
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

}  // namespace atb::cli
