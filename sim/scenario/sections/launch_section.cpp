// Launchers that start a process per GPU do not suit strategies in which one process drives several.
#include "sim/scenario/sections/launch_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

constexpr int kMostProcessesOfNode = 64;

/// How many processes the launcher is made for.
bool suits(Launcher launcher, Processes processes) {
  if (processes == Processes::per_gpu) return true;
  if (processes == Processes::per_node)
    return launcher != Launcher::mp_spawn && launcher != Launcher::deepspeed;
  return launcher == Launcher::python || launcher == Launcher::srun || launcher == Launcher::mpirun;
}

std::string_view wanted_processes(Processes processes) {
  return processes == Processes::per_node ? "one process per node, which drives all its GPUs"
                                          : "one process, which drives all GPUs";
}

void check_processes(TableReader& launch, const Scenario& scenario) {
  const Processes wanted = find_strategy(scenario.strategy)->processes;
  const Launch& launched = scenario.launch;
  if (launched.with && !suits(*launched.with, wanted))
    launch.report(launch.span_of("with"),
                  fmt::format("{} starts a process for each GPU", name_of(*launched.with)),
                  fmt::format("{} is {}: launch.with = \"{}\"", scenario.strategy, wanted_processes(wanted),
                              wanted == Processes::one ? "python" : "srun"));
  const int started = launched.processes_per_node, gpus = scenario.cluster.node.gpus;
  if (started > 1 && wanted != Processes::per_gpu)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("{} processes on a node would each drive all its GPUs", started),
                  fmt::format("{} is {}", scenario.strategy, wanted_processes(wanted)));
  else if (started > gpus && gpus > 0)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("{} processes for {} of a node", started, counted(gpus, "GPU")),
                  "NCCL refuses two processes on one GPU");
  if (launched.with == Launcher::python && started > 1)
    launch.report(launch.span_of("processes_per_node"),
                  fmt::format("python starts one process, not {}", started), "as with torchrun or srun");
}

/// Why the strategy cannot run on so many GPUs; empty also where the cluster has fewer, which is another
/// mistake.
std::string refusal(const Scenario& scenario, int gpus) {
  const std::int64_t size = std::int64_t{scenario.cluster.nodes} * scenario.cluster.node.gpus;
  return gpus <= size ? why_not_together(scenario, gpus) : std::string();
}

/// What one connection over host memory takes of /dev/shm (src/transport/shm.cc; facts/NCCL_MORE.md 7).
Bytes shm_of_connection(const nccl::Version& version) {
  return {version >= nccl::Version{2, 21, 0} ? 7'340'384 : 9'637'888};
}

/// Edges of the running rings whose GPUs do not reach each other's memory.
std::int64_t shm_connections(const Scenario& scenario, int gpus) {
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

std::string_view name_of(nccl::Isolation isolation) {
  return kIsolationNames[static_cast<std::size_t>(isolation)];
}

}  // namespace

Key<Launch> isolation_key() {
  return {
      "isolation", takes::choice<&Launch::isolation>(choices_of<nccl::Isolation>(kIsolationNames)), "\"pod\"",
      "none",
      "whether each rank has a host name of its own, so that NCCL takes it for a node: no NVLink, P2P or "
      "shared memory between GPUs of a machine, which share its NICs; a pod has its own network interface, "
      "too, and one TCP connection to each peer"};
}

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

Key<Launch> processes_per_node_key() {
  return {"processes_per_node", takes::integer<&Launch::processes_per_node>(1, kMostProcessesOfNode), "1",
          "one per GPU; one for strategies whose process drives several GPUs",
          "fewer than the strategy needs leave GPUs idle; of `collective` 1 is one process that launches for "
          "all GPUs (nccl-tests -g N)"};
}

const Keys<Launch>& launch_keys() {
  static const Keys<Launch> keys{
      {"with", takes::choice<&Launch::with>(choices_of<Launcher>(kLauncherNames)), "\"srun\"",
       "what the strategy needs",
       "what starts the processes, and what its own start costs; python starts one, which with one process "
       "per GPU leaves the others idle"},
      processes_per_node_key(),
      isolation_key(),
      {"shm", takes::size<&Launch::shm>(), "\"64 MB\"", "enough",
       "size of /dev/shm, through which GPUs exchange data that do not reach each other: docker gives 64 MB; "
       "too "
       "little is an error, as it is to NCCL"},
  };
  return keys;
}

void read_launch_section(TableReader& launch, Scenario& scenario) {
  read_keys(launch, launch_keys(), scenario.launch);
  scenario.collective.processes_per_node = scenario.launch.processes_per_node;
  scenario.collective.nccl.isolation = scenario.launch.isolation;
  check_processes(launch, scenario);
}

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
        find_strategy(scenario.strategy)->one_gpu
            ? std::string("ask for one GPU, or for a strategy of several, as in --strategy ddp")
            : fmt::format("up to {} GPUs", most_usable_gpus(scenario, refused.front())));
  std::erase_if(scenario.gpus,
                [&](int gpus) { return std::find(refused.begin(), refused.end(), gpus) != refused.end(); });
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
