// How many threads this process should use: the least of affinity, cgroup quota, cpuset and physical cores.
#pragma once

#include <string>

namespace atb {

struct ThreadLimits {
  int threads = 1;     ///< at least 1
  std::string reason;  ///< what limited it, for `atb info`: "cgroup v2 quota 2.0 of 20 cores"
};

/// Reads <root>/proc/self/cgroup, <root>/sys/fs/cgroup/..., <root>/sys/devices/system/cpu/... ; `affinity` is the
/// number of CPUs of sched_getaffinity. A quota is rounded down, but never below 1. Tests hand in a fake root.
ThreadLimits default_threads(const std::string& root, int affinity);

/// default_threads("", CPUs of this process).
ThreadLimits default_threads();

}  // namespace atb
