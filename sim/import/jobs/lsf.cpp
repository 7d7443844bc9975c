// Reader and writer of IBM Spectrum LSF: lines such as "#BSUB -n 8 -R "span[ptile=4]"" and "#BSUB -gpu
// "num=4"", and the options of bsub, from the bsub reference and "Submitting jobs that require GPU
// resources".
// The machines of CORAL (Summit, Lassen) ask with -nnodes, and their jsrun lines state the GPUs.
// Slots, nodes, GPUs, cores, time, queue, project and arrays are taken. Memory is not: whether it is of a
// slot or of a host is a setting of the centre.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// The mark of directives.
constexpr std::string_view kLsfMark = "#BSUB";

/// These functions take slots ("8" or "4,8"), whole nodes, the queue and the project.
void lsf_slots(JobScript& script, const OptionValue& value) {
  script.request.tasks = count_field(script, value, value.text.substr(0, value.text.find(',')));
}
void lsf_nodes(JobScript& script, const OptionValue& value) {
  script.request.nodes = count_field(script, value, value.text);
  script.request.whole_nodes = true;
}
void lsf_queue(JobScript& script, const OptionValue& value) {
  script.request.partition = {std::string(first_word(value.text)), value.word.span};
}
void lsf_project(JobScript& script, const OptionValue& value) {
  script.request.account = {std::string(value.text), value.word.span};
}

/// Takes the name of the job, and an array in "name[1-10%2]".
void lsf_name(JobScript& script, const OptionValue& value) {
  const std::size_t open = value.text.find('[');
  script.request.name = value.text.substr(0, open);
  if (open == std::string_view::npos) return;
  const std::string_view list = value.text.substr(open + 1, value.text.find(']', open) - open - 1);
  const auto jobs = slurm_array(list);
  if (!jobs) return not_understood(script, value, "is no list of jobs");
  script.request.array = {*jobs, value.word.span};
}

/// Takes a time of the form [hour:]minute, also with "/host" behind it.
void lsf_time(JobScript& script, const OptionValue& value) {
  const std::string_view text = value.text.substr(0, value.text.find('/'));
  const auto units = clock_seconds(text);
  // clock_seconds() counts "12:00" as minutes and seconds, so hours and minutes are 60 times as much.
  if (!units || std::count(text.begin(), text.end(), ':') > 1)
    return not_understood(script, value, "is no time; as in 12:00 (hours and minutes) or 90 (minutes)");
  script.request.seconds = {*units * 60, value.word.span};
}

/// Takes "num=4:mode=exclusive_process:gmodel=NVIDIAA100". The number is of each host or, with "/task", of
/// each task; it is 1 if it is not stated.
void lsf_gpu(JobScript& script, const OptionValue& value) {
  JobRequest& request = script.request;
  request.gpus_per_node = {1, value.word.span};
  for (const Pair& part : pairs_of(value.text, ':')) {
    if (part.name == "j_exclusive" && part.value == "yes") request.exclusive = {true, value.word.span};
    if (part.name == "gmodel") request.gpu_type = {lower_case(part.value), value.word.span};
    if (part.name != "num") continue;
    const std::size_t slash = part.value.find('/');
    const Field<int> count = count_field(script, value, part.value.substr(0, slash));
    const bool per_task = slash != std::string_view::npos && part.value.substr(slash) == "/task";
    (per_task ? request.gpus_per_task : request.gpus_per_node) = count;
    if (per_task) request.gpus_per_node.reset();
  }
}

/// Takes a job that is alone on its hosts.
void lsf_exclusive(JobScript& script, const OptionValue& value) {
  script.request.exclusive = {true, value.word.span};
}

/// Returns the number behind `key`, as in "ptile=4" or "core(8)"; no value when there is none.
Field<int> number_behind(JobScript& script, const OptionValue& value, std::string_view text,
                         std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = text.substr(at + key.size());
  const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
  return end == 0 ? Field<int>() : count_field(script, value, rest.substr(0, end));
}

/// Takes -R "span[ptile=4] rusage[ngpus_excl_p=2] affinity[core(8)]".
void lsf_requirement(JobScript& script, const OptionValue& value) {
  std::string text(value.text);
  std::erase(text, ' ');
  JobRequest& request = script.request;
  // Parts of the requirement are looked for by their keys; unknown parts are skipped.
  if (const auto hosts = number_behind(script, value, text, "hosts=")) request.nodes = hosts;
  if (const auto tile = number_behind(script, value, text, "ptile=")) request.tasks_per_node = tile;
  if (const auto gpus = number_behind(script, value, text, "ngpus_excl_p=")) request.gpus_per_node = gpus;
  if (const auto gpus = number_behind(script, value, text, "ngpus_physical=")) request.gpus_per_node = gpus;
  if (const auto gpus = number_behind(script, value, text, "ngpus_shared=")) request.gpus_per_node = gpus;
  if (const auto cores = number_behind(script, value, text, "core(")) request.cpus_per_task = cores;
}

