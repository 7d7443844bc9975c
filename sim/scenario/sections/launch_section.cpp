// The table [launch]. Launchers that start a process per GPU do not suit strategies in which one process
// drives several.
#include "sim/scenario/sections/launch_section.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/quantity.hpp"
#include "sim/cluster/cluster.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

namespace {

/// Upper limits of processes of a node, of listed slow GPUs, and of excluded nodes.
constexpr int kMostProcessesOfNode = 64;
constexpr std::size_t kMostSlowGpus = 1000, kMostLeftOut = 10'000;
/// Smallest clock that a file may state; a GPU that is fully throttled still has a tenth of its clock.
constexpr double kSlowestClock = 0.05;

/// Reports ways of starting processes that the strategy cannot use.
void check_processes(TableReader& launch, const Scenario& scenario) {
  for (const StartFault& fault : start_faults(scenario))
    launch.report(launch.span_of(fault.key), fault.message, fault.hint);
}

/// Returns why the strategy cannot run on `gpus` GPUs. It is empty also if the cluster has fewer GPUs or the
/// processes cannot be started, which are mistakes of their own.
std::string refusal(const Scenario& scenario, int gpus) {
  if (!start_faults(scenario).empty()) return {};
  return gpus <= gpus_of_job(scenario) ? why_not_together(scenario, gpus) : std::string();
}

/// Returns the bytes of /dev/shm for one connection over host memory (src/transport/shm.cc;
/// docs/sources/nccl_peers.md 7).
Bytes shm_of_connection(const nccl::Version& version) {
  return {version >= nccl::Version{2, 21, 0} ? 7'340'384 : 9'637'888};
}

/// Returns the number of edges of the running rings whose GPUs cannot access each other's memory.
std::int64_t shm_connections(const Scenario& scenario, int gpus) {
  // One node is enough, because ranks of different nodes do not share memory.
  const Cluster cluster = Cluster::build(scenario.cluster, 1);
  const Placement placement = place_packed(gpus, scenario.cluster.node.gpus);
  const nccl::Job job = nccl::inspect(cluster, placement, scenario.collective.nccl);
  std::int64_t connections = 0;
  for (int channel = 0; gpus > 1 && channel < job.coll_channels; ++channel) {
    const std::vector<int>& ring = job.ring_path(channel, 0).gpus;
    for (std::size_t i = 0; i < ring.size(); ++i) {
      const VertexId from = cluster.gpu(0, ring[i]), to = cluster.gpu(0, ring[(i + 1) % ring.size()]);
      connections += cluster.route_in_node(from, to).staged || !scenario.collective.nccl.p2p ? 1 : 0;
    }
  }
  return connections;
}

/// Reads launch.nodes_of: numbers of nodes by kind, whose names are resolved when the cluster is known.
void read_asked_nodes(TableReader& launch, std::string_view key, JobMachine& launched) {
  const Table* table = launch.table(key);
  if (table == nullptr) return;
  TableReader reader(*table, launch.full_name(key), launch.diagnostics());
  for (const Entry& entry : table->entries) {
    if (launched.asked_nodes.size() >= kMostNodeKinds) break;
    const auto nodes = reader.integer(entry.key, 0, kMostNodes);
    if (nodes) launched.asked_nodes.push_back({entry.key, static_cast<int>(*nodes), entry.key_span});
  }
}

/// Reads launch.exclude; the numbers are sorted for later binary searches.
void read_left_out(TableReader& launch, std::string_view key, JobMachine& launched) {
  const auto nodes = launch.integers(key, 0, kMostNodes - 1, kMostLeftOut);
  if (!nodes) return;
  for (const std::int64_t node : *nodes) launched.left_out.push_back(static_cast<int>(node));
  std::ranges::sort(launched.left_out);
}

/// Reads launch.slow_gpus.
void read_slow_gpus(TableReader& launch, std::string_view key, JobMachine& launched) {
  const Array* tables = launch.array(key, kMostSlowGpus);
  if (tables == nullptr) return;
  for (const Value& value : *tables) {
    const Table* table = std::get_if<Table>(&value.data);
    if (table == nullptr) {
      launch.report(value.span, fmt::format("{} holds tables", launch.full_name(key)),
                    "as in [{ node = 0, gpu = 3, clock = 0.8 }]");
      continue;
    }
    TableReader reader(*table, launch.full_name(key), launch.diagnostics());
    SlowGpu slow;
    read_keys(reader, slow_gpu_keys(), slow);
    reader.finish();
    slow.span = value.span;
    launched.slow_gpus.push_back(slow);
  }
}

/// Reads launch.slow_draw.
void read_slow_draw(TableReader& launch, std::string_view key, JobMachine& launched) {
  const Table* table = launch.table(key);
  if (table == nullptr) return;
  TableReader reader(*table, launch.full_name(key), launch.diagnostics());
  read_keys(reader, slow_draw_keys(), launched.slow_draw);
  reader.finish();
}

/// Reports settings that leave the job without nodes, unless a misspelt kind is the reason.
void check_some_are_left(TableReader& launch, bool knows_kinds, Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  Launch& launched = scenario.launch;
  for (const int node : launched.left_out) {
    if (node < cluster.nodes) continue;
    launch.report(launch.span_of("exclude"), fmt::format("cluster {} has no node {}", cluster.name, node),
                  fmt::format("it has {}, from node 0 on", counted(cluster.nodes, "node")));
  }
  if (gpus_of_job(scenario) > 0 || gpu_count(cluster) == 0) return;
  const std::string_view key = launch.has("nodes_of") ? "nodes_of" : "exclude";
  if (knows_kinds)
    launch.report(launch.span_of(key), fmt::format("launch.{} leaves the job without nodes", key),
                  "at least one, or leave it out");
  launched.nodes_of.clear(), launched.left_out.clear();
}

/// Resolves kinds of node by their names; reports numbers that the cluster does not have.
void settle_nodes(TableReader& launch, Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  Launch& launched = scenario.launch;
  if (launched.asked_nodes.empty()) return;
  launched.nodes_of.assign(static_cast<std::size_t>(kind_count(cluster)), 0);
  for (const RequestedNodes& asked : launched.asked_nodes) {
    const std::optional<int> kind = find_kind(cluster, asked.kind);
    if (!kind) {
      launch.report(asked.span, unknown_kind(cluster, asked.kind), hint_for_kind(cluster, asked.kind));
      continue;
    }
    const int there = nodes_of_kind(cluster, *kind);
    if (asked.nodes > there)
      launch.report(asked.span, fmt::format("cluster {} has {} of kind {}, not {}", cluster.name,
                                            counted(there, "node"), asked.kind, asked.nodes));
    launched.nodes_of[static_cast<std::size_t>(*kind)] = std::min(asked.nodes, there);
  }
}

/// Settles a job with some GPUs of each of its nodes, as with --nodes=2 --gpus-per-node=4 of eight.
void spread_over_nodes(TableReader& launch, Scenario& scenario) {
  ClusterSpec& cluster = scenario.cluster;
  const int nodes = scenario.launch.nodes;
  if (nodes == 0) return;
  if (is_mixed(cluster))
    return launch.report(launch.span_of("nodes"),
                         fmt::format("cluster {} has several kinds of node", cluster.name),
                         "launch.nodes_of says how many of each");
  if (nodes > cluster.nodes)
    return launch.report(launch.span_of("nodes"), fmt::format("cluster {} has {}, not {}", cluster.name,
                                                              counted(cluster.nodes, "node"), nodes));
  // The job gets these nodes only, so the cluster is cut to them.
  scenario.layout = Layout::spread;
  cluster.nodes = nodes;
}

/// Reports slow GPUs that do not exist or are listed twice.
void check_slow_gpus(TableReader& launch, const Scenario& scenario) {
  const ClusterSpec& cluster = scenario.cluster;
  std::set<std::pair<int, int>> seen;
  for (const SlowGpu& slow : scenario.launch.slow_gpus) {
    if (cluster.name.empty()) return;
    if (slow.node >= cluster.nodes) {
      launch.report(slow.span, fmt::format("cluster {} has no node {}", cluster.name, slow.node),
                    fmt::format("it has {}, from node 0 on", counted(cluster.nodes, "node")));
      continue;
    }
    const int gpus = node_of_kind(cluster, kind_of_node(cluster, slow.node)).gpus;
    if (slow.gpu >= gpus)
      launch.report(slow.span, fmt::format("node {} has no GPU {}", slow.node, slow.gpu),
                    fmt::format("it has {}, from GPU 0 on", counted(gpus, "GPU")));
    if (!seen.emplace(slow.node, slow.gpu).second)
      launch.report(slow.span, fmt::format("GPU {} of node {} is there twice", slow.gpu, slow.node));
  }
}

/// Returns the name of a kind of isolation in files.
std::string_view name_of(nccl::Isolation isolation) {
  return kIsolationNames[static_cast<std::size_t>(isolation)];
}

}  // namespace

