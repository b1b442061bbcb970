#include "base/thread_limits.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>
#include <sstream>
#include <vector>

#include "base/text.h"

namespace atb {
namespace {

/// The file's first line, trimmed; nothing when it cannot be read or is empty.
std::optional<std::string> read_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  const auto text = trim(line);
  return text.empty() ? std::nullopt : std::optional<std::string>(text);
}

/// The kernel's list format: "0-3,8,10-11". A part that is no range is skipped.
CpuIds parse_cpu_list(const std::string& list) {
  CpuIds ids;
  for (const std::string& part : split(list, ',')) {
    int first = 0, last = 0;
    const int read = std::sscanf(part.c_str(), "%d-%d", &first, &last);
    if (read == 1) last = first;
    if (read < 1 || first < 0 || last >= CPU_SETSIZE) continue;
    for (int id = first; id <= last; ++id) ids.insert(id);
  }
  return ids;
}

CpuIds intersect(const CpuIds& a, const CpuIds& b) {
  CpuIds both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

/// Physical cores among these CPUs: siblings name the same list. A CPU without topology is a core of its own.
int count_cores(const std::string& root, const CpuIds& cpus) {
  std::set<std::string> cores;
  for (const int id : cpus) {
    const auto file = fmt::format("{}/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", root, id);
    cores.insert(read_line(file).value_or(fmt::format("{}", id)));
  }
  return static_cast<int>(cores.size());
}

/// One controller of this process's cgroup: where its files are, and in which version's names.
struct Cgroup {
  int version;
  std::string mount, path;  // path: "/" or "/a/b"
};

/// Calls `visit` with the folder of the cgroup and of each one above it. Inside a container the path may be the host's
/// and the mount only the container's part; then the mount itself is the cgroup, and it is always among them.
void for_each_level(const Cgroup& group, const std::function<void(const std::string& folder)>& visit) {
  std::string path = group.path;
  while (path.size() > 1) {
    visit(group.mount + path);
    path.resize(path.rfind('/'));
  }
  visit(group.mount);
}

/// The cgroups that can carry `controller`, from lines "id:controllers:path"; v2 has id 0 and no controllers.
std::vector<Cgroup> find_cgroups(const std::string& root, const std::string& controller) {
  const std::string base = root + "/sys/fs/cgroup";
  std::vector<Cgroup> found;
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1), path = line.substr(second + 1);
    if (path.empty() || path[0] != '/') continue;
    if (names.empty()) {
      found.push_back({2, base, path});
      found.push_back({2, base + "/unified", path});
    }
    const auto controllers = split(names, ',');
    if (std::find(controllers.begin(), controllers.end(), controller) == controllers.end()) continue;
    found.push_back({1, base + "/" + names, path});
    if (names != controller) found.push_back({1, base + "/" + controller, path});
  }
  return found;
}

/// CPUs' worth of time per period; nothing when unlimited or absent.
std::optional<double> read_quota(const std::string& folder, int version) {
  const auto line = version == 2 ? read_line(folder + "/cpu.max") : read_line(folder + "/cpu.cfs_quota_us");
  if (!line) return std::nullopt;
  const auto separate_period = version == 1 ? read_line(folder + "/cpu.cfs_period_us") : std::nullopt;
  std::istringstream numbers(*line + " " + separate_period.value_or(""));
  double quota = 0, period = 0;  // "max" and -1 mean no limit
  if (!(numbers >> quota >> period) || quota <= 0 || period <= 0) return std::nullopt;
  return quota / period;
}

struct Quota {
  double cpus;
  int version;
};

std::optional<Quota> least_quota(const std::string& root) {
  std::optional<Quota> least;
  for (const Cgroup& group : find_cgroups(root, "cpu"))
    for_each_level(group, [&](const std::string& folder) {
      const auto cpus = read_quota(folder, group.version);
      if (cpus && (!least || *cpus < least->cpus)) least = {*cpus, group.version};
    });
  return least;
}

/// `cpus` cut down to the cpusets of the cgroup and of all above it.
CpuIds apply_cpusets(const std::string& root, CpuIds cpus) {
  constexpr const char* kFiles[] = {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"};
  for (const Cgroup& group : find_cgroups(root, "cpuset"))
    for_each_level(group, [&](const std::string& folder) {
      for (const char* file : kFiles)
        if (const auto list = read_line(folder + file)) cpus = intersect(cpus, parse_cpu_list(*list));
    });
  return cpus;
}

CpuIds this_affinity() {
  cpu_set_t set;
  CpuIds ids;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return ids;
  for (int id = 0; id < CPU_SETSIZE; ++id)
    if (CPU_ISSET(id, &set)) ids.insert(id);
  return ids;
}

}  // namespace

ThreadLimits default_threads(const std::string& root, const CpuIds& affinity) {
  const auto online_list = read_line(root + "/sys/devices/system/cpu/online");
  const CpuIds online = online_list ? parse_cpu_list(*online_list) : affinity;
  const int cores = count_cores(root, online);
  ThreadLimits limits{cores, fmt::format("{} physical cores", cores)};
  const auto lower_to = [&limits](int threads, const std::string& reason) {
    if (threads >= 1 && threads < limits.threads) limits = {threads, reason};
  };

  const CpuIds allowed = intersect(online, affinity);
  const int allowed_cores = count_cores(root, allowed);
  lower_to(allowed_cores, fmt::format("affinity to {} of {} cores", allowed_cores, cores));
  const int set_cores = count_cores(root, apply_cpusets(root, allowed));
  lower_to(set_cores, fmt::format("cgroup cpuset of {} of {} cores", set_cores, cores));
  if (const auto quota = least_quota(root))
    lower_to(std::max(1, static_cast<int>(std::min<double>(quota->cpus, cores))),
             fmt::format("cgroup v{} quota of {:.4g} CPUs ({} cores)", quota->version, quota->cpus, cores));
  limits.threads = std::max(1, limits.threads);
  return limits;
}

ThreadLimits default_threads() { return default_threads("", this_affinity()); }

ThreadLimits choose_threads(std::optional<int> argument, std::optional<int> variable) {
  if (argument) return {*argument, "asked for"};
  if (variable) return {*variable, "ATB_NUM_THREADS"};
  return default_threads();
}

}  // namespace atb