/// The options of bsub. Those without a function have no bearing on a training.
constexpr BatchOption kLsfOptions[] = {{"-n", true, lsf_slots},
                                       {"-nnodes", true, lsf_nodes},
                                       {"-q", true, lsf_queue},
                                       {"-P", true, lsf_project},
                                       {"-G", true, lsf_project},
                                       {"-J", true, lsf_name},
                                       {"-W", true, lsf_time},
                                       {"-gpu", true, lsf_gpu},
                                       {"-R", true, lsf_requirement},
                                       {"-o"},
                                       {"-e"},
                                       {"-oo"},
                                       {"-eo"},
                                       {"-M"},
                                       {"-m"},
                                       {"-u"},
                                       {"-U"},
                                       {"-a"},
                                       {"-app"},
                                       {"-alloc_flags"},
                                       {"-b"},
                                       {"-c"},
                                       {"-cwd"},
                                       {"-csm"},
                                       {"-core_isolation"},
                                       {"-env"},
                                       {"-L"},
                                       {"-w"},
                                       {"-We"},
                                       {"-sla"},
                                       {"-Ep"},
                                       {"-E"},
                                       {"-g"},
                                       {"-i"},
                                       {"-f"},
                                       {"-t"},
                                       {"-stage"},
                                       {"-step_cgroup"},
                                       {"-smt"},
                                       {"-ln_slots"},
                                       {"-Q"},
                                       {"-D"},
                                       {"-C"},
                                       {"-S"},
                                       {"-v"},
                                       {"-x", false, lsf_exclusive},
                                       {"-N", false},
                                       {"-B", false},
                                       {"-K", false},
                                       {"-H", false},
                                       {"-r", false},
                                       {"-I", false},
                                       {"-Is", false},
                                       {"-Ip", false},
                                       {"-XF", false},
                                       {"-Ne", false}};

/// Reports slots without span[…], which LSF puts on any hosts with free ones. They are taken to be on one
/// node.
void settle_lsf(JobScript& script) {
  JobRequest& request = script.request;
  const bool open = !request.nodes && !request.tasks_per_node && request.tasks && request.tasks->value > 1;
  if (open)
    script.remarks.push_back({request.tasks->span, "",
                              "slots without span[hosts=1] or span[ptile=…] may lie on any number of nodes; "
                              "taken as one node"});
}

/// Sets the variables that LSF sets inside of a job.
void set_lsf_variables(const JobScript& script, ShellValues& values) {
  if (script.request.tasks) values.set("LSB_DJOB_NUMPROC", script.request.tasks->value);
  if (script.request.tasks) values.set("LSB_MAX_NUM_PROCESSORS", script.request.tasks->value);
  if (script.request.partition) values.set("LSB_QUEUE", script.request.partition->value);
}

bool is_lsf(std::string_view text) { return has_directive(text, kLsfMark) || first_word(text) == "bsub"; }

/// Reads a script with directives or a command line.
void read_lsf(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  script.request.asks = true;
  std::string_view body = text;
  std::optional<SourceText> other;
  std::string command;
  if (has_directive(text, kLsfMark)) {
    for (const Directive& line : cut_directives(text, kLsfMark, false, "LSF", script))
      read_batch_options(line.words, 0, kLsfOptions, "bsub", script);
  } else {
    ShellValues none;
    const std::vector<ShellCommand> commands = read_commands(text, none);
    const std::vector<ShellWord> words = commands.empty() ? std::vector<ShellWord>{} : commands[0].words;
    const std::size_t end =
        read_batch_options(words, std::min<std::size_t>(1, words.size()), kLsfOptions, "bsub", script);
    // bsub starts either a script that lies beside the text or the rest of the line as a command.
    for (std::size_t i = end; i < words.size(); ++i) command += words[i].text + " ";
    if (find && end < words.size()) other = find(words[end].text);
    body = other ? std::string_view(other->text) : std::string_view(command);
  }
  settle_lsf(script);
  script.resources = resolve(script.request);
  // Whole nodes have all their cores, whose number only the cluster knows.
  if (script.request.whole_nodes) clear_unset_cpus(script);
  ShellValues values;
  set_lsf_variables(script, values);
  read_script_body(body, 1, values, find, script);
}

/// Returns the words that start a command. A launcher that runs once on each node uses all of its cores, but
/// Open MPI would bind it to one.
std::string lsf_start(const JobPlan& plan, int per_node) {
  if (plan.nodes * per_node == 1) return "";
  return fmt::format("mpirun -np {} --map-by ppr:{}:node {}", std::int64_t{plan.nodes} * per_node, per_node,
                     per_node == 1 ? "--bind-to none " : "");
}

/// Words of LSF. The hosts of the file are printed once each, in their order, so that the first is that of
/// rank 0.
constexpr ScriptWords kLsfWords{"$LSB_JOBID", "awk '!seen[$0]++' \"$LSB_DJOB_HOSTFILE\"", lsf_start};

/// Writes a script. LSF counts minutes, so the time limit is rounded up.
std::string write_lsf(const JobPlan& plan) {
  const int tasks = tasks_per_node(plan), cores = std::max(1, plan.cores_per_node / tasks);
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += fmt::format("#BSUB -J {}\n#BSUB -P <project>\n", directive_value(plan.name));
  if (!plan.partition.empty()) out += fmt::format("#BSUB -q {}\n", directive_value(plan.partition));
  out += fmt::format("#BSUB -n {}\n#BSUB -R \"span[ptile={}] affinity[core({})]\"\n",
                     std::int64_t{plan.nodes} * tasks, tasks, cores);
  out += fmt::format("#BSUB -gpu \"num={}:mode=shared\"\n", plan.gpus_per_node);
  if (limit_s(plan) > 0)
    out += fmt::format("#BSUB -W {}:{:02}\n", (limit_s(plan) + 59) / 3600, (limit_s(plan) + 59) / 60 % 60);
  return out + "#BSUB -o %J.out\n" + script_body(plan, kLsfWords);
}

}  // namespace

JobSystem lsf_system() {
  return {.system = BatchSystem::lsf,
          .title = "LSF",
          .kind = "a job script of LSF",
          .asks_as = "#BSUB -gpu \"num=1\"",
          .starter = "jsrun or mpirun",
          .is = is_lsf,
          .read = read_lsf,
          .write = write_lsf,
          .words = &kLsfWords};
}

}  // namespace foretrain
