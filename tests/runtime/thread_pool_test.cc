#include "runtime/thread_pool.h"

#include <atb/error.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

// The fork test starts threads in a child of a process with threads, which TSan refuses by default.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() { return "die_after_fork=0"; }

namespace atb {
namespace {

double process_cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

TEST(ThreadPool, RunsTheBodyOnceOnEveryThread) {
  for (int threads : {1, 2, 3, 7}) {
    ThreadPool pool(threads);
    std::vector<int> calls(static_cast<size_t>(threads), 0);
    for (int i = 0; i < 50; ++i) pool.run([&](int t) { ++calls[static_cast<size_t>(t)]; });
    for (int c : calls) EXPECT_EQ(c, 50);
  }
}

TEST(ThreadPool, CallerIsThreadZero) {
  ThreadPool pool(2);
  std::thread::id zero;
  pool.run([&](int t) {
    if (t == 0) zero = std::this_thread::get_id();
  });
  EXPECT_EQ(zero, std::this_thread::get_id());
}

// Every thread sees what every other wrote before the barrier: plain ints, so that TSan proves the ordering.
TEST(ThreadPool, BarrierOrdersWritesAndReads) {
  constexpr int kThreads = 3, kPhases = 200;
  ThreadPool pool(kThreads);
  std::vector<int> values(kThreads, 0);
  std::atomic<int> wrong{0};
  pool.run([&](int t) {
    for (int phase = 1; phase <= kPhases; ++phase) {
      values[static_cast<size_t>(t)] = phase;
      pool.barrier();
      for (int v : values) wrong += v != phase;
      pool.barrier();
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, OversubscribedBarriersFinish) {
  const int threads = static_cast<int>(std::thread::hardware_concurrency()) * 2 + 1;
  ThreadPool pool(threads);
  std::atomic<int> sum{0};
  pool.run([&](int) {
    for (int i = 0; i < 20; ++i) {
      ++sum;
      pool.barrier();
    }
  });
  EXPECT_EQ(sum, threads * 20);
}

TEST(ThreadPool, SecondCallerWaits) {
  ThreadPool pool(2);
  std::atomic<int> inside{0}, overlaps{0};
  const auto call = [&] {
    for (int i = 0; i < 100; ++i)
      pool.run([&](int t) {
        if (t == 0) overlaps += inside.exchange(1) != 0;
        pool.barrier();
        if (t == 0) inside = 0;
      });
  };
  std::thread other(call);
  call();
  other.join();
  EXPECT_EQ(overlaps, 0);
}

// Case 50: one second after the last call the process uses less than 2 % of a CPU.
TEST(ThreadPool, SleepsAfterTheLastCall) {
  ThreadPool pool(4);
  pool.run([](int) {});
  std::this_thread::sleep_for(std::chrono::seconds(1));
  const double before = process_cpu_seconds();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  EXPECT_LT(process_cpu_seconds() - before, 0.02 * 0.5);
}

TEST(ThreadPool, WakesAfterSleeping) {
  ThreadPool pool(2);
  std::atomic<int> calls{0};
  for (int i = 0; i < 3; ++i) {
    pool.run([&](int) { ++calls; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  EXPECT_EQ(calls, 6);
}

// Case 50: denormals cost nothing inside a run, and the caller's floating-point mode is its own again afterwards.
TEST(ThreadPool, FlushesDenormalsInsideARunOnly) {
  ThreadPool pool(3);
  constexpr unsigned kRoundDown = 0x3f80;  // rounding control 01, all traps masked
  const unsigned mine = _mm_getcsr();
  _mm_setcsr(kRoundDown);
  std::vector<float> products(3, 1.0f);
  pool.run([&](int t) {
    volatile float tiny = 1e-40f, one = 1.0f;
    products[static_cast<size_t>(t)] = tiny * one;
  });
  const unsigned after = _mm_getcsr();
  _mm_setcsr(mine);
  constexpr unsigned kStickyFlags = 0x3f;
  EXPECT_EQ(after & ~kStickyFlags, kRoundDown);
  for (float p : products) EXPECT_EQ(p, 0.0f);
}

int run_in_child(ThreadPool& pool) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(5);
    std::atomic<int> calls{0};
    pool.run([&](int) {
      ++calls;
      pool.barrier();
    });
    _exit(calls == pool.threads() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  return status;
}

// Case 56.
TEST(ThreadPool, WorksInAForkedChild) {
  ThreadPool pool(3);
  EXPECT_EQ(run_in_child(pool), 0) << "before the first run";
  pool.run([](int) {});
  EXPECT_EQ(run_in_child(pool), 0) << "while workers spin";
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(run_in_child(pool), 0) << "while workers sleep";
  std::atomic<int> calls{0};
  pool.run([&](int) { ++calls; });
  EXPECT_EQ(calls, 3) << "the parent goes on";
}

TEST(ThreadPool, RejectsNoThreads) {
  try {
    ThreadPool pool(0);
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kUsage);
  }
}

TEST(EvenShare, CoversEveryTileOnceAndEvenly) {
  for (int64_t count : {0, 1, 5, 36, 1000})
    for (int threads : {1, 2, 3, 8}) {
      int64_t next = 0;
      for (int t = 0; t < threads; ++t) {
        const Share share = even_share(count, t, threads);
        EXPECT_EQ(share.begin, next);
        EXPECT_LE(share.end - share.begin, count / threads + 1);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
}

}  // namespace
}  // namespace atb
