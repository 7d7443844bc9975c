// Reads commands that start a training program, through wrappers, containers, shells and launchers.
// A command such as "srun apptainer exec img.sif torchrun --nproc_per_node=4 train.py" is read from the left:
// each program takes its options and passes the rest on, until a Python program is reached.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/job_script.hpp"
#include "sim/import/shell_values.hpp"

namespace foretrain {

// Launchers differ in which options take a value. This has to be known to find the first word that is no
// option, which is the program.

/// An option of a launcher with its value; a flag has none.
struct LauncherOption {
  /// Name with its leading dashes, and with "-" in place of "_".
  std::string name;
  std::string value;
  /// Word that holds the value, or the option itself.
  const ShellWord* word = nullptr;
};

/// The rules by which a launcher's command line is cut. Options with "=" hold their value. Of the others,
/// those in `flags` have none, those in `pairs` two, and all others one.
struct LauncherSyntax {
  std::vector<std::string_view> flags, pairs;
  /// True if a Python program follows the options, and no other command.
  bool starts_python = false;
  /// True if the value of a letter may be joined to it, as in -bpacked:7.
  bool joins_values = false;
  /// Long options, for parsers that accept a prefix of one of them (argparse, getopt_long); empty if only
  /// whole names are accepted.
  std::vector<std::string_view> long_options{};
};

/// Return the rules of each launcher, container and interpreter. The references stay valid.
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
/// Returns the rules of ssh, pbsdsh and blaunch. `hosts` is set to the number of words before the command
/// that are hosts.
const LauncherSyntax& remote_shell_syntax(std::string_view command, int& hosts);
/// Returns the rules of time, env, numactl, nsys and the like, which start the rest of their line; nullptr
/// for other commands.
const LauncherSyntax* prefix_syntax(std::string_view command);

/// Returns the whole name of an option that may be abbreviated; `name` has "-" in place of "_".
std::string whole_option_name(std::string name, const LauncherSyntax& syntax);

/// Reads options from `words[i]` on, and moves `i` to the first word that is none.
std::vector<LauncherOption> read_options(const std::vector<ShellWord>& words, std::size_t& i,
                                         const LauncherSyntax& syntax);

/// Returns the last option with one of the names; nullptr when there is none.
const LauncherOption* find_option(const std::vector<LauncherOption>& options,
                                  std::initializer_list<std::string_view> names);

/// A command that starts a training program.
struct LaunchCandidate {
  JobLaunch launch;
  /// False for a command in a branch that may not be taken.
  bool certain = true;
  std::vector<NotUnderstood> not_understood;
};

/// Finds the commands of a script that start the training, and what the launchers make of them.
/// It holds references to its arguments, which must outlive it.
class LaunchReader {
 public:
  LaunchReader(const JobResources& resources, const ShellValues& values, const ScriptFinder& find)
      : resources_(resources), values_(values), find_(find) {}
  /// Reads a command. A command that starts no Python program gives no candidate.
  void read(const ShellCommand& command);
  /// Returns the candidates in the order of the text.
  const std::vector<LaunchCandidate>& found() const { return found_; }
  /// Returns lines that start other scripts which could not be read.
  const std::vector<NotUnderstood>& unread() const { return unread_; }
  /// Returns lines that start a Python program by something that is not known.
  const std::vector<NotUnderstood>& unknown() const { return unknown_; }

 private:
  using Words = std::vector<ShellWord>;
  using Options = std::vector<LauncherOption>;

  /// The way in which the words before the rest of a line start it.
  struct Way {
    /// srun, mpirun or horovodrun; no value if it runs once, on the first node.
    std::optional<StartedBy> outer;
    /// Number of starts on each node, and number of nodes.
    Field<int> per_node, nodes;
    /// GPUs of each node that the starter hands out.
    Field<int> gpus_per_node;
    /// CPUs of each node that the starter hands out.
    Field<int> cpus_per_node{};
    /// Reasons why a number is open.
    std::vector<NotUnderstood> open;
    std::vector<ShellWord> launcher_words;
    std::vector<LibraryVariable> variables;
    /// Reason for JobLaunch::alone.
    Field<std::string> alone;
    /// The other script that holds the line; empty for the main one.
    std::string file;
    bool certain = true, repeated = false;
    /// Depth of scripts inside of scripts.
    int depth = 0;
  };

  /// Reads a command whose first word is words[i].
  void read_words(const Words& words, std::size_t i, const Way& way);
  /// These two read a launcher or a wrapper with the given name. They return false for other commands.
  bool read_launcher(std::string_view name, const Words& words, std::size_t i, const Way& way);
  bool read_wrapper(std::string_view name, const Words& words, std::size_t i, const Way& way);
  /// Reads the commands of a script; variables that it sets stay its own.
  void read_script(std::string_view text, int first_line, const Way& way, ShellValues values);
  /// The following functions read the rest of a line behind one kind of program each.
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
  // The tools below stand in launch_tools.cpp.
  void read_llamafactory(const Words& words, std::size_t i, const Way& way);
  void read_axolotl(const Words& words, std::size_t i, const Way& way);
  void read_litgpt(const Words& words, std::size_t i, const Way& way);
  void read_yolo(const Words& words, std::size_t i, const Way& way);
  /// Adds what a module that is run with -m reads.
  void settle_module(const Words& words, std::size_t i, LaunchCandidate& candidate) const;
  /// Adds a tool that is its own program.
  void add_tool(const Words& words, std::size_t i, LaunchCandidate candidate,
                const std::optional<ProgramArgument>& more);
  /// Returns the number that an option states.
  Field<int> stated_count(const Words& words, std::size_t from, std::initializer_list<std::string_view> names,
                          std::vector<NotUnderstood>& open) const;

  /// Sets launch.alone by the launcher's options, which stand in words[first, end). It stands in
  /// launch_meeting.cpp.
  void set_standalone(const Words& words, std::size_t first, std::size_t end, const Options& options,
                      JobLaunch& launch) const;
  /// Returns a candidate for a program that `starter` starts behind `way`.
  LaunchCandidate begin(const ShellWord& word, StartedBy starter, const Way& way) const;
  /// Adds the candidate with the program words[i] and its arguments.
  void add_program(const Words& words, std::size_t i, LaunchCandidate candidate);
  /// Returns the number in an option's value; an unknown one is added to `open`.
  Field<int> count_of(const LauncherOption& option, std::vector<NotUnderstood>& open) const;
  /// Returns the GPUs of a node by the request, as the number of processes that a launcher starts on it.
  Field<int> gpus_per_node(const SourceSpan& span) const;
  /// Return the product, and the share of each node rounded up; no value if one is unknown.
  static Field<int> times(const Field<int>& a, const Field<int>& b);
  Field<int> per_node(const Field<int>& all, const Field<int>& nodes) const;

  const JobResources& resources_;
  const ShellValues& values_;
  const ScriptFinder& find_;
  std::vector<LaunchCandidate> found_;
  std::vector<NotUnderstood> unread_, unknown_;
  /// Scripts that may still be read, since scripts inside of scripts may call each other without end.
  int scripts_left_ = 16;
};

/// Returns the last part of a path.
std::string_view base_name(std::string_view path);

// The line that starts the training is chosen among all candidates of a script.

/// Finds the launch among the commands of a script and stores it in script.launch; uses script.resources.
/// Scripts that are started by name are read through `find`.
/// script.not_understood says why a part stays open, and script.remarks what was left aside. `values` are the
/// variables at the end of the script.
void read_launch(const std::vector<ShellCommand>& commands, const ShellValues& values,
                 const ScriptFinder& find, JobScript& script);

}  // namespace foretrain
