// Text that all written job scripts share: quoted values, times, the program, and the line that starts a
// plan's launcher.
// Texts of a plan may come from other people's files. They are only written into comments, on one line, or in
// quotes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// Names and commands of a batch system inside of a job.
struct ScriptWords {
  /// Variable with the number of the job.
  std::string_view job_id;
  /// Command that prints the hosts of the job, one in a line; the first one has rank 0.
  std::string_view hosts;
  /// Returns the words that start a command `per_node` times on each node of the plan, with a blank at the
  /// end; empty when the command can run as it is.
  std::string (*start)(const JobPlan& plan, int per_node);
  /// Variables of a process that `start` starts: its number in the job, and its number on its node.
  std::string_view rank = kMpiRank, local_rank = kMpiLocalRank;
  /// True if `start` takes the place of mpirun, which knows neither hosts nor slots in this system.
  bool starts_mpi = false;
  /// Returns lines that the launcher needs in this system; none by default.
  std::string (*environment)(const JobPlan& plan) = [](const JobPlan&) { return std::string(); };

  /// Variables of Open MPI, of Cray's PALS, and of MPICH and Intel MPI, in this order.
  static constexpr std::string_view kMpiRank = "${OMPI_COMM_WORLD_RANK:-${PALS_RANKID:-$PMI_RANK}}";
  static constexpr std::string_view kMpiLocalRank =
      "${OMPI_COMM_WORLD_LOCAL_RANK:-${PALS_LOCAL_RANKID:-$MPI_LOCALRANKID}}";
};

/// Returns the words of Slurm, which submit files of HTCondor and commands to type use as well.
const ScriptWords& slurm_words();

/// Returns the time limit in whole seconds, rounded up; 0 for the batch system's default.
std::int64_t limit_s(const JobPlan& plan);
/// Returns a text as the value of a directive on its line, in quotes unless it is plain. Inside of quotes a
/// backslash is an escape, as sbatch reads it.
std::string directive_value(std::string_view text);
/// Return a time as "d-hh:mm:ss" and as "h:mm:ss".
std::string days_clock(std::int64_t seconds);
std::string hours_clock(std::int64_t seconds);
/// Returns MiB, rounded up, which Slurm counts in.
std::int64_t mebibytes(Bytes memory);

/// Returns the cores that a process has besides its loader workers, at least 1.
int threads(const JobPlan& plan);
/// Returns the program with the arguments that the prediction assumed.
std::string program(const JobPlan& plan);
/// Returns the line of torchrun, without a starter before it.
std::string torchrun_line(const JobPlan& plan, const ScriptWords& words);
/// A variable that the launch line needs, such as an address or a list of hosts, with its comment, which may
/// be empty.
struct Assignment {
  std::string name, value, comment;
  bool is_exported = true;
};
/// Returns the assignments that the launch line needs before it.
std::vector<Assignment> launch_assignments(const JobPlan& plan, const ScriptWords& words);
/// Returns a command that must have run before the launch line; empty when there is none.
std::string launch_command_before(const JobPlan& plan, const ScriptWords& words);
/// Returns the line that runs once on each node, or once in the job.
std::string script_launch_line(const JobPlan& plan, const ScriptWords& words);
/// Returns assignments that tell a process its rank, to be written before its command.
std::string rank_assignments(std::string_view rank, std::string_view local_rank);
/// Says whether processes are started one by one and read RANK and the like, which the batch system's starter
/// does not set.
bool needs_ranks(const JobPlan& plan);
/// Returns the text in single quotes of a shell, in which nothing is expanded.
std::string shell_quoted(std::string_view text);
/// Returns the comment lines that say what the script is for.
std::string script_heading(const JobPlan& plan);
/// Returns comments on what the program itself has to do, so that the processes train together.
std::string program_comments(const JobPlan& plan);
/// Returns everything behind the directives: environment, hosts and the launch line.
std::string script_body(const JobPlan& plan, const ScriptWords& words);

}  // namespace foretrain
