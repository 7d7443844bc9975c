// Finds the programs that foretrain and its scripts start. Every command uses these functions, so all find
// the same programs.
#include "sim/app/machine/programs.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/scenario/catalog.hpp"

namespace foretrain {

namespace {

// Names that are searched on PATH.
constexpr const char* kUsualPython = "python3";
constexpr const char* kBenchProgram = "foretrain-bench";

}  // namespace

// A benchmark that was built with this program lies in the same folder.
std::string bench_program() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path bench = self.parent_path() / kBenchProgram;
  return !failed && std::filesystem::exists(bench, failed) ? bench.string() : kBenchProgram;
}

// Modules of a cluster put the program on PATH, perhaps in another place on each node.
std::string own_program() {
  constexpr const char* kName = "foretrain";
  const char* given = std::getenv("PATH");
  std::string_view rest = given == nullptr ? "" : given;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(':'), rest.size());
    const std::filesystem::path file = std::filesystem::path(rest.substr(0, end)) / kName;
    std::error_code ignored;
    if (std::filesystem::is_regular_file(file, ignored) && ::access(file.c_str(), X_OK) == 0) return kName;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? kName : self.string();
}

std::string python_program() {
  const char* named = std::getenv("FORETRAIN_PYTHON");
  return named == nullptr || *named == '\0' ? kUsualPython : named;
}

// In a source tree the package lies beside the catalogs; an installed package is found by Python itself.
void add_package_to_python_path() {
  for (const std::string& folder : catalog_roots()) {
    const std::filesystem::path python = std::filesystem::path(folder) / "python";
    if (!std::filesystem::exists(python / "foretrain" / "__main__.py")) continue;
    const char* given = std::getenv("PYTHONPATH");
    const std::string path =
        given == nullptr ? python.string() : fmt::format("{}:{}", given, python.string());
    ::setenv("PYTHONPATH", path.c_str(), 1);
    return;
  }
}

}  // namespace foretrain
