// What written job scripts have in common: values in quotes, times, the program, and how a plan's launcher is
// started. Texts of a plan come from other people's files: they stand in comments, on one line, or quoted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// What a batch system calls things inside a job.
struct ScriptWords {
  std::string_view job_id;  ///< a variable
  std::string_view hosts;   ///< a command that prints the job's hosts, one a line; the first has rank 0
  /// What starts a command so often on each node of the plan.
  std::string (*start)(const JobPlan& plan, int per_node);
  /// Variables of a process that `start` starts: its number in the job and on its node.
  std::string_view rank = kMpiRank, local_rank = kMpiLocalRank;
  bool starts_mpi = false;  ///< `start` takes the place of mpirun, which does not know hosts or slots there
  /// Lines that the launcher needs in this system; none by default.
  std::string (*environment)(const JobPlan& plan) = [](const JobPlan&) { return std::string(); };

  /// As Open MPI, Cray's PALS, and MPICH and Intel MPI number processes.
  static constexpr std::string_view kMpiRank = "${OMPI_COMM_WORLD_RANK:-${PALS_RANKID:-$PMI_RANK}}";
  static constexpr std::string_view kMpiLocalRank =
      "${OMPI_COMM_WORLD_LOCAL_RANK:-${PALS_LOCAL_RANKID:-$MPI_LOCALRANKID}}";
};

/// Slurm's, which submit files of HTCondor and commands to type use as well.
const ScriptWords& slurm_words();

/// Seconds to ask for, rounded up; 0: the batch system's default.
std::int64_t limit_s(const JobPlan& plan);
/// A value of a directive, on its line: in quotes unless it is plain. Inside them a backslash is an escape,
/// as sbatch has it.
std::string directive_value(std::string_view text);
/// d-hh:mm:ss, and h:mm:ss.
std::string days_clock(std::int64_t seconds);
std::string hours_clock(std::int64_t seconds);
/// MiB, rounded up, which is what Slurm counts in.
std::int64_t mebibytes(Bytes memory);

/// Cores that a process has beside its loader workers.
int threads(const JobPlan& plan);
/// The program and the arguments that the prediction assumed.
std::string program(const JobPlan& plan);
std::string torchrun_line(const JobPlan& plan, const ScriptWords& words);
/// Assignments that the launch line needs before it, addresses and hosts, each with its comment or none.
struct Assignment {
  std::string name, value, comment;
  bool is_exported = true;
};
std::vector<Assignment> launch_assignments(const JobPlan& plan, const ScriptWords& words);
/// A command that must have run before the launch line; empty: none.
std::string launch_command_before(const JobPlan& plan, const ScriptWords& words);
/// What runs once on each node, or once for the job.
std::string script_launch_line(const JobPlan& plan, const ScriptWords& words);
/// Assignments that tell a process of one of these batch systems' starters its rank, in front of its command.
std::string rank_assignments(std::string_view rank, std::string_view local_rank);
/// Whether a starter starts each process and nothing but its own variables tells them of each other.
bool needs_ranks(const JobPlan& plan);
/// The text in quotes of a shell, in which nothing is expanded.
std::string shell_quoted(std::string_view text);
/// Comment lines: what the script is for.
std::string script_heading(const JobPlan& plan);
/// What the program itself has to do, so that as many processes train and find each other.
std::string program_comments(const JobPlan& plan);
/// Everything behind the directives: environment, hosts, the launch line.
std::string script_body(const JobPlan& plan, const ScriptWords& words);

}  // namespace foretrain
