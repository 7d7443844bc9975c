// Reads commands that start a training program, through wrappers, containers, shells and launchers.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"
#include "sim/import/shell_values.hpp"

namespace foretrain {

// Options of launchers: which take a value, so that the first word that is none, the program, is found.

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
  bool joins_values = false;   ///< a letter's value may stand at it, as in -bpacked:7
  /// All long options, where the parser takes a prefix that only one of them has (argparse, getopt_long);
  /// empty: it takes whole names only.
  std::vector<std::string_view> long_options{};
};

const LauncherSyntax& torchrun_syntax();
const LauncherSyntax& accelerate_syntax();
const LauncherSyntax& deepspeed_syntax();
const LauncherSyntax& mpirun_syntax();
const LauncherSyntax& horovodrun_syntax();
const LauncherSyntax& lightning_syntax();
const LauncherSyntax& container_syntax();
const LauncherSyntax& docker_syntax();
const LauncherSyntax& enroot_syntax();
const LauncherSyntax& python_syntax();
const LauncherSyntax& srun_syntax();
const LauncherSyntax& jsrun_syntax();
const LauncherSyntax& flux_run_syntax();
/// Of ssh, pbsdsh and blaunch; how many words before the command are hosts.
const LauncherSyntax& remote_shell_syntax(std::string_view command, int& hosts);
/// time, env, numactl, nsys and the like, which start the rest of their line; nothing for another command.
const LauncherSyntax* prefix_syntax(std::string_view command);

/// The option that `name`, with '-' for '_', stands for: itself, or the one that it is the beginning of.
std::string whole_option_name(std::string name, const LauncherSyntax& syntax);

/// Reads options from `words[i]` on and moves `i` to the first word that is none.
std::vector<LauncherOption> read_options(const std::vector<ShellWord>& words, std::size_t& i,
                                         const LauncherSyntax& syntax);

/// The last option of one of the names; nullptr when there is none.
const LauncherOption* find_option(const std::vector<LauncherOption>& options,
                                  std::initializer_list<std::string_view> names);

/// One command that starts a training program.
struct LaunchCandidate {
  JobLaunch launch;
  bool certain = true;  ///< false: in a branch that may not be taken
  std::vector<NotUnderstood> not_understood;
};

/// Finds the commands of a script that start the training, and what launchers make of them.
class LaunchReader {
 public:
  LaunchReader(const JobResources& resources, const ShellValues& values, const ScriptFinder& find)
      : resources_(resources), values_(values), find_(find) {}
  /// What starts no Python program gives no candidate.
  void read(const ShellCommand& command);
  const std::vector<LaunchCandidate>& found() const { return found_; }
  /// Lines that start other scripts, which could not be read.
  const std::vector<NotUnderstood>& unread() const { return unread_; }
  /// Lines that start a Python program by something that is not known.
  const std::vector<NotUnderstood>& unknown() const { return unknown_; }

 private:
  using Words = std::vector<ShellWord>;
  using Options = std::vector<LauncherOption>;

  /// How the rest of a line is started by what stands before it.
  struct Way {
    std::optional<StartedBy> outer;  ///< srun, mpirun, horovodrun; none: it runs once, on the first node
    Field<int> per_node, nodes;      ///< how often that starts it
    Field<int> gpus_per_node;        ///< that it hands out
    Field<int> cpus_per_node{};
    std::vector<NotUnderstood> open;
    std::vector<ShellWord> launcher_words;
    std::vector<LibraryVariable> variables;
    Field<std::string> alone;  ///< JobLaunch::alone
    std::string file;
    bool certain = true, repeated = false;
    int depth = 0;
  };

  void read_words(const Words& words, std::size_t i, const Way& way);
  bool read_launcher(std::string_view name, const Words& words, std::size_t i, const Way& way);
  bool read_wrapper(std::string_view name, const Words& words, std::size_t i, const Way& way);
  void read_script(std::string_view text, int first_line, const Way& way, ShellValues values);
  void read_shell(const Words& words, std::size_t i, const Way& way);
  void read_other_script(const Words& words, std::size_t i, const Way& way);
  void read_unknown(const Words& words, std::size_t i);
  void read_srun(const Words& words, std::size_t i, Way way);
  void read_jsrun(const Words& words, std::size_t i, Way way);
  void read_flux_run(const Words& words, std::size_t i, Way way);
  void read_remote_shell(std::string_view name, const Words& words, std::size_t i, Way way);
  void read_mpirun(const Words& words, std::size_t i, Way way, StartedBy starter);
  void read_python(const Words& words, std::size_t i, const Way& way);
  void read_torchrun(const Words& words, std::size_t i, const Way& way);
  void read_accelerate(const Words& words, std::size_t i, const Way& way);
  void read_lightning(const Words& words, std::size_t i, const Way& way);
  void read_deepspeed(const Words& words, std::size_t i, const Way& way);
  void read_llamafactory(const Words& words, std::size_t i, const Way& way);  // launch_tools.cpp
  void read_axolotl(const Words& words, std::size_t i, const Way& way);
  void read_litgpt(const Words& words, std::size_t i, const Way& way);
  void read_yolo(const Words& words, std::size_t i, const Way& way);
  void settle_module(const Words& words, std::size_t i, LaunchCandidate& candidate) const;
  void add_tool(const Words& words, std::size_t i, LaunchCandidate candidate,
                const std::optional<ProgramArgument>& more);
  Field<int> stated_count(const Words& words, std::size_t from, std::initializer_list<std::string_view> names,
                          std::vector<NotUnderstood>& open) const;

  /// Sets launch.alone by the launcher's options, which stand in words[first, end); launch_meeting.cpp.
  void set_standalone(const Words& words, std::size_t first, std::size_t end, const Options& options,
                      JobLaunch& launch) const;
  LaunchCandidate begin(const ShellWord& word, StartedBy starter, const Way& way) const;
  void add_program(const Words& words, std::size_t i, LaunchCandidate candidate);
  Field<int> count_of(const LauncherOption& option, std::vector<NotUnderstood>& open) const;
  Field<int> gpus_per_node(const SourceSpan& span) const;
  static Field<int> times(const Field<int>& a, const Field<int>& b);
  Field<int> per_node(const Field<int>& all, const Field<int>& nodes) const;

  const JobResources& resources_;
  const ShellValues& values_;
  const ScriptFinder& find_;
  std::vector<LaunchCandidate> found_;
  std::vector<NotUnderstood> unread_, unknown_;
  int scripts_left_ = 16;  ///< scripts inside scripts may call each other without end
};

/// The last part of a path.
std::string_view base_name(std::string_view path);

// The line of a job script that starts the training: which launcher, how many processes, which program.

/// Finds it among the commands of a script and stores it in script.launch; uses script.resources. Scripts
/// that are started by name are read through `find`. Says in script.not_understood why a part stays open, and
/// in script.remarks what was left aside. `values` are the script's variables at its end.
void read_launch(const std::vector<ShellCommand>& commands, const ShellValues& values,
                 const ScriptFinder& find, JobScript& script);

}  // namespace foretrain
