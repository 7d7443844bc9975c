// Reader and writer of Grid Engine (SGE, UGE, AGE): lines such as "#$ -l gpu=2,h_rt=1:00:00" and "#$ -pe smp
// 8", from its submit(1) page; and resource types of centres whose nodes are asked for by name (rt_F,
// node_f).
// GPUs, slots, time, memory, queue, project and arrays are taken. The names of resources differ by centre, so
// the common ones are known.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/site_words.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// The mark of directives, with the blank that follows it.
constexpr std::string_view kGridMark = "#$ ";

/// Says whether a resource counts GPUs at some centre.
bool counts_gpus_of_grid(std::string_view key) {
  return is_one_of(key, {"gpu", "gpus", "ngpus", "gpucard", "cuda", "gpu_card", "nvidia_gpu", "coproc_v100",
                         "coproc_k80", "coproc_p100", "gpu_count"});
}

/// Takes a resource type of a centre, such as "rt_F=2": that many nodes, or parts of one, with their GPUs and
/// cores.
void take_node_type(JobScript& script, const OptionValue& value, const SiteWord& row,
                    std::string_view count) {
  JobRequest& request = script.request;
  request.nodes =
      count.empty() ? Field<int>(Found<int>{1, value.word.span}) : count_field(script, value, count);
  request.gpus_per_node = {row.gpus, value.word.span};
  request.partition = {std::string(row.word), value.word.span};
  if (row.cores > 0) request.cpus_per_task = {row.cores, {}};
}

/// Takes the names and amounts of "-l h_rt=1:00:00,gpu=2". Unknown resources are skipped.
void grid_resources(JobScript& script, const OptionValue& value) {
  JobRequest& request = script.request;
  for (const Pair& part : pairs_of(value.text, ',')) {
    if (const SiteWord* row = find_site_word(BatchSystem::grid_engine, part.name)) {
      take_node_type(script, value, *row, part.value);
    } else if (counts_gpus_of_grid(part.name)) {
      request.gpus_per_node = part.value.empty() || part.value == "true"
                                  ? Field<int>(Found<int>{1, value.word.span})
                                  : count_field(script, value, part.value);
    } else if (part.name == "h_rt" || (part.name == "s_rt" && !request.seconds)) {
      // h_rt is the hard limit, which ends the job; the soft limit s_rt counts only where it is missing.
      const auto seconds = clock_seconds(part.value);
      if (!seconds) not_understood(script, value, "h_rt is no time; as in 12:00:00");
      if (seconds) request.seconds = {*seconds, value.word.span};
    } else if (is_one_of(part.name, {"h_vmem", "mem", "mem_free", "mem_per_core", "h_data", "rmem"})) {
      const auto amount = bytes_memory(part.value);
      if (!amount) not_understood(script, value, fmt::format("{} is no amount of memory", part.name));
      if (amount) request.memory_per_cpu = {*amount, value.word.span};
    } else if (part.name == "gpu_type" || part.name == "gputype" || part.name == "gpu_model") {
      request.gpu_type = {lower_case(part.value), value.word.span};
    }
  }
}

/// Says whether a parallel environment gives slots of one node only, by its name.
bool is_of_one_node(std::string_view environment) {
  const std::string name = lower_case(environment);
  return std::ranges::any_of(std::array{"smp", "omp", "shared", "thread", "single", "local", "def_slot"},
                             [&](const char* word) { return name.find(word) != std::string::npos; });
}

/// Returns the slots of each node in names such as "mpi_16_tasks_per_node" or "mpi-24"; 0 when the name tells
/// none.
int slots_per_node(std::string_view environment) {
  const std::size_t at = environment.find_first_of("0123456789");
  if (at == std::string_view::npos || lower_case(environment).find("mpi") == std::string::npos) return 0;
  const std::size_t end = std::min(environment.find_first_not_of("0123456789", at), environment.size());
  const auto number = whole_number(environment.substr(at, end - at));
  return number && *number > 0 && *number <= 1024 ? static_cast<int>(*number) : 0;
}

