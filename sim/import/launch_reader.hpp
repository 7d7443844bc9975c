// Reads commands that start a training program, through wrappers, containers, shells and launchers.
#pragma once

#include <vector>

#include "sim/import/job_script.hpp"
#include "sim/import/launcher_options.hpp"

namespace foretrain {

/// One command that starts a training program.
struct LaunchCandidate {
  JobLaunch launch;
  bool certain = true;  ///< false: in a branch that may not be taken
  std::vector<NotUnderstood> not_understood;
};

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
    std::vector<NotUnderstood> open;
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
  void read_mpirun(const Words& words, std::size_t i, Way way, StartedBy starter);
  void read_python(const Words& words, std::size_t i, const Way& way);
  void read_torchrun(const Words& words, std::size_t i, const Way& way);
  void read_accelerate(const Words& words, std::size_t i, const Way& way);
  void read_lightning(const Words& words, std::size_t i, const Way& way);
  void read_deepspeed(const Words& words, std::size_t i, const Way& way);

  LaunchCandidate begin(const ShellWord& word, StartedBy starter, const Way& way) const;
  void add_program(const Words& words, std::size_t i, LaunchCandidate candidate);
  Field<int> count_of(const LauncherOption& option, std::vector<NotUnderstood>& open) const;
  Field<int> gpus_per_node(const SourceSpan& span) const;
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

}  // namespace foretrain
