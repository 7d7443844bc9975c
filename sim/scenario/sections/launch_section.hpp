// The table [launch]: the start of a job, and whether the strategy runs on the requested GPUs.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

/// Returns the declared keys of [launch].
const Keys<Launch>& launch_keys();
/// Returns those keys that depend on the strategy; another strategy does not take them over from a file.
const Keys<ProcessStart>& process_start_keys();
/// Return the keys of one entry of launch.slow_gpus, and of launch.slow_draw.
const Keys<SlowGpu>& slow_gpu_keys();
const Keys<SlowDraw>& slow_draw_keys();
/// Return the message and the hint for a kind of node that the cluster does not have.
std::string unknown_kind(const ClusterSpec& cluster, std::string_view kind);
std::string hint_for_kind(const ClusterSpec& cluster, std::string_view kind);
/// Return single keys that collectives share with jobs.
Key<ProcessStart> processes_per_node_key();
Key<JobMachine> isolation_key();
/// Reports settings of [nccl] that isolated ranks cannot follow: ranks that are nodes of their own reach each
/// other over the network only.
void check_isolation(TableReader& document, const nccl::Settings& settings);
/// Reports a /dev/shm that is too small for the connections of the most GPUs of a node. Requires that
/// cluster, [nccl] and run.gpus are read.
void check_shm(TableReader& launch, const Scenario& scenario);
/// Reads [launch] without calling finish(). Requires that strategy and cluster are read. A start that does
/// not suit the strategy is a mistake, unless the strategy is `one_of_several`: then start_faults() keeps the
/// strategy from running.
void read_launch_section(TableReader& launch, bool one_of_several, Scenario& scenario);
/// Reports numbers of GPUs on which the strategy cannot run, if run.gpus lists them; otherwise removes them
/// with a warning.
void check_gpus(TableReader& run, Scenario& scenario);
/// Reports the number of GPUs of [measured], if the strategy cannot run on it.
void check_anchor(TableReader& measured, const Scenario& scenario);

}  // namespace foretrain
