// calibrate run: the benchmark is a program of its own, built where there is a CUDA toolkit.
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/base/diagnostics.hpp"

namespace foretrain {

namespace {

/// Beside this program; empty when it is not there.
std::string bench_beside() {
  std::error_code failed;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", failed);
  const std::filesystem::path bench = self.parent_path() / "foretrain-bench";
  return !failed && std::filesystem::exists(bench, failed) ? bench.string() : "";
}

}  // namespace

void run_calibrate_run(const CalibrateCommand& command) {
  const std::string beside = bench_beside(), program = beside.empty() ? "foretrain-bench" : beside;
  std::vector<std::string> words{program};
  words.insert(words.end(), command.bench_arguments.begin(), command.bench_arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
  if (errno == ENOENT)
    throw WorldError(
        "foretrain-bench is neither beside foretrain nor on the PATH; where there is a CUDA toolkit, `cmake "
        "--preset cuda && "
        "cmake --build --preset cuda` builds it");
  throw WorldError(program + ": " + std::strerror(errno));
}

}  // namespace foretrain