std::string unknown_kind(const ClusterSpec& cluster, std::string_view kind) {
  return fmt::format("cluster {} has no kind of node \"{}\"", cluster.name, printable(kind));
}

std::string hint_for_kind(const ClusterSpec& cluster, std::string_view kind) {
  std::vector<std::string> names;
  for (int known = 0; known < kind_count(cluster); ++known) names.push_back(name_of_kind(cluster, known));
  const std::string meant = did_you_mean(kind, names);
  return meant.empty() ? fmt::format("it has: {}", fmt::join(names, ", ")) : meant;
}

Key<JobMachine> isolation_key() {
  return {
      "isolation", takes::choice<&JobMachine::isolation>(choices_of<nccl::Isolation>(kIsolationNames)),
      "\"pod\"", "none",
      "whether each rank has a host name of its own, so that NCCL takes it for a node: no NVLink, P2P or "
      "shared memory between GPUs of a machine, which share its NICs; a pod has its own network interface, "
      "too, and one TCP connection to each peer"};
}

/// Only settings that the file states are reported; defaults give way without a message.
void check_isolation(TableReader& document, const nccl::Settings& settings) {
  const Table *launch = document.table("launch"), *nccl = document.table("nccl");
  if (settings.isolation == nccl::Isolation::none || launch == nullptr || nccl == nullptr) return;
  const TableReader asked(*nccl, "nccl", document.diagnostics());
  TableReader launched(*launch, "launch", document.diagnostics());
  for (const auto& [key, wanted] : {std::pair{"p2p", settings.p2p}, {"nvls", settings.nvls}}) {
    if (!asked.has(key) || !wanted) continue;
    launched.report(
        launched.span_of("isolation"),
        fmt::format("launch.isolation = \"{}\" leaves no way for nccl.{} = true", name_of(settings.isolation),
                    key),
        "ranks with host names of their own meet over the network; one host name or NCCL_HOSTID, and "
        "a shared /dev/shm, join them");
  }
}

