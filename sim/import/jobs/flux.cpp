// Reader and writer of Flux: lines "#flux: --nodes=2" (RFC 36), and the options of flux batch, alloc, submit
// and run (flux-batch(1)).
// Nodes, tasks, cores, GPUs, time, queue and bank are taken.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_text.hpp"

namespace foretrain {

namespace {

/// Ways to write the mark; a script uses one of them.
constexpr std::string_view kFluxMarks[] = {"#flux:", "# flux:", "#FLUX:", "# FLUX:"};

/// Takes a count into a member of the request.
template <Field<int> JobRequest::*Member>
void flux_count(JobScript& script, const OptionValue& value) {
  script.request.*Member = count_field(script, value, value.text);
}

/// Takes a time in Flux's standard duration: 90s, 30m, 2h or 1d. Its commands count minutes when there is no
/// unit.
void flux_time(JobScript& script, const OptionValue& value) {
  std::string_view text = value.text;
  const char unit = text.empty() ? ' ' : text.back();
  const std::int64_t seconds = unit == 's' ? 1 : unit == 'h' ? 3600 : unit == 'd' ? 86400 : 60;
  if (std::string_view("smhd").find(unit) != std::string_view::npos) text.remove_suffix(1);
  const auto count = whole_number(text);
  if (!count || *count < 0 || *count > 1'000'000)
    return not_understood(script, value, "is no time; as in 90m or 2h");
  script.request.seconds = {*count * seconds, value.word.span};
}
/// These functions take the queue, the bank, the name and exclusive nodes.
void flux_queue(JobScript& script, const OptionValue& value) {
  script.request.partition = {std::string(value.text), value.word.span};
}
void flux_bank(JobScript& script, const OptionValue& value) {
  script.request.account = {std::string(value.text), value.word.span};
}
void flux_name(JobScript& script, const OptionValue& value) { script.request.name = value.text; }
void flux_exclusive(JobScript& script, const OptionValue& value) {
  script.request.exclusive = {true, value.word.span};
  script.request.whole_nodes = true;
}

/// The options of Flux. Those without a function have no bearing on a training.
using R = JobRequest;
constexpr BatchOption kFluxOptions[] = {{"-N", true, flux_count<&R::nodes>},
                                        {"--nodes", true, flux_count<&R::nodes>},
                                        {"-n", true, flux_count<&R::tasks>},
                                        {"--ntasks", true, flux_count<&R::tasks>},
                                        {"--nslots", true, flux_count<&R::tasks>},
                                        {"--tasks-per-node", true, flux_count<&R::tasks_per_node>},
                                        {"-c", true, flux_count<&R::cpus_per_task>},
                                        {"--cores-per-task", true, flux_count<&R::cpus_per_task>},
                                        {"--cores-per-slot", true, flux_count<&R::cpus_per_task>},
                                        {"-g", true, flux_count<&R::gpus_per_task>},
                                        {"--gpus-per-task", true, flux_count<&R::gpus_per_task>},
                                        {"--gpus-per-slot", true, flux_count<&R::gpus_per_task>},
                                        {"--gpus-per-node", true, flux_count<&R::gpus_per_node>},
                                        {"-t", true, flux_time},
                                        {"--time-limit", true, flux_time},
                                        {"-q", true, flux_queue},
                                        {"--queue", true, flux_queue},
                                        {"-B", true, flux_bank},
                                        {"--bank", true, flux_bank},
                                        {"--job-name", true, flux_name},
                                        {"-x", false, flux_exclusive},
                                        {"--exclusive", false, flux_exclusive},
                                        {"-o"},
                                        {"--setopt"},
                                        {"--output"},
                                        {"--error"},
                                        {"--env"},
                                        {"--env-remove"},
                                        {"--cwd"},
                                        {"--requires"},
                                        {"--dependency"},
                                        {"--begin-time"},
                                        {"--signal"},
                                        {"--urgency"},
                                        {"--setattr"},
                                        {"-S"},
                                        {"--conf"},
                                        {"--broker-opts"},
                                        {"--flags"},
                                        {"--label-io", false},
                                        {"-l", false},
                                        {"--unbuffered", false},
                                        {"-u", false},
                                        {"--verbose", false},
                                        {"-v", false},
                                        {"--dump", false},
                                        {"--wrap", false}};

/// Returns the mark that the text uses; empty when it has none.
std::string_view flux_mark(std::string_view text) {
  const auto found =
      std::ranges::find_if(kFluxMarks, [&](std::string_view mark) { return has_directive(text, mark); });
  return found == std::end(kFluxMarks) ? std::string_view() : *found;
}

bool is_flux(std::string_view text) { return !flux_mark(text).empty() || first_word(text) == "flux"; }

/// Sets the variables that Flux sets inside of a job.
void set_flux_variables(const JobScript& script, ShellValues& values) {
  const JobResources& have = script.resources;
  if (have.nodes) values.set("FLUX_JOB_NNODES", have.nodes->value);
  if (have.tasks) values.set("FLUX_JOB_SIZE", have.tasks->value);
}

/// Reads a command line such as "flux batch -N2 … script.sh" or "flux run …".
/// A script that can be found becomes `other`; otherwise the words that run are put into `command`, including
/// "flux run" itself, which the launch reader reads again.
void read_flux_line(std::string_view text, const ScriptFinder& find, JobScript& script, std::string& command,
                    std::optional<SourceText>& other) {
  ShellValues none;
  const std::vector<ShellCommand> commands = read_commands(text, none);
  if (commands.empty()) return;
  const std::vector<ShellWord>& words = commands[0].words;
  // Older versions write "flux mini run".
  const std::size_t verb = words.size() > 2 && words[1].text == "mini" ? 2 : 1;
  const std::size_t end =
      read_batch_options(words, std::min(verb + 1, words.size()), kFluxOptions, "flux", script);
  const bool runs = verb < words.size() && (words[verb].text == "run" || words[verb].text == "submit");
  // flux batch and flux alloc start a script or command; flux run and submit start tasks themselves.
  if (find && end < words.size() && !runs) other = find(words[end].text);
  for (std::size_t i = runs ? 0 : end; i < words.size(); ++i) command += words[i].text + " ";
}

/// Reads a script with directives or a command line.
void read_flux(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  JobRequest& request = script.request;
  request.asks = true;
  std::string_view body = text;
  std::optional<SourceText> other;
  std::string command;
  const std::string_view mark = flux_mark(text);
  if (!mark.empty()) {
    for (const Directive& line : cut_directives(text, mark, true, "Flux", script))
      read_batch_options(line.words, 0, kFluxOptions, "flux batch", script);
  } else {
    read_flux_line(text, find, script, command, other);
    body = other ? std::string_view(other->text) : std::string_view(command);
  }
  // A request for nodes without a number of GPUs gets whole nodes.
  if (request.nodes && !request.tasks && !request.gpus_per_task && !request.gpus_per_node)
    request.whole_nodes = true;
  script.resources = resolve(request);
  // Sites with Flux give out whole nodes, or cores that belong to the GPUs, so CPUs stay unknown.
  clear_unset_cpus(script);
  ShellValues values;
  set_flux_variables(script, values);
  read_script_body(body, 1, values, find, script);
}

/// Returns the words that start a command. A task has one core and no GPU unless it is given them.
std::string flux_start(const JobPlan& plan, int per_node) {
  return fmt::format("flux run -N {} -n {} -c {} -g {} ", plan.nodes, std::int64_t{plan.nodes} * per_node,
                     std::max(1, plan.cores_per_node / per_node), std::max(1, plan.gpus_per_node / per_node));
}

/// Words of Flux. FLUX_JOB_ID is not set in a batch script, only in what it runs; the number of the shell's
/// process serves as well.
constexpr ScriptWords kFluxWords{.job_id = "$$",
                                 .hosts = "flux hostlist -e local | tr ' ' '\\n'",
                                 .start = flux_start,
                                 .rank = "$FLUX_TASK_RANK",
                                 .local_rank = "$FLUX_TASK_LOCAL_ID",
                                 .starts_mpi = true};

/// Writes a script with one slot for every node, which has all cores and GPUs that the job gets there.
std::string write_flux(const JobPlan& plan) {
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += fmt::format("#flux: --job-name={}\n#flux: --bank=<project>\n", directive_value(plan.name));
  if (!plan.partition.empty()) out += fmt::format("#flux: --queue={}\n", directive_value(plan.partition));
  out += fmt::format("#flux: --nodes={0}\n#flux: --nslots={0}\n#flux: --cores-per-slot={1}\n", plan.nodes,
                     plan.cores_per_node);
  out += fmt::format("#flux: --gpus-per-slot={}\n", plan.gpus_per_node);
  if (limit_s(plan) > 0) out += fmt::format("#flux: --time-limit={}s\n", limit_s(plan));
  return out + "#flux: --output={{name}}-{{id}}.out\n" + script_body(plan, kFluxWords);
}

}  // namespace

JobSystem flux_system() {
  return {.system = BatchSystem::flux,
          .title = "Flux",
          .kind = "a job script of Flux",
          .asks_as = "#flux: --gpus-per-slot=1",
          .starter = "flux run",
          .is = is_flux,
          .read = read_flux,
          .write = write_flux,
          .words = &kFluxWords};
}

}  // namespace foretrain
