// Case 49: threads by the host's core count are far too many in a container, two threads on one core are too slow.
#include "base/thread_limits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>

#include "support/temp_dir.h"

namespace atb {
namespace {

using ::testing::HasSubstr;

CpuIds first_cpus(int count) {
  CpuIds ids;
  for (int id = 0; id < count; ++id) ids.insert(id);
  return ids;
}

/// A fake / with /proc and /sys as the kernel writes them.
class Host {
 public:
  /// `cores` cores of `smt` hardware threads each; siblings are `cores` apart, as Linux numbers them.
  explicit Host(int cores, int smt = 1) : cpus_(cores * smt) {
    dir_.write("sys/devices/system/cpu/online", "0-" + std::to_string(cpus_ - 1) + "\n");
    for (int id = 0; id < cpus_; ++id) {
      std::string siblings = std::to_string(id % cores);
      for (int t = 1; t < smt; ++t) siblings += "," + std::to_string(id % cores + t * cores);
      set_siblings(id, siblings);
    }
  }
  void set_siblings(int id, const std::string& siblings) {
    dir_.write("sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/thread_siblings_list", siblings + "\n");
  }
  Host& file(const std::string& name, const std::string& content) {
    dir_.write(name, content);
    return *this;
  }
  Host& v2(const std::string& cpu_max) {
    return file("proc/self/cgroup", "0::/app\n").file("sys/fs/cgroup/app/cpu.max", cpu_max + "\n");
  }
  Host& v1(const std::string& quota, const std::string& period) {
    file("proc/self/cgroup", "5:cpu,cpuacct:/app\n4:memory:/app\n");
    file("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_quota_us", quota + "\n");
    return file("sys/fs/cgroup/cpu,cpuacct/app/cpu.cfs_period_us", period + "\n");
  }
  ThreadLimits limits() const { return limits(first_cpus(cpus_)); }
  ThreadLimits limits(const CpuIds& affinity) const { return default_threads(dir_.path().string(), affinity); }

