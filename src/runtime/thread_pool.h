// The library's own threads. They spin while a model computes and sleep soon after the last call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace atb {

class ThreadPool {
 public:
  /// threads >= 1, else Error{kUsage}; the calling thread is thread 0, so threads - 1 are started (at the first run,
  /// and again at the first run after a fork).
  explicit ThreadPool(int threads);
  ~ThreadPool();
  int threads() const noexcept;

  /// Runs body(thread) once on every thread and returns when all are done. Only one run at a time; a second caller
  /// waits. `body` must not throw and must not call run(). Denormals are zero inside (float_mode.h); the caller's
  /// floating-point mode is back afterwards. Error{kResources} if the system refuses to start a thread.
  void run(const std::function<void(int thread)>& body);

  /// Waits until every thread of the current run has arrived (spins, then yields when oversubscribed).
  void barrier() noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Threads that cooperate on `count` tiles: [begin, end) of this thread in an even split.
struct Share {
  int64_t begin, end;
};
Share even_share(int64_t count, int thread, int threads) noexcept;

}  // namespace atb