void check_shm(TableReader& launch, const Scenario& scenario) {
  const Launch& launched = scenario.launch;
  if (!launched.shm || launched.isolation != nccl::Isolation::none || !check(scenario.cluster).empty())
    return;
  int gpus = 1;
  // At most the GPUs of one node share its /dev/shm.
  for (const int wanted : scenario.gpus) gpus = std::max(gpus, std::min(wanted, scenario.cluster.node.gpus));
  const std::int64_t connections = shm_connections(scenario, gpus);
  const Bytes one = shm_of_connection(scenario.collective.nccl.version), needed = one * connections;
  if (needed <= *launched.shm) return;
  launch.report(
      launch.span_of("shm"),
      fmt::format("NCCL stops with \"Error while creating shared memory segment /dev/shm/nccl-* (size {})\", "
                  "No space left on device: {} of {} need {}",
                  one.count, counted(connections, "connection"), counted(gpus, "GPU"), to_string(needed)),
      "as with docker run --shm-size=1g or --ipc=host; in a pod an emptyDir with medium Memory at /dev/shm");
}

Key<ProcessStart> processes_per_node_key() {
  return {"processes_per_node", takes::integer<&ProcessStart::processes_per_node>(1, kMostProcessesOfNode),
          "1", "one per GPU; one for strategies whose process drives several GPUs",
          "fewer than the strategy needs leave GPUs idle; of `collective` 1 is one process that launches for "
          "all GPUs (nccl-tests -g N)"};
}

const Keys<SlowGpu>& slow_gpu_keys() {
  static const Keys<SlowGpu> keys{
      {"node", takes::integer<&SlowGpu::node>(0, kMostNodes - 1), "0", kRequired,
       "number of its node in the cluster, from 0"},
      {"gpu", takes::integer<&SlowGpu::gpu>(0, kMostGpusPerNode - 1), "3", kRequired,
       "number of the GPU in its node, from 0"},
      {"clock", takes::number<&SlowGpu::clock>(kSlowestClock, 1), "0.8", kRequired,
       "its clock over that of others: its kernels take 1 / clock times as long"}};
  return keys;
}

