#include "runtime/thread_pool.h"

#include <atb/error.h>
#include <sched.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "runtime/float_mode.h"

namespace atb {
namespace {

// A pause is some 40 ns: a barrier among running threads takes a few, so whoever waits longer gives up its core.
constexpr int kPausesBeforeYield = 1000;
// Sampling a token and decoding its text take less than this; a pool that waits longer has nothing to do.
constexpr std::chrono::microseconds kSpinBeforeSleep{500};
constexpr size_t kCacheLine = 64;

template <class Done>
void spin_until(Done done) noexcept {
  for (int i = 0; !done(); ++i) {
    if (i < kPausesBeforeYield)
      _mm_pause();
    else
      sched_yield();
  }
}

/// The threads of one process. A fork copies the object but not its threads: the child makes a new one.
class Crew {
 public:
  explicit Crew(int threads) : threads_(threads) {}
  ~Crew() { stop(); }

  pid_t process() const noexcept { return process_; }

  void run(const std::function<void(int)>& body) {
    const std::lock_guard lock(one_run_);
    if (threads_ > 1) start();
    body_ = &body;
    running_.store(threads_ - 1, std::memory_order_relaxed);
    announce();
    {
      const ComputeFloatMode mode;
      body(0);
    }
    spin_until([&] { return running_.load(std::memory_order_acquire) == 0; });
  }

  void barrier() noexcept {
    const uint32_t phase = phase_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) == threads_ - 1) {
      arrived_.store(0, std::memory_order_relaxed);
      phase_.store(phase + 1, std::memory_order_release);
    } else {
      spin_until([&] { return phase_.load(std::memory_order_acquire) != phase; });
    }
  }

 private:
  void start() {
    if (!workers_.empty()) return;
    try {
      const uint32_t seen = call_.load(std::memory_order_relaxed);
      for (int i = 1; i < threads_; ++i) workers_.emplace_back([this, i, seen] { work(i, seen); });
    } catch (const std::system_error& e) {
      stop();
      throw Error(ErrorCode::kResources, std::string("cannot start a thread: ") + e.what(),
                  std::to_string(threads_) + " threads", "use fewer threads, or raise the limit of processes");
    }
  }

  void stop() noexcept {
    body_ = nullptr;
    announce();
    for (auto& worker : workers_) worker.join();
    workers_.clear();
  }

  void announce() noexcept {
    call_.fetch_add(1, std::memory_order_release);
    call_.notify_all();
  }

  /// `seen`: calls made before this thread was started.
  void work(int thread, uint32_t seen) noexcept {
    const ComputeFloatMode mode;
    for (;; ++seen) {
      wait_for_call(seen);
      if (body_ == nullptr) return;
      (*body_)(thread);
      running_.fetch_sub(1, std::memory_order_release);
    }
  }

  void wait_for_call(uint32_t seen) const noexcept {
    const auto called = [&] { return call_.load(std::memory_order_acquire) != seen; };
    const auto deadline = std::chrono::steady_clock::now() + kSpinBeforeSleep;
    for (int i = 1; !called(); ++i) {
      if (i < kPausesBeforeYield)
        _mm_pause();
      else
        sched_yield();
      if (i % 16 == 0 && std::chrono::steady_clock::now() > deadline) break;
    }
    while (!called()) call_.wait(seen, std::memory_order_acquire);
  }

  const int threads_;
  const pid_t process_ = getpid();
  std::mutex one_run_;
  std::vector<std::thread> workers_;
  const std::function<void(int)>* body_ = nullptr;
  alignas(kCacheLine) std::atomic<uint32_t> call_{0};
  alignas(kCacheLine) std::atomic<int> running_{0};
  alignas(kCacheLine) std::atomic<int> arrived_{0};
  alignas(kCacheLine) std::atomic<uint32_t> phase_{0};
};

}  // namespace

struct ThreadPool::Impl {
  explicit Impl(int count) : threads(count), crew(new Crew(count)) {}
  ~Impl() {
    // A crew of another process has no threads here to join, and its locks may be held for ever.
    Crew* last = crew.load();
    if (last->process() == getpid()) delete last;
  }

  Crew& crew_of_this_process() {
    Crew* current = crew.load(std::memory_order_acquire);
    if (current->process() == getpid()) return *current;
    auto fresh = std::make_unique<Crew>(threads);
    if (crew.compare_exchange_strong(current, fresh.get())) return *fresh.release();
    return *current;
  }

  const int threads;
  std::atomic<Crew*> crew;
};

ThreadPool::ThreadPool(int threads) {
  if (threads < 1)
    throw Error(ErrorCode::kUsage, "a thread pool of " + std::to_string(threads) + " threads", "threads",
                "use at least 1");
  impl_ = std::make_unique<Impl>(threads);
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::threads() const noexcept { return impl_->threads; }

void ThreadPool::run(const std::function<void(int)>& body) { impl_->crew_of_this_process().run(body); }

void ThreadPool::barrier() noexcept { impl_->crew.load(std::memory_order_relaxed)->barrier(); }

Share even_share(int64_t count, int thread, int threads) noexcept {
  const int64_t base = count / threads, larger = count % threads;
  const int64_t begin = thread * base + (thread < larger ? thread : larger);
  return {begin, begin + base + (thread < larger ? 1 : 0)};
}

}  // namespace atb
