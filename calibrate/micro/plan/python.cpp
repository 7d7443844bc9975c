// Packages from the Python package index put CUDA's libraries where no loader looks; beside python they are
// found.
#include "calibrate/micro/plan/python.hpp"

#include <algorithm>
#include <filesystem>

#include <unistd.h>

namespace foretrain::micro {

namespace {

namespace fs = std::filesystem;

std::string value_of_variable(const ReadVariable& read, const char* name) {
  const char* value = read(name);
  return value == nullptr ? "" : value;
}

/// Empty when there is no such program.
fs::path program_path(const std::string& name, const std::string& search_path) {
  if (name.find('/') != std::string::npos) return fs::absolute(name);
  for (std::size_t begin = 0; begin <= search_path.size();) {
    const std::size_t end = std::min(search_path.find(':', begin), search_path.size());
    const fs::path candidate = fs::path(search_path.substr(begin, end - begin)) / name;
    if (::access(candidate.c_str(), X_OK) == 0) return fs::absolute(candidate);
    begin = end + 1;
  }
  return {};
}

/// What is in a folder, sorted; nothing where it cannot be read.
std::vector<fs::path> entries_of(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code problem;
  for (fs::directory_iterator at(folder, problem), end; !problem && at != end; at.increment(problem))
    entries.push_back(at->path());
  std::sort(entries.begin(), entries.end());
  return entries;
}

/// Those of the packages below <folder>/python3*.
void add_library_folders(const fs::path& folder, std::vector<std::string>& found) {
  for (const fs::path& python : entries_of(folder)) {
    if (!python.filename().string().starts_with("python3")) continue;
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& package : entries_of(python / packages / "nvidia")) {
        std::error_code unknown;
        const std::string libraries = (package / "lib").string();
        const bool is_new = std::find(found.begin(), found.end(), libraries) == found.end();
        if (is_new && fs::is_directory(libraries, unknown)) found.push_back(libraries);
      }
    }
  }
}

}  // namespace

std::string python_program(const ReadVariable& read) {
  const std::string named = value_of_variable(read, "FORETRAIN_PYTHON");
  return named.empty() ? "python3" : named;
}

std::vector<std::string> python_library_folders(const ReadVariable& read) {
  std::vector<std::string> found;
  const fs::path program = program_path(python_program(read), value_of_variable(read, "PATH"));
  if (program.empty()) return found;
  std::error_code unknown;
  for (const fs::path& python : {program.lexically_normal(), fs::weakly_canonical(program, unknown)}) {
    const fs::path prefix = python.parent_path().parent_path();
    for (const char* libraries : {"lib", "lib64", "local/lib"})
      add_library_folders(prefix / libraries, found);
  }
  const std::string home = value_of_variable(read, "HOME");
  if (!home.empty()) add_library_folders(fs::path(home) / ".local/lib", found);
  return found;
}

SharedLibrary open_library(const std::string& name, const std::vector<std::string>& folders) {
  std::vector<std::string> names{name};
  for (const std::string& folder : folders) names.push_back(folder + "/" + name);
  return SharedLibrary::open(names);
}

}  // namespace foretrain::micro
