// Programs that start a command on several nodes, or several times on each node: srun, jsrun, flux run, ssh
// and mpirun.
// Each function finds how often it starts the rest of the line, and passes it on. Numbers that the line does
// not state are those of the job.
#include <algorithm>

#include <fmt/format.h>

#include "sim/import/launch_reader.hpp"

namespace foretrain {

/// srun has the job's tasks and nodes unless its options state others. Fewer tasks than nodes use only as
/// many nodes.
void LaunchReader::read_srun(const Words& words, std::size_t i, Way way) {
  const Options options = read_options(words, i, srun_syntax());
  // Numbers of the line go before those of the job, and tasks of each node before tasks of all.
  const LauncherOption* tasks = find_option(options, {"-n", "--ntasks"});
  const LauncherOption* each = find_option(options, {"--ntasks-per-node", "--tasks-per-node"});
  const LauncherOption* nodes = find_option(options, {"-N", "--nodes"});
  const Field<int> all = tasks != nullptr ? count_of(*tasks, way.open) : Field<int>();
  way.outer = StartedBy::srun;
  way.nodes = nodes != nullptr ? count_of(*nodes, way.open) : resources_.nodes;
  if (nodes == nullptr && all && way.nodes && all->value < way.nodes->value)
    way.nodes = Found<int>{std::max(1, all->value), all->span};
  way.per_node = each != nullptr    ? count_of(*each, way.open)
                 : tasks != nullptr ? per_node(all, way.nodes)
                                    : resources_.tasks_per_node;
  // srun binds each task to its CPUs, so the node's other CPUs are not used.
  if (const LauncherOption* cpus = find_option(options, {"-c", "--cpus-per-task"}))
    way.cpus_per_node = times(way.per_node, count_of(*cpus, way.open));
  read_words(words, i, way);
}

/// Resource sets of jsrun: -r of them on a host, else -n shared out; each has -a tasks (1 by default) and -g
/// GPUs (0).
void LaunchReader::read_jsrun(const Words& words, std::size_t i, Way way) {
  const Options options = read_options(words, i, jsrun_syntax());
  const LauncherOption* sets = find_option(options, {"-n", "--nrs"});
  const LauncherOption* each = find_option(options, {"-r", "--rs-per-host"});
  const LauncherOption* tasks = find_option(options, {"-a", "--tasks-per-rs"});
  const LauncherOption* gpus = find_option(options, {"-g", "--gpu-per-rs"});
  const LauncherOption* all = find_option(options, {"-p", "--np"});
  const Field<int> count = sets != nullptr ? count_of(*sets, way.open) : Field<int>();
  const Field<int> sets_of_host =
      each != nullptr ? count_of(*each, way.open) : per_node(count, resources_.nodes);
  way.outer = StartedBy::jsrun;
  way.nodes = resources_.nodes;
  // Fewer sets than fit on all nodes use only as many nodes as they need.
  if (count && sets_of_host && sets_of_host->value > 0 &&
      (!way.nodes || count->value < std::int64_t{way.nodes->value} * sets_of_host->value))
    way.nodes = Found<int>{(count->value + sets_of_host->value - 1) / sets_of_host->value, count->span};
  way.per_node = all != nullptr     ? per_node(count_of(*all, way.open), resources_.nodes)
                 : tasks != nullptr ? times(sets_of_host, count_of(*tasks, way.open))
                                    : sets_of_host;
  // The job of CORAL's machines states no GPUs, so those of the resource sets are what it uses.
  if (gpus != nullptr) way.gpus_per_node = times(sets_of_host, count_of(*gpus, way.open));
  const LauncherOption* cpus = find_option(options, {"-c", "--cpu-per-rs"});
  if (cpus != nullptr && cpus->value != "ALL_CPUS")
    way.cpus_per_node = times(sets_of_host, count_of(*cpus, way.open));
  read_words(words, i, way);
}

/// flux run starts one task on each node unless its options state others.
void LaunchReader::read_flux_run(const Words& words, std::size_t i, Way way) {
  const Options options = read_options(words, i, flux_run_syntax());
  const LauncherOption* tasks = find_option(options, {"-n", "--ntasks"});
  const LauncherOption* each = find_option(options, {"--tasks-per-node"});
  const LauncherOption* nodes = find_option(options, {"-N", "--nodes"});
  const LauncherOption* gpus = find_option(options, {"-g", "--gpus-per-task"});
  way.outer = StartedBy::flux_run;
  way.nodes = nodes != nullptr ? count_of(*nodes, way.open) : resources_.nodes;
  way.per_node = each != nullptr    ? count_of(*each, way.open)
                 : tasks != nullptr ? per_node(count_of(*tasks, way.open), way.nodes)
                                    : Field<int>(Found<int>{1, words[i - 1].span});
  if (gpus != nullptr) way.gpus_per_node = times(way.per_node, count_of(*gpus, way.open));
  if (const LauncherOption* cores = find_option(options, {"-c", "--cores-per-task"}))
    way.cpus_per_node = times(way.per_node, count_of(*cores, way.open));
  read_words(words, i, way);
}

/// pbsdsh and blaunch start a command on every host, ssh on those of the loop in which it stands.
void LaunchReader::read_remote_shell(std::string_view name, const Words& words, std::size_t i, Way way) {
  int hosts = 0;
  read_options(words, i, remote_shell_syntax(name, hosts));
  i += static_cast<std::size_t>(hosts);
  if (i >= words.size()) return;
  // A host in a variable, or a loop over hosts, means every node of the job.
  const bool everywhere = name != "ssh" || way.repeated || !words[i - 1].known;
  way.outer = StartedBy::remote_shell;
  way.nodes = everywhere ? resources_.nodes : Field<int>(Found<int>{1, words[i].span});
  way.per_node = Found<int>{1, words[i].span};
  way.repeated = false;
  // Several words are the arguments of one command; a single word with blanks is a script of its own.
  if (words[i].text.find(' ') == std::string::npos) return read_words(words, i, way);
  std::string text;
  for (std::size_t k = i; k < words.size(); ++k) text += words[k].text + " ";
  read_script(text, words[i].span.line, way, values_);
}

/// mpirun and horovodrun have the job's tasks when no number is given, as under Slurm.
void LaunchReader::read_mpirun(const Words& words, std::size_t i, Way way, StartedBy starter) {
  const Options options =
      read_options(words, ++i, starter == StartedBy::mpirun ? mpirun_syntax() : horovodrun_syntax());
  const LauncherOption* all = find_option(options, {"-np", "-n", "--np", "-c", "--num-proc"});
  const LauncherOption* each =
      find_option(options, {"-ppn", "-perhost", "--npernode", "-npernode", "-N", "--ppn", "--perhost"});
  const LauncherOption* map = find_option(options, {"--map-by", "-map-by"});
  const bool one_each = find_option(options, {"--pernode", "-pernode"}) != nullptr;
  // horovodrun's options are settings of Horovod as well, which are read later.
  if (starter == StartedBy::horovodrun)
    way.launcher_words.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(i));
  // -x NAME=value sets a variable in all processes.
  for (const LauncherOption& option : options) {
    const std::size_t equals = option.value.find('=');
    if (option.name == "-x" && equals != std::string::npos && option.word->known)
      way.variables.push_back(
          {option.value.substr(0, equals), option.value.substr(equals + 1), option.word->span});
  }
  // Inside of srun, each task starts an mpirun of its own.
  if (way.outer && way.nodes && way.nodes->value > 1)
    way.alone = {fmt::format("{} inside of {}", name_of(starter), name_of(*way.outer)), words[i - 1].span};
  // The rest of the line is started by mpirun itself, whatever started mpirun.
  way.outer = starter;
  way.nodes = resources_.nodes;
  // --map-by ppr:4:node is four processes on each node.
  const auto mapped = map != nullptr && map->value.starts_with("ppr:")
                          ? whole_number(map->value.substr(4, map->value.find(':', 4) - 4))
                          : std::nullopt;
  const bool by_node =
      mapped && map->value.find(":node", 4) != std::string::npos && *mapped >= 0 && *mapped <= 100'000;
  // The first of several ways to state the processes of a node counts.
  if (each != nullptr)
    way.per_node = count_of(*each, way.open);
  else if (one_each)
    way.per_node = Found<int>{1, words[i - 1].span};
  else if (by_node)
    way.per_node = Found<int>{static_cast<int>(*mapped), map->word->span};
  else if (all != nullptr)
    way.per_node = per_node(count_of(*all, way.open), way.nodes);
  else
    way.per_node = starter == StartedBy::mpirun ? resources_.tasks_per_node : Field<int>();
  read_words(words, i, way);
}

}  // namespace foretrain
