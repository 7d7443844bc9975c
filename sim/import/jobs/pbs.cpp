// Reader and writer of PBS Pro and OpenPBS, and of nodes=…:ppn=… of Torque: lines such as "#PBS -l
// select=2:ncpus=32:ngpus=4" and "#PBS -l walltime=12:00:00", and the options of qsub.
// The source is the PBS Professional User's Guide, "Requesting Resources" and "Submitting Jobs".
// Chunks, GPUs, CPUs, MPI ranks, memory, placement, time, queue, account and arrays are taken.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/import/jobs/catalog.hpp"
#include "sim/import/jobs/directives.hpp"
#include "sim/import/jobs/job_text.hpp"
#include "sim/import/jobs/site_words.hpp"
#include "sim/import/jobs/slurm_values.hpp"

namespace foretrain {

namespace {

/// The mark of directives.
constexpr std::string_view kPbsMark = "#PBS";
/// The property by which ALCF's machines are requested, as in select=2:system=polaris.
constexpr std::string_view kSystem = "system=";

/// Limit of memory in bytes, against overflow.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 60;

/// The chunks of one kind in a select statement: their number, and the resources of each.
struct Chunk {
  Field<int> count, cpus, ranks, gpus;
  Field<MemoryRequest> memory;
};

/// Says whether a resource names the type of GPU at some centre.
bool is_gpu_type_key(std::string_view key) {
  return is_one_of(key, {"gpu_type", "gpu_model", "gputype", "accelerator_model", "gpu_name"});
}

/// Sets the type of GPU.
void set_pbs_gpu_type(JobScript& script, const OptionValue& value, std::string_view type) {
  script.request.gpu_type = {lower_case(type), value.word.span};
}

/// Takes a word that stands for nodes of a centre: their GPUs, and their CPUs where the request states none.
void take_site_word(JobScript& script, const SiteWord& row, const SourceSpan& span) {
  JobRequest& request = script.request;
  if (!request.gpus_per_node) request.gpus_per_node = {row.gpus, span};
  if (!request.cpus_per_task) {
    const int ranks = request.tasks_per_node ? std::max(1, request.tasks_per_node->value) : 1;
    request.cpus_per_task = {std::max(1, row.cores / ranks), span};
  }
}

/// Takes one part of a chunk, such as "ngpus=4"; unknown parts are skipped.
void take_chunk_part(JobScript& script, const OptionValue& value, const Pair& part, Chunk& chunk) {
  const auto count = [&] { return count_field(script, value, part.value); };
  if (part.name == "ncpus" || part.name == "ppn") {
    chunk.cpus = count();
  } else if (part.name == "ngpus" || part.name == "gpus" || part.name == "naccelerators") {
    chunk.gpus = count();
  } else if (part.name == "mpiprocs") {
    chunk.ranks = count();
  } else if (part.name == "mem") {
    const auto amount = bytes_memory(part.value);
    if (!amount) return not_understood(script, value, "mem is no amount of memory, as in mem=64gb");
    chunk.memory = {*amount, value.word.span};
  } else if (is_gpu_type_key(part.name)) {
    set_pbs_gpu_type(script, value, part.value);
  } else if (part.name == "system") {
    script.request.constraints.push_back({fmt::format("{}{}", kSystem, part.value), value.word.span});
  }
}

/// Reads "2:ncpus=32:ngpus=4". The number in front is the number of chunks, 1 if there is none.
Chunk read_chunk(JobScript& script, const OptionValue& value, std::string_view text) {
  Chunk chunk;
  const std::vector<Pair> parts = pairs_of(text, ':');
  std::size_t from = 0;
  chunk.count = Found<int>{1, value.word.span};
  if (!parts.empty() && parts[0].value.empty() && whole_number(parts[0].name))
    chunk.count = count_field(script, value, parts[from++].name);
  for (std::size_t i = from; i < parts.size(); ++i) take_chunk_part(script, value, parts[i], chunk);
  return chunk;
}

/// Takes chunks of one kind as nodes. Chunks without GPUs are left aside if others have some, and chunks with
/// different numbers of GPUs are not read.
void take_chunks(JobScript& script, const OptionValue& value, std::vector<Chunk> chunks) {
  JobRequest& request = script.request;
  const bool some_have =
      std::ranges::any_of(chunks, [](const Chunk& c) { return c.gpus && c.gpus->value > 0; });
  const std::size_t before = chunks.size();
  if (some_have) std::erase_if(chunks, [](const Chunk& c) { return !c.gpus || c.gpus->value == 0; });
  if (chunks.size() < before)
    script.remarks.push_back({value.word.span, std::string(value.text.substr(0, 80)),
                              "has chunks without GPUs, which are left aside here"});
  if (chunks.empty() || !chunks[0].count) return;
  int nodes = 0;
  for (const Chunk& chunk : chunks) nodes += chunk.count ? chunk.count->value : 0;
  const Chunk& first = chunks[0];
  const bool alike = std::ranges::all_of(chunks, [&](const Chunk& c) {
    return c.gpus.has_value() == first.gpus.has_value() && (!c.gpus || c.gpus->value == first.gpus->value);
  });
  if (!alike) return not_understood(script, value, "chunks with unlike numbers of GPUs are not read");
  request.nodes = {nodes, value.word.span};
  if (first.gpus) request.gpus_per_node = first.gpus;
  // ncpus is of the chunk, and the request counts CPUs of each task.
  const int ranks = first.ranks ? std::max(1, first.ranks->value) : 1;
  request.tasks_per_node = first.ranks;
  request.cpus_per_task.reset();
  if (first.cpus) request.cpus_per_task = {std::max(1, first.cpus->value / ranks), first.cpus->span};
  request.memory = first.memory;
}

/// Reads the chunks of a select statement, which "+" joins; at most 64.
void select_chunks(JobScript& script, const OptionValue& value, std::string_view text) {
  std::vector<Chunk> chunks;
  for (const std::string_view part : split_at(text, '+')) {
    if (chunks.size() < 64) chunks.push_back(read_chunk(script, value, part));
  }
  take_chunks(script, value, std::move(chunks));
}

/// Reads Torque's "nodes=2:ppn=16:gpus=4", in which ppn counts places for processes.
void select_nodes(JobScript& script, const OptionValue& value, std::string_view text) {
  Chunk chunk = read_chunk(script, value, text.substr(0, text.find('+')));
  // take_chunk_part() stores ppn as CPUs; for Torque they are places for processes with one CPU each.
  chunk.ranks = std::exchange(chunk.cpus, {});
  take_chunks(script, value, {chunk});
  if (chunk.ranks) script.request.cpus_per_task = {1, value.word.span};
}

/// Takes a walltime.
void pbs_time(JobScript& script, const OptionValue& value, std::string_view text) {
  const auto seconds = clock_seconds(text);
  if (!seconds) return not_understood(script, value, "walltime is no time; as in 12:00:00");
  script.request.seconds = {*seconds, value.word.span};
}

/// Takes a resource of the whole job, such as "-l ngpus=8".
void pbs_job_wide(JobScript& script, const OptionValue& value, const Pair& part) {
  JobRequest& request = script.request;
  if (part.name == "ngpus" || part.name == "gpus") request.gpus = count_field(script, value, part.value);
  if (part.name == "ncpus") request.cpus_per_task = count_field(script, value, part.value);
  if (part.name == "mem") {
    const auto amount = bytes_memory(part.value);
    if (amount) request.memory = {*amount, value.word.span};
  }
  if (is_gpu_type_key(part.name)) set_pbs_gpu_type(script, value, part.value);
}

/// Takes the value of -l: select=…, place=…, walltime=… and resources of the whole job, with commas between
/// them.
void pbs_resources(JobScript& script, const OptionValue& value) {
  for (const std::string_view item : split_at(value.text, ',')) {
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(0, equals),
                           rest = equals == std::string_view::npos ? "" : item.substr(equals + 1);
    if (name == "select")
      select_chunks(script, value, rest);
    else if (name == "nodes")
      select_nodes(script, value, rest);
    else if (name == "walltime")
      pbs_time(script, value, rest);
    else if (name == "place")
      script.request.placement = {std::string(rest), value.word.span};
    else
      pbs_job_wide(script, value, {name, rest});
  }
}

/// These functions take the queue (without a server behind "@"), the account, the name and an array of jobs.
void pbs_queue(JobScript& script, const OptionValue& value) {
  script.request.partition = {std::string(value.text.substr(0, value.text.find('@'))), value.word.span};
}
void pbs_account(JobScript& script, const OptionValue& value) {
  script.request.account = {std::string(value.text), value.word.span};
}
void pbs_name(JobScript& script, const OptionValue& value) { script.request.name = value.text; }
void pbs_array(JobScript& script, const OptionValue& value) {
  const auto jobs = slurm_array(value.text);
  if (!jobs) return not_understood(script, value, "is no list of jobs");
  script.request.array = {*jobs, value.word.span};
}

/// The options of qsub. Those without a function have no bearing on a training.
constexpr BatchOption kPbsOptions[] = {{"-l", true, pbs_resources},
                                       {"-q", true, pbs_queue},
                                       {"-A", true, pbs_account},
                                       {"-P", true, pbs_account},
                                       {"-N", true, pbs_name},
                                       {"-J", true, pbs_array},
                                       {"-t", true, pbs_array},
                                       {"-W"},
                                       {"-j"},
                                       {"-o"},
                                       {"-e"},
                                       {"-m"},
                                       {"-M"},
                                       {"-v"},
                                       {"-S"},
                                       {"-k"},
                                       {"-r"},
                                       {"-a"},
                                       {"-c"},
                                       {"-C"},
                                       {"-p"},
                                       {"-u"},
                                       {"-R"},
                                       {"-G"},
                                       {"-d"},
                                       {"-D"},
                                       {"-w"},
                                       {"-V", false},
                                       {"-h", false},
                                       {"-I", false},
                                       {"-X", false},
                                       {"-z", false},
                                       {"-x", false},
                                       {"-f", false},
                                       {"--", false}};

/// Makes one node of all chunks, with the sum of their resources.
void pack_on_one_node(JobRequest& request) {
  const int nodes = request.nodes->value;
  const auto all = [nodes](int each) {
    return static_cast<int>(std::min<std::int64_t>(std::int64_t{each} * nodes, 1'000'000));
  };
  request.gpus_per_node->value = all(request.gpus_per_node->value);
  request.tasks_per_node = {all(request.tasks_per_node ? request.tasks_per_node->value : 1),
                            request.nodes->span};
  if (request.memory) {
    std::int64_t& bytes = request.memory->value.bytes.count;
    bytes = std::min(bytes, kMostBytes / nodes) * nodes;
  }
  request.nodes = {1, request.placement->span};
}

/// Completes the request by PBS's rules. place=pack puts all chunks on one host.
/// Resources of the whole job are shared out over nodes as a centre's queue has them, else they are those of
/// one node.
void settle_pbs(JobScript& script) {
  JobRequest& request = script.request;
  const SiteWord* queue_word =
      request.partition ? find_site_word(BatchSystem::pbs, request.partition->value) : nullptr;
  const bool pack = request.placement && request.placement->value.find("pack") != std::string::npos;
  // The order matters: chunks are packed before resources are shared out and site words are applied.
  if (pack && request.nodes && request.nodes->value > 1 && request.gpus_per_node) pack_on_one_node(request);
  if (request.placement && request.placement->value.find("excl") != std::string::npos)
    request.exclusive = {true, request.placement->span};
  if (request.gpus && !request.nodes) {
    const int per_node =
        queue_word != nullptr && queue_word->gpus > 0 ? queue_word->gpus : request.gpus->value;
    const int nodes = std::max(1, (request.gpus->value + per_node - 1) / std::max(1, per_node));
    request.nodes = {nodes, {}};
    if (request.cpus_per_task)
      request.cpus_per_task->value = std::max(1, request.cpus_per_task->value / nodes);
    if (request.memory) request.memory->value.bytes = {request.memory->value.bytes.count / nodes};
  }
  if (!request.gpus && queue_word != nullptr && request.nodes)
    take_site_word(script, *queue_word, request.partition->span);
  for (const Found<std::string>& property : request.constraints) {
    // Properties of hosts, such as system=polaris, also stand for whole nodes.
    const SiteWord* row =
        find_site_word(BatchSystem::pbs, std::string_view(property.value).substr(kSystem.size()));
    if (row != nullptr && !request.gpus) take_site_word(script, *row, property.span);
  }
}

/// Sets the variables that PBS and Torque set inside of a job.
void set_pbs_variables(const JobScript& script, ShellValues& values) {
  const JobResources& have = script.resources;
  if (have.gpus) values.set("PBS_NGPUS", have.gpus->value);
  if (have.nodes) values.set("PBS_NNODES", have.nodes->value), values.set("PBS_NUM_NODES", have.nodes->value);
  if (have.cpus_per_node) values.set("NCPUS", have.cpus_per_node->value);
  if (have.cpus_per_node && have.nodes)
    values.set("PBS_NCPUS", static_cast<int>(std::min<std::int64_t>(
                                std::int64_t{have.cpus_per_node->value} * have.nodes->value, 1 << 30)));
  if (have.tasks) values.set("PBS_NP", have.tasks->value);
  if (have.tasks_per_node) values.set("PBS_NUM_PPN", have.tasks_per_node->value);
}

/// Says whether the text is a command line that asks for a job: qsub -l … script.sh, or qsub -I.
bool asks_by_qsub(std::string_view text) {
  const std::string_view line = text.substr(0, text.find('\n'));
  return first_word(text) == "qsub" &&
         (line.find("select=") != std::string_view::npos || line.find("ngpus=") != std::string_view::npos ||
          line.find("nodes=") != std::string_view::npos || line.find("walltime=") != std::string_view::npos);
}

bool is_pbs(std::string_view text) { return has_directive(text, kPbsMark) || asks_by_qsub(text); }

/// Reads a script with directives or a command line.
void read_pbs(const SourceText&, std::string_view text, const ScriptFinder& find, JobScript& script) {
  script.request.asks = true;
  std::string_view body = text;
  std::optional<SourceText> other;
  if (has_directive(text, kPbsMark)) {
    for (const Directive& line : cut_directives(text, kPbsMark, true, "PBS", script))
      read_batch_options(line.words, 0, kPbsOptions, "qsub", script);
  } else {
    ShellValues none;
    const std::vector<ShellCommand> commands = read_commands(text, none);
    // A command line names the script behind its options; without one there is no launch to read.
    std::size_t end = 1;
    if (!commands.empty()) end = read_batch_options(commands[0].words, 1, kPbsOptions, "qsub", script);
    if (find && !commands.empty() && end < commands[0].words.size())
      other = find(commands[0].words[end].text);
    body = other ? std::string_view(other->text) : std::string_view();
  }
  settle_pbs(script);
  // A request for nodes without GPUs is one for whole nodes at some sites; take_whole_nodes() decides.
  script.request.whole_nodes = script.request.nodes && !script.request.gpus_per_node;
  script.resources = resolve(script.request);
  clear_unset_cpus(script);
  ShellValues values;
  set_pbs_variables(script, values);
  read_script_body(body, 1, values, find, script);
}

/// Returns memory in the unit that PBS accepts.
std::string pbs_memory_text(Bytes memory) { return fmt::format("{}mb", mebibytes(memory)); }

/// Returns the words that start a command, with Cray PALS' or MPICH's option for processes on each node.
std::string pbs_start(const JobPlan& plan, int per_node) {
  if (plan.nodes * per_node == 1) return "";
  return fmt::format("mpiexec -n {} --ppn {} ", std::int64_t{plan.nodes} * per_node, per_node);
}

/// Words of PBS. The hosts of the file are printed once each, in their order, so that the first is that of
/// rank 0.
constexpr ScriptWords kPbsWords{"$PBS_JOBID", "awk '!seen[$0]++' \"$PBS_NODEFILE\"", pbs_start};

/// Writes a script. place=scatter puts each chunk on a node of its own. PBS limits names to 230 characters.
std::string write_pbs(const JobPlan& plan) {
  std::string out = "#!/bin/bash\n" + script_heading(plan);
  out += fmt::format("#PBS -N {}\n#PBS -A <project>\n", directive_value(plan.name.substr(0, 230)));
  if (!plan.partition.empty()) out += fmt::format("#PBS -q {}\n", directive_value(plan.partition));
  out += fmt::format("#PBS -l select={}:ncpus={}:mpiprocs={}:ngpus={}", plan.nodes, plan.cores_per_node,
                     tasks_per_node(plan), plan.gpus_per_node);
  if (plan.memory_per_node.count > 0) out += ":mem=" + pbs_memory_text(plan.memory_per_node);
  out += plan.nodes > 1 ? "\n#PBS -l place=scatter\n" : "\n";
  if (limit_s(plan) > 0) out += fmt::format("#PBS -l walltime={}\n", hours_clock(limit_s(plan)));
  return out + "#PBS -j oe\n\ncd \"$PBS_O_WORKDIR\" || exit\n" + script_body(plan, kPbsWords);
}

}  // namespace

JobSystem pbs_system() {
  return {.system = BatchSystem::pbs,
          .title = "PBS",
          .kind = "a job script of PBS",
          .asks_as = "#PBS -l select=1:ngpus=1",
          .starter = "mpiexec",
          .is = is_pbs,
          .read = read_pbs,
          .write = write_pbs,
          .words = &kPbsWords};
}

}  // namespace foretrain
