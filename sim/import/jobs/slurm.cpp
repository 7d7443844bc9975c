// Reader of Slurm: a script with #SBATCH lines, or the command line that asks for a job (smux, salloc, srun,
// sbatch), with the variables that Slurm sets.
// The options themselves are read in sbatch.cpp.
#include <fmt/format.h>

#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/job_writers.hpp"
#include "sim/import/jobs/sbatch.hpp"
#include "sim/import/launch_reader.hpp"

namespace foretrain {

namespace {

/// Says whether a text has directives of Slurm.
bool has_sbatch_lines(std::string_view text) { return has_directive(text, "#SBATCH"); }

/// Says whether a text begins with a command that asks for a job.
bool asks_on_command_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n$");
  if (begin == std::string_view::npos) return false;
  const std::string_view word = text.substr(begin, text.find_first_of(" \t\r\n", begin) - begin);
  return word == "smux" || word == "salloc" || word == "sbatch" || word == "srun";
}

/// Sets the variables that Slurm sets from the request. Some are set only if the option itself was given.
void set_slurm_variables(const JobScript& script, ShellValues& values) {
  const JobResources& have = script.resources;
  const JobRequest& asked = script.request;
  const auto set = [&](std::initializer_list<const char*> names, const Field<int>& value) {
    for (const char* name : names) {
      if (value) values.set(name, value->value);
    }
  };
  if (!asked.asks) return;
  set({"SLURM_NNODES", "SLURM_JOB_NUM_NODES"}, have.nodes);
  set({"SLURM_NTASKS", "SLURM_NPROCS"}, have.tasks);
  set({"SLURM_NTASKS_PER_NODE"}, asked.tasks_per_node);
  set({"SLURM_CPUS_PER_TASK"}, asked.cpus_per_task);
  set({"SLURM_CPUS_ON_NODE", "SLURM_JOB_CPUS_PER_NODE"}, have.cpus_per_node);
  set({"SLURM_GPUS_ON_NODE"}, have.gpus_per_node);
  set({"SLURM_GPUS"}, asked.gpus);
  set({"SLURM_GPUS_PER_TASK"}, asked.gpus_per_task);
  if (asked.partition) values.set("SLURM_JOB_PARTITION", asked.partition->value);
}

/// Adds remarks about texts that sbatch refuses: Windows line ends, and a script that does not begin with
/// "#!".
void remark_on_text(std::string_view text, JobScript& script) {
  const std::size_t end = text.find('\n');
  if (end != std::string_view::npos && end > 0 && text[end - 1] == '\r')
    script.remarks.push_back(
        {{1, 1, 1}, "", "has Windows line ends, which sbatch refuses; dos2unix changes them"});
  if (has_sbatch_lines(text) && !text.starts_with("#!"))
    script.remarks.push_back(
        {{1, 1, 1}, "", "does not begin with #!, without which sbatch refuses a script; as in #!/bin/bash"});
}

/// Reads one text, which may hold a script in a here-document.
class SlurmReader {
 public:
  SlurmReader(const ScriptFinder& find, JobScript& script) : find_(find), script_(script) {}

  /// Reads directives if there are any; otherwise looks for the first command that asks for a job.
  /// `depth` counts scripts inside of scripts.
  void read(std::string_view text, int first_line, int depth) {
    read_directives(text, first_line, script_);
    // Directives make the request, and the body starts the training.
    if (script_.request.asks) return read_body(text, first_line);
    ShellValues values;
    const std::vector<ShellCommand> commands = read_commands(text, values, first_line);
    for (const ShellCommand& command : commands) {
      if (depth < 2 && read_request(command, depth)) return;
    }
    read_body(text, first_line);
  }

 private:
  /// Reads the commands of a script whose request is complete.
  void read_body(std::string_view text, int first_line) {
    script_.resources = resolve(script_.request);
    ShellValues values;
    set_slurm_variables(script_, values);
    read_script_body(text, first_line, values, find_, script_);
  }

  /// Reads a command line such as "smux new-session …", "salloc …", "sbatch …" or "srun …".
  /// A script or command follows in --wrap, in a here-document or in the rest of the line. Returns false if
  /// the command asks for no job.
  bool read_request(const ShellCommand& command, int depth) {
    const std::vector<ShellWord>& words = command.words;
    const std::string& name = words[0].text;
    std::size_t i = 1;
    if (name == "smux" && words.size() > 1 && words[1].text != "attach-session" && words[1].text != "a")
      i = 2;
    if (name != "salloc" && name != "sbatch" && name != "srun" && i != 2) return false;
    JobScript asked;
    SlurmOptions options(asked);
    i = options.read(words, i, true);
    // "sbatch <<EOF" brings its script in the here-document, whose directives make the request.
    const bool brings_script = name == "sbatch" && command.here_line > 0 && has_sbatch_lines(command.here);
    if (!brings_script && !options.asks_for_job()) return false;
    if (brings_script) {
      read(command.here, command.here_line, depth + 1);
      return true;
    }
    // The command line is the request from here on, whatever else the text holds.
    asked.request.asks = true;
    asked.file = script_.file, asked.system = script_.system, asked.remarks = script_.remarks;
    script_ = std::move(asked);
    if (options.wrapped()) return read_body(options.wrapped()->value, options.wrapped()->span.line), true;
    if (command.here_line > 0) return read_body(command.here, command.here_line), true;
    read_rest(name, command, i);
    return true;
  }

  /// Reads what the command line starts once it has the job. srun itself is a launcher and stays in front.
  void read_rest(const std::string& name, const ShellCommand& command, std::size_t i) {
    script_.resources = resolve(script_.request);
    ShellValues values;
    set_slurm_variables(script_, values);
    ShellCommand rest = command;
    if (name != "srun")
      rest.words.erase(rest.words.begin(), rest.words.begin() + static_cast<std::ptrdiff_t>(i));
    // smux takes the command as one word.
    const bool is_text = name == "smux" && rest.words.size() == 1;
    const std::vector<ShellCommand> commands =
        is_text ? read_commands(rest.words[0].text, values, rest.words[0].span.line)
                : std::vector<ShellCommand>{rest};
    if (!rest.words.empty()) read_launch(commands, values, find_, script_);
  }

  const ScriptFinder& find_;
  JobScript& script_;
};

bool is_slurm(std::string_view text) { return has_sbatch_lines(text) || asks_on_command_line(text); }

void read_slurm(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  remark_on_text(text, script);
  SlurmReader(find, script).read(text, 1, 0);
}

}  // namespace

JobSystem slurm_system() {
  return {.system = BatchSystem::slurm,
          .title = "Slurm",
          .kind = "a job script of Slurm",
          .asks_as = "#SBATCH --gres=gpu:1",
          .starter = "srun",
          .is = is_slurm,
          .read = read_slurm,
          .write = write_sbatch,
          .words = &slurm_words()};
}

}  // namespace foretrain
