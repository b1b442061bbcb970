// How many threads this process should use: the least of affinity, cgroup quota, cpuset and physical cores.
#pragma once

#include <optional>
#include <set>
#include <string>

namespace atb {

struct ThreadLimits {
  int threads = 1;     ///< at least 1
  std::string reason;  ///< what decided it, for `atb info`: "cgroup v2 quota of 7.65 CPUs (20 cores)"
};

/// Ids of logical CPUs.
using CpuIds = std::set<int>;

/// One thread per physical core (SMT siblings count once; performance and efficiency cores both count) among the CPUs
/// that are online, in `affinity` and in the cgroup's cpuset; not more than the CPU quota of the cgroup or of any above
/// it, rounded down; at least 1. Reads <root>/proc/self/cgroup, <root>/sys/fs/cgroup (v1, v2 and mixed) and
/// <root>/sys/devices/system/cpu; what is missing there does not limit. Tests hand in a fake root.
ThreadLimits default_threads(const std::string& root, const CpuIds& affinity);

/// default_threads("", the CPUs of sched_getaffinity).
ThreadLimits default_threads();

/// The caller's number, else the environment's (ATB_NUM_THREADS), else the default.
ThreadLimits choose_threads(std::optional<int> argument, std::optional<int> variable);

}  // namespace atb
