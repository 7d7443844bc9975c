// Options of launchers: which take a value, so that the first word that is none, the program, is found.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/shell_values.hpp"

namespace foretrain {

/// One option of a launcher with its value; a flag has none.
struct LauncherOption {
  std::string name;  ///< with '-' for '_', and its leading dashes
  std::string value;
  const ShellWord* word = nullptr;  ///< that holds the value, or the option itself
};

/// How a launcher's command line is cut. Options with '=' hold their value; of the others those in `flags`
/// have none, those in `pairs` two, all others one.
struct LauncherSyntax {
  std::vector<std::string_view> flags, pairs;
  bool starts_python = false;  ///< what follows the options is a Python program, no other command
};

const LauncherSyntax& torchrun_syntax();
const LauncherSyntax& accelerate_syntax();
const LauncherSyntax& deepspeed_syntax();
const LauncherSyntax& mpirun_syntax();
const LauncherSyntax& horovodrun_syntax();
const LauncherSyntax& lightning_syntax();
const LauncherSyntax& container_syntax();
const LauncherSyntax& docker_syntax();
const LauncherSyntax& python_syntax();
const LauncherSyntax& srun_syntax();
/// time, env, numactl, nsys and the like, which start the rest of their line; nothing for another command.
const LauncherSyntax* prefix_syntax(std::string_view command);

/// Reads options from `words[i]` on and moves `i` to the first word that is none.
std::vector<LauncherOption> read_options(const std::vector<ShellWord>& words, std::size_t& i,
                                         const LauncherSyntax& syntax);

/// The last option of one of the names; nullptr when there is none.
const LauncherOption* find_option(const std::vector<LauncherOption>& options,
                                  std::initializer_list<std::string_view> names);

}  // namespace foretrain
