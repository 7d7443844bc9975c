// Writes a plan for one machine as a submit file of HTCondor. Everything that runs stands in the arguments of
// a shell, so that no second file is needed.
#include <cassert>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/meeting.hpp"

namespace foretrain {

namespace {

/// Returns a value of a submit file, up to the end of its line. A "$" begins no macro then, and a backslash
/// at the end takes no further line.
std::string condor_value(std::string_view text) {
  std::string out;
  for (const char c : printable(text)) out += c == '$' ? "$(DOLLAR)" : std::string(1, c);
  return out.ends_with('\\') ? out + " " : out;
}

/// Returns one of the arguments in single quotes. Both kinds of quotes are doubled inside (condor_submit,
/// "arguments").
std::string condor_argument(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '$')
      out += "$(DOLLAR)";
    else
      out += c == '\'' || c == '"' ? std::string(2, c) : std::string(1, c);
  }
  return out + "'";
}

/// Splits lines of a script for a single line: comments are collected apart, and commands end with a
/// semicolon.
void split_lines(std::string_view lines, std::string& commands, std::string& comments) {
  for (std::size_t at = 0; at < lines.size();) {
    const std::size_t end = std::min(lines.find('\n', at), lines.size());
    const std::string_view line = lines.substr(at, end - at);
    at = end + 1;
    if (line.starts_with('#'))
      comments += std::string(line) + "\n";
    else
      commands += std::string(line.substr(0, line.find("    #"))) + "; ";
  }
}

/// Returns the file of the program, which has to be transferred to the machine; empty where a module is
/// started.
std::string program_file(const JobPlan& plan) {
  const std::string line = program(plan), first = line.substr(0, line.find(' '));
  return first.ends_with(".py") ? first : "";
}

}  // namespace

std::string write_condor(const JobPlan& given) {
  assert(given.nodes == 1 && given.gpus_per_node >= 1 && given.processes_per_node >= 1 &&
         given.cores_per_node >= 1);
  const JobPlan plan = without_srun(given);
  std::string commands, comments;
  split_lines(plan.before, commands, comments);
  // Assignments that a script would export on lines of their own stand before the launch, with semicolons.
  for (const Assignment& line : launch_assignments(plan, slurm_words()))
    commands += fmt::format("export {}={}; ", line.name, line.value);
  const std::string line = plan.launcher == Launcher::torchrun ? torchrun_line(plan, slurm_words())
                                                               : script_launch_line(plan, slurm_words());
  std::string out = script_heading(plan) + program_comments(plan) + comments + "universe = vanilla\n";
  out += "# container_image = docker://<image with your framework>\n\n";
  out += "executable = /bin/bash\ntransfer_executable = false\n";
  out += fmt::format("arguments = \"-c {}\"\n",
                     condor_argument(fmt::format("{}OMP_NUM_THREADS={} {}", commands, threads(plan), line)));
  const std::string file = program_file(plan);
  out += file.empty() ? "# transfer_input_files = <your program>\n"
                      : fmt::format("transfer_input_files = {}\n", file);
  out += "should_transfer_files = YES\n\n";
  out += fmt::format("request_gpus = {}\nrequest_cpus = {}\n", plan.gpus_per_node, plan.cores_per_node);
  if (plan.memory_per_node.count > 0)
    out += fmt::format("request_memory = {}MB\n", mebibytes(plan.memory_per_node));
  // The plan does not know how much disk the job needs, so a usual amount is marked for the user to change.
  out += "# <room for environment, data and checkpoints>\nrequest_disk = 40GB\n";
  if (!plan.requirements.empty()) out += fmt::format("require_gpus = {}\n", condor_value(plan.requirements));
  if (limit_s(plan) > 0) out += fmt::format("allowed_job_duration = {}\n", limit_s(plan));
  // CHTC gives out the GPUs of its GPU Lab only to jobs that ask for it and state their length.
  if (plan.cluster.starts_with("chtc")) {
    out += fmt::format("+WantGPULab = true\n+GPUJobLength = \"{}\"\n", limit_s(plan) <= 12 * 3600   ? "short"
                                                                       : limit_s(plan) <= 24 * 3600 ? "medium"
                                                                                                    : "long");
  }
  return out + fmt::format("\nlog = {0}.log\noutput = {0}.out\nerror = {0}.err\n\nqueue 1\n",
                           condor_value(plan.name));
}

}  // namespace foretrain
