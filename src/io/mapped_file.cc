#include "io/mapped_file.h"

#include <atb/error.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace atb {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path) {
  const std::string reason = std::generic_category().message(errno);
  throw Error(ErrorCode::kFile, what + ": " + reason, path, "check that the path exists and can be read");
}

/// A descriptor that closes itself; the map outlives it.
class Descriptor {
 public:
  // O_NONBLOCK: opening a pipe must not wait for a writer. It means nothing for regular files.
  explicit Descriptor(const std::string& path) : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    if (fd_ < 0) fail("cannot open the file", path);
  }
  ~Descriptor() { ::close(fd_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

size_t regular_file_size(int fd, const std::string& path) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) fail("cannot read the size of the file", path);
  if (!S_ISREG(status.st_mode)) {
    const char* found = S_ISDIR(status.st_mode) ? "a folder" : "a device or pipe";
    throw Error(ErrorCode::kFile, std::string("expected a regular file, found ") + found, path, "give a file");
  }
  return static_cast<size_t>(status.st_size);
}

}  // namespace

MappedFile::MappedFile(const std::string& path) : path_(path) {
  const Descriptor file(path);
  const size_t size = regular_file_size(file.get(), path);
  if (size == 0) return;  // mmap refuses empty maps
  void* address = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (address == MAP_FAILED) fail("cannot map the file into memory", path);
  bytes_ = {static_cast<const std::byte*>(address), size};
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)), bytes_(std::exchange(other.bytes_, {})) {}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
}

}  // namespace atb
