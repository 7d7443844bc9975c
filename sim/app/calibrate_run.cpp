// calibrate run: replaces this process by foretrain-bench, a separate program that is built with a CUDA
// toolkit.
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/app/machine/programs.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/held_output.hpp"

namespace foretrain {

// Returns only by an exception: after execvp the benchmark's exit code is that of the command.
void run_calibrate_run(const CalibrateCommand& command) {
  need_own_process("foretrain calibrate run");
  const std::string program = bench_program();
  std::vector<std::string> words{program};
  words.insert(words.end(), command.bench_arguments.begin(), command.bench_arguments.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(program.c_str(), arguments.data());
  if (errno == ENOENT)
    throw EnvironmentError(
        "foretrain-bench is neither beside foretrain nor on the PATH; where there is a CUDA toolkit, `cmake "
        "--preset cuda && "
        "cmake --build --preset cuda` builds it");
  throw EnvironmentError(program + ": " + std::strerror(errno));
}

}  // namespace foretrain