/// Takes "-pe NAME N": N slots, which are threads of one node or places for processes, by the name.
void parallel_environment(JobScript& script, const OptionValue& value) {
  JobRequest& request = script.request;
  const std::size_t blank = value.text.find(' ');
  const std::string_view name = value.text.substr(0, blank);
  if (blank == std::string_view::npos) return not_understood(script, value, "has no number of slots");
  const std::string_view slots = trimmed(value.text.substr(blank + 1));
  // A range of slots such as "4-8" is taken at its least.
  const Field<int> count = count_field(script, value, slots.substr(0, slots.find('-')));
  if (!count) return;
  if (is_of_one_node(name))
    return request.cpus_per_task = count, void(request.nodes = Found<int>{1, count->span});
  const int each = slots_per_node(name);
  request.tasks = count;
  // A job with fewer slots than a node has gets no more tasks than slots.
  if (each > 0) request.tasks_per_node = Found<int>{std::min(each, std::max(1, count->value)), count->span};
  // The environment's allocation rule is a setting of the site, so one node is assumed.
  if (each == 0 && count->value > 1)
    script.remarks.push_back({value.word.span, std::string(value.text.substr(0, 60)),
                              "does not say how many slots a node gets; taken as one node"});
}

/// These functions take the queue, the project, the name and an array of jobs.
void grid_queue(JobScript& script, const OptionValue& value) {
  if (!script.request.partition) script.request.partition = {std::string(value.text), value.word.span};
}
void grid_project(JobScript& script, const OptionValue& value) {
  script.request.account = {std::string(value.text), value.word.span};
}
void grid_name(JobScript& script, const OptionValue& value) { script.request.name = value.text; }
void grid_array(JobScript& script, const OptionValue& value) {
  const auto jobs = slurm_array(value.text);
  if (!jobs) return not_understood(script, value, "is no list of jobs");
  script.request.array = {*jobs, value.word.span};
}

/// The options of qsub. Those without a function have no bearing on a training.
constexpr BatchOption kGridOptions[] = {{"-l", true, grid_resources},
                                        {"-pe", true, parallel_environment},
                                        {"-q", true, grid_queue},
                                        {"-P", true, grid_project},
                                        {"-A", true, grid_project},
                                        {"-g", true, grid_project},
                                        {"-N", true, grid_name},
                                        {"-t", true, grid_array},
                                        {"-S"},
                                        {"-o"},
                                        {"-e"},
                                        {"-j"},
                                        {"-m"},
                                        {"-M"},
                                        {"-v"},
                                        {"-p"},
                                        {"-r"},
                                        {"-b"},
                                        {"-ac"},
                                        {"-ar"},
                                        {"-jc"},
                                        {"-hold_jid"},
                                        {"-tc"},
                                        {"-wd"},
                                        {"-a"},
                                        {"-R"},
                                        {"-sync"},
                                        {"-w"},
                                        {"-notify", false},
                                        {"-c"},
                                        {"-js"},
                                        {"-dl"},
                                        {"-i"},
                                        {"-now"},
                                        {"-binding"},
                                        {"-masterq"},
                                        {"-cwd", false},
                                        {"-V", false},
                                        {"-soft", false},
                                        {"-hard", false},
                                        {"-h", false},
                                        {"-terse", false},
                                        {"-verify", false},
                                        {"-clear", false}};

/// Joins the two words behind -pe into one, since options take one value.
std::vector<ShellWord> with_joined_pe(std::vector<ShellWord> words) {
  for (std::size_t i = 0; i + 2 < words.size(); ++i) {
    if (words[i].text != "-pe") continue;
    words[i + 1].text += " " + words[i + 2].text;
    words[i + 1].known = words[i + 1].known && words[i + 2].known;
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 2);
  }
  return words;
}

/// Says whether the text is a command line that asks Grid Engine, not PBS, whose command is qsub, too.
bool asks_by_grid_qsub(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  const std::string_view word = first_word(text);
  const bool by_type = std::ranges::any_of(site_words(), [&](const SiteWord& row) {
    return row.system == BatchSystem::grid_engine &&
           line.find(" " + std::string(row.word) + "=") != std::string_view::npos;
  });
  return (word == "qsub" || word == "qrsh" || word == "qlogin") &&
         (by_type || line.find(" -pe ") != std::string_view::npos ||
          line.find("h_rt=") != std::string_view::npos);
}

