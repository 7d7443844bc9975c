// Finds the two programs that foretrain starts. Every command uses these functions, so all find the same
// programs.
#include "sim/app/machine/programs.hpp"

#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>

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