 private:
  testing::TempDir dir_;
  int cpus_;
};

TEST(ThreadLimits, TwentyCoresWithoutSmtAreTwentyThreads) {
  EXPECT_EQ(Host(20).limits().threads, 20);
  EXPECT_EQ(Host(20).limits().reason, "20 physical cores");
}

TEST(ThreadLimits, SmtSiblingsCountOnce) { EXPECT_EQ(Host(8, 2).limits().threads, 8); }

TEST(ThreadLimits, HybridCountsPerformanceAndEfficiencyCores) {
  Host host(16);  // 4 performance cores of two threads (CPUs 0-7) and 8 efficiency cores
  for (int id = 0; id < 8; ++id) {
    const int first = id / 2 * 2;
    host.set_siblings(id, std::to_string(first) + "-" + std::to_string(first + 1));
  }
  EXPECT_EQ(host.limits().threads, 12);
}

TEST(ThreadLimits, V2QuotaIsRoundedDownButNeverBelowOne) {
  EXPECT_EQ(Host(20).v2("200000 100000").limits().threads, 2);
  EXPECT_EQ(Host(20).v2("765000 100000").limits().threads, 7);
  EXPECT_EQ(Host(20).v2("50000 100000").limits().threads, 1);
  EXPECT_EQ(Host(20).v2("max 100000").limits().threads, 20);
  EXPECT_EQ(Host(20).v2("765000 100000").limits().reason, "cgroup v2 quota of 7.65 CPUs (20 cores)");
}

TEST(ThreadLimits, V1QuotaIsRoundedDownButNeverBelowOne) {
  EXPECT_EQ(Host(20).v1("200000", "100000").limits().threads, 2);
  EXPECT_EQ(Host(20).v1("765000", "100000").limits().threads, 7);
  EXPECT_EQ(Host(20).v1("50000", "100000").limits().threads, 1);
  EXPECT_EQ(Host(20).v1("-1", "100000").limits().threads, 20);
  EXPECT_THAT(Host(20).v1("200000", "100000").limits().reason, HasSubstr("cgroup v1 quota of 2 CPUs"));
}

TEST(ThreadLimits, QuotaAboveTheCoresDoesNotRaise) { EXPECT_EQ(Host(4).v2("1600000 100000").limits().threads, 4); }

TEST(ThreadLimits, QuotaOfACgroupAboveCounts) {
  Host host(20);
  host.file("proc/self/cgroup", "0::/pod/app\n");
  host.file("sys/fs/cgroup/pod/cpu.max", "300000 100000\n").file("sys/fs/cgroup/pod/app/cpu.max", "max 100000\n");
  EXPECT_EQ(host.limits().threads, 3);
}

TEST(ThreadLimits, PathOfTheHostSeenFromInsideAContainerFallsBackToTheMount) {
  Host v2(20), v1(20);
  v2.file("proc/self/cgroup", "0::/docker/0123\n").file("sys/fs/cgroup/cpu.max", "200000 100000\n");
  EXPECT_EQ(v2.limits().threads, 2);
  v1.file("proc/self/cgroup", "3:cpu,cpuacct:/docker/0123\n");
  v1.file("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n").file("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(v1.limits().threads, 2);
}

TEST(ThreadLimits, MixedVersionsTakeTheLesserQuota) {
  Host host(20);
  host.v1("400000", "100000").file("proc/self/cgroup", "5:cpu,cpuacct:/app\n0::/app\n");
  host.file("sys/fs/cgroup/unified/app/cpu.max", "300000 100000\n");
  EXPECT_EQ(host.limits().threads, 3);
}

TEST(ThreadLimits, CpusetLimitsInBothVersions) {
  Host v2(20), v1(20);
  v2.v2("max 100000").file("sys/fs/cgroup/app/cpuset.cpus.effective", "0-3,8\n");
  EXPECT_EQ(v2.limits().threads, 5);
  EXPECT_EQ(v2.limits().reason, "cgroup cpuset of 5 of 20 cores");
  v1.file("proc/self/cgroup", "7:cpuset:/app\n").file("sys/fs/cgroup/cpuset/app/cpuset.cpus", "4-7\n");
  EXPECT_EQ(v1.limits().threads, 4);
}

TEST(ThreadLimits, CpusetAndAffinityIntersect) {
  Host host(20);
  host.v2("max 100000").file("sys/fs/cgroup/app/cpuset.cpus.effective", "0-3\n");
  EXPECT_EQ(host.limits({2, 3, 4, 5}).threads, 2);
}

TEST(ThreadLimits, AffinityLimitsAndItsSiblingsCountOnce) {
  EXPECT_EQ(Host(20).limits({1, 5, 9}).threads, 3);
  EXPECT_EQ(Host(20).limits({1, 5, 9}).reason, "affinity to 3 of 20 cores");
  EXPECT_EQ(Host(4, 2).limits({0, 4}).threads, 1);
}

TEST(ThreadLimits, SmallestLimitWins) {
  Host host(16, 2);
  host.v2("600000 100000").file("sys/fs/cgroup/app/cpuset.cpus.effective", "0-9\n");
  EXPECT_EQ(host.limits(first_cpus(8)).threads, 6);
  EXPECT_EQ(host.limits(first_cpus(4)).threads, 4);
}

TEST(ThreadLimits, NothingReadableLeavesTheAffinity) {
  testing::TempDir empty;
  EXPECT_EQ(default_threads(empty.path().string(), first_cpus(3)).threads, 3);
  EXPECT_EQ(default_threads(empty.path().string(), {}).threads, 1);
}

TEST(ThreadLimits, BrokenFilesDoNotLimit) {
  Host host(4);
  host.file("proc/self/cgroup", "nonsense\n0::\n1:cpu\n0::relative\n").file("sys/fs/cgroup/cpu.max", "a b\n");
  host.file("sys/fs/cgroup/cpuset.cpus.effective", "\n");
  EXPECT_EQ(host.limits().threads, 4);
}

TEST(ThreadLimits, UserAndEnvironmentWin) {
  EXPECT_EQ(choose_threads(7, 5).threads, 7);
  EXPECT_EQ(choose_threads(std::nullopt, 5).threads, 5);
  EXPECT_EQ(choose_threads(std::nullopt, 5).reason, "ATB_NUM_THREADS");
  EXPECT_EQ(choose_threads(std::nullopt, std::nullopt).threads, default_threads().threads);
}

TEST(ThreadLimits, ThisProcessIsWithinItsAffinity) {
  cpu_set_t set;
  ASSERT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  EXPECT_GE(default_threads().threads, 1);
  EXPECT_LE(default_threads().threads, CPU_COUNT(&set));
}

}  // namespace
}  // namespace atb
