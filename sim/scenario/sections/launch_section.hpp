// The table [launch]: how a job was started; and whether the strategy runs on the GPUs asked for.
#pragma once

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/declared_keys.hpp"

namespace foretrain {

const Keys<Launch>& launch_keys();
/// Those of them that follow the strategy: another strategy does not take them over from a file.
const Keys<ProcessStart>& process_start_keys();
const Keys<SlowGpu>& slow_gpu_keys();
const Keys<SlowDraw>& slow_draw_keys();
/// What a table by kind of node says of one that the cluster does not have.
std::string unknown_kind(const ClusterSpec& cluster, std::string_view kind);
std::string hint_for_kind(const ClusterSpec& cluster, std::string_view kind);
Key<ProcessStart> processes_per_node_key();
Key<JobMachine> isolation_key();
/// Ranks that are nodes of their own have no way to each other but the network: what [nccl] asks for
/// otherwise is a mistake.
void check_isolation(TableReader& document, const nccl::Settings& settings);
/// Whether /dev/shm holds what the most GPUs of a node put there; needs cluster, [nccl] and run.gpus.
void check_shm(TableReader& launch, const Scenario& scenario);
/// Reads [launch]; needs strategy and cluster. Does not call finish(). A start that does not suit the
/// strategy is a mistake, unless the strategy is `one_of_several`: then start_faults() keeps the strategy
/// from running.
void read_launch_section(TableReader& launch, bool one_of_several, Scenario& scenario);
/// Numbers of GPUs on which the strategy cannot run are mistakes when run.gpus lists them, and otherwise left
/// out with a warning.
void check_gpus(TableReader& run, Scenario& scenario);
/// It must also be able to run on those of [measured].
void check_anchor(TableReader& measured, const Scenario& scenario);

}  // namespace foretrain