bool is_grid_engine(std::string_view text) { return has_directive(text, "#$ -") || asks_by_grid_qsub(text); }

/// Sets the variables that Grid Engine sets inside of a job.
void set_grid_variables(const JobScript& script, ShellValues& values) {
  const JobResources& have = script.resources;
  if (have.nodes) values.set("NHOSTS", have.nodes->value);
  const int slots = script.request.tasks           ? script.request.tasks->value
                    : script.request.cpus_per_task ? script.request.cpus_per_task->value
                                                   : 0;
  if (slots > 0) values.set("NSLOTS", slots);
}

/// Reads a script with directives or a command line.
void read_grid_engine(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  script.request.asks = true;
  std::string_view body = text;
  std::optional<SourceText> other;
  if (has_directive(text, "#$ -")) {
    for (Directive& line : cut_directives(text, kGridMark, false, "Grid Engine", script))
      read_batch_options(with_joined_pe(std::move(line.words)), 0, kGridOptions, "qsub", script);
  } else {
    ShellValues none;
    const std::vector<ShellCommand> commands = read_commands(text, none);
    const auto words = with_joined_pe(commands.empty() ? std::vector<ShellWord>{} : commands[0].words);
    const std::size_t end =
        read_batch_options(words, std::min<std::size_t>(1, words.size()), kGridOptions, "qsub", script);
    if (find && end < words.size()) other = find(words[end].text);
    body = other ? std::string_view(other->text) : std::string_view();
  }
  script.resources = resolve(script.request);
  ShellValues values;
  set_grid_variables(script, values);
  read_script_body(body, 1, values, find, script);
}

/// Returns the words that start a command. A launcher that runs once on each node uses all of its cores, but
/// Open MPI would bind it to one.
std::string grid_start(const JobPlan& plan, int per_node) {
  if (plan.nodes * per_node == 1) return "";
  return fmt::format("mpirun -np {} -npernode {} {}", std::int64_t{plan.nodes} * per_node, per_node,
                     per_node == 1 ? "--bind-to none " : "");
}

/// Words of Grid Engine. Its slots are cores, so mpirun has to be told how many processes a node gets.
constexpr ScriptWords kGridWords{.job_id = "$JOB_ID",
                                 .hosts = "cut -d ' ' -f 1 \"$PE_HOSTFILE\"",
                                 .start = grid_start,
                                 .starts_mpi = true};

/// Writes a script. A partition that is a resource type states nodes and GPUs; otherwise slots and GPUs are
/// stated.
std::string write_grid_engine(const JobPlan& plan) {
  const SiteWord* type = find_site_word(BatchSystem::grid_engine, plan.partition);
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += fmt::format("#$ -N {}\n#$ -P <project>\n#$ -cwd\n#$ -j y\n", directive_value(plan.name));
  // A resource type gives whole nodes or fixed parts, so nothing else has to be requested.
  if (type != nullptr) {
    out += fmt::format("#$ -l {}={}\n", type->word, plan.nodes);
  } else {
    if (!plan.partition.empty()) out += fmt::format("#$ -q {}\n", directive_value(plan.partition));
    if (plan.nodes == 1) out += fmt::format("#$ -pe smp {}\n", plan.cores_per_node);
    if (plan.nodes > 1)
      out += fmt::format("#$ -pe mpi_{}_tasks_per_node {}\n", plan.cores_per_node,
                         plan.nodes * plan.cores_per_node);
    out += fmt::format("#$ -l gpu={}\n", plan.gpus_per_node);
  }
  if (limit_s(plan) > 0) out += fmt::format("#$ -l h_rt={}\n", hours_clock(limit_s(plan)));
  return out + script_body(plan, kGridWords);
}

}  // namespace

JobSystem grid_engine_system() {
  return {.system = BatchSystem::grid_engine,
          .title = "Grid Engine",
          .kind = "a job script of Grid Engine",
          .asks_as = "#$ -l gpu=1",
          .starter = "mpirun",
          .is = is_grid_engine,
          .read = read_grid_engine,
          .write = write_grid_engine,
          .words = &kGridWords};
}

}  // namespace foretrain
