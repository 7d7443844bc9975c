// What written job scripts have in common: values in quotes, times, the program, and how a plan's launcher is
// started. Texts of a plan come from other people's files: they stand in comments, on one line, or quoted.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sim/import/jobs/job_plan.hpp"

namespace foretrain {

/// What a batch system calls things inside a job.
struct ScriptWords {
  std::string_view job_id;  ///< a variable
  std::string_view hosts;   ///< a command that prints the job's hosts, one a line
  /// What starts a command so often on each of so many nodes.
  std::string (*start)(int nodes, int per_node);
  /// Lines that the launcher needs in this system; none by default.
  std::string (*environment)(const JobPlan& plan) = [](const JobPlan&) { return std::string(); };
};

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
/// What runs once on each node, or once for the job.
std::string script_launch_line(const JobPlan& plan, const ScriptWords& words);
/// Comment lines: what the script is for.
std::string script_heading(const JobPlan& plan);
/// Everything behind the directives: environment, hosts, the launch line.
std::string script_body(const JobPlan& plan, const ScriptWords& words);

}  // namespace foretrain