const Keys<SlowDraw>& slow_draw_keys() {
  static const Keys<SlowDraw> keys{
      {"share", takes::number<&SlowDraw::share>(0, 1), "0.01", "0",
       "probability that a GPU is slow, each by itself"},
      {"clock", takes::number<&SlowDraw::clock>(kSlowestClock, 1), "0.8", "0.8", "as of `slow_gpus`"},
      {"seed", takes::integer<&SlowDraw::seed>(0, 1'000'000'000), "1", "1", "another seed, other GPUs"}};
  return keys;
}

const Keys<ProcessStart>& process_start_keys() {
  static const Keys<ProcessStart> keys{
      {"with", takes::choice<&ProcessStart::with>(choices_of<Launcher>(kLauncherNames)), "\"srun\"",
       "what the strategy needs",
       "what starts the processes, and what its own start costs; python starts one, which with one process "
       "per GPU leaves the others idle"},
      processes_per_node_key()};
  return keys;
}

namespace {

const Keys<JobMachine>& job_machine_keys() {
  static const Keys<JobMachine> keys{
      isolation_key(),
      {"shm", takes::size<&JobMachine::shm>(), "\"64 MB\"", "enough",
       "size of /dev/shm, through which GPUs exchange data that do not reach each other: docker gives 64 MB; "
       "too "
       "little is an error, as it is to NCCL"},
      {"nodes", takes::integer<&JobMachine::nodes>(1, kMostNodes), "2", "as few as hold the GPUs",
       "nodes that the job gets, over which its GPUs are spread evenly"},
      {"nodes_of",
       {"table of integers", read_asked_nodes},
       "{ node = 1 }",
       "all nodes",
       "of a cluster with several kinds of node: how many of each the job gets; kinds that are not named "
       "have none; numbers of GPUs fill the nodes in the order of the cluster's file"},
      {"exclude",
       {"list of integers", read_left_out},
       "[3]",
       "none",
       "nodes that the job does not get, by their numbers in the cluster from 0, as with --exclude"},
      {"slow_gpus",
       {"list of tables", read_slow_gpus},
       "[{ node = 0, gpu = 0, clock = 0.8 }]",
       "none",
       "GPUs that are clocked down, by the numbers of their nodes in the cluster and of themselves in the "
       "node, from 0; their kernels take 1 / clock times as long"},
      {"slow_draw",
       {"table", read_slow_draw},
       "{ share = 0.01, clock = 0.8 }",
       "none",
       "the same by chance: each GPU with the probability `share`; another `seed`, other GPUs"},
  };
  return keys;
}

}  // namespace

const Keys<Launch>& launch_keys() {
  static const auto start = [](Launch& launch) -> ProcessStart& { return launch; };
  static const auto machine = [](Launch& launch) -> JobMachine& { return launch; };
  static const Keys<Launch> keys =
      keys_within<Launch>(process_start_keys(), start) + keys_within<Launch>(job_machine_keys(), machine);
  return keys;
}

/// Nodes are settled before the slow GPUs, which must be among them.
void read_launch_section(TableReader& launch, bool one_of_several, Scenario& scenario) {
  read_keys(launch, launch_keys(), scenario.launch);
  scenario.collective.processes_per_node = scenario.launch.processes_per_node;
  scenario.collective.nccl.isolation = scenario.launch.isolation;
  if (!scenario.cluster.name.empty()) {
    const std::size_t before = launch.diagnostics().found().size();
    settle_nodes(launch, scenario);
    spread_over_nodes(launch, scenario);
    check_some_are_left(launch, launch.diagnostics().found().size() == before, scenario);
  }
  check_slow_gpus(launch, scenario);
  if (!one_of_several) check_processes(launch, scenario);
}

namespace {

/// Returns a hint with the numbers of GPUs that would work.
std::string other_gpus(const Scenario& scenario, int refused) {
  if (scenario.program)
    return fmt::format(
        "ask for {} GPUs, or record the program there, too: two recordings tell of other numbers",
        scenario.program->recorded_on());
  if (find_strategy(scenario.strategy)->one_gpu)
    return "ask for one GPU, or for a strategy of several, as in --strategy ddp";
  return fmt::format("up to {} GPUs", most_usable_gpus(scenario, refused));
}

}  // namespace

/// The first reason stands for all refused numbers.
void check_gpus(TableReader& run, Scenario& scenario) {
  std::vector<int> refused;
  std::string why;
  for (const int gpus : scenario.gpus) {
    const std::string reason = refusal(scenario, gpus);
    if (reason.empty()) continue;
    refused.push_back(gpus);
    if (why.empty()) why = reason;
  }
  if (refused.empty()) return;
  if (run.has("gpus"))
    return run.report(
        run.span_of("gpus"),
        fmt::format("{} cannot run on {} GPUs: {}", scenario.strategy, fmt::join(refused, ", "), why),
        other_gpus(scenario, refused.front()));
  std::erase_if(scenario.gpus,
                [&](int gpus) { return std::find(refused.begin(), refused.end(), gpus) != refused.end(); });
  // The plain loop has one GPU by definition, so it needs no warning.
  if (find_strategy(scenario.strategy)->one_gpu) return;
  scenario.warnings.push_back(fmt::format("{} GPUs are left out: {}", fmt::join(refused, ", "), why));
}

void check_anchor(TableReader& measured, const Scenario& scenario) {
  const std::string why = refusal(scenario, scenario.anchor->gpus);
  if (why.empty()) return;
  measured.report(measured.span_of("gpus"), fmt::format("{} cannot run on {}: {}", scenario.strategy,
                                                        counted(scenario.anchor->gpus, "GPU"), why));
}

}  // namespace foretrain
