// The command record: finds Python and runs the recorder of the Python package, which takes this process's
// place.
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "sim/app/commands.hpp"
#include "sim/app/machine/programs.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/held_output.hpp"

namespace foretrain {

// Returns only by an exception: after execvp the recorder's exit code is that of the command.
void run_record(const RecordCommand& command) {
  need_own_process("foretrain record");
  add_package_to_python_path();
  std::vector<std::string> words{python_program(), "-m", "foretrain", "record"};
  words.insert(words.end(), command.words.begin(), command.words.end());
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::execvp(arguments.front(), arguments.data());
  throw EnvironmentError(
      fmt::format("{} cannot be run: {}\n  hint: install Python with PyTorch, or name it in FORETRAIN_PYTHON",
                  words.front(), std::strerror(errno)));
}

}  // namespace foretrain
