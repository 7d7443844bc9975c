// Times that the parts of an input pipeline need for one batch: storage, workers, cores, memory, pin-memory
// thread and main thread.
#pragma once

#include <array>
#include <string_view>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// The place where a rank's pipeline runs, and the number of ranks that share its node and storage.
struct InputSite {
  const NodeSpec& node;
  StorageSpec storage{};
  int ranks_on_node = 1;
  int ranks = 1;
};

/// Costs of one batch of one rank (docs/models/host.md). An interval is the time between two batches when
/// this part alone limits them; zero means that it never does.
struct InputCosts {
  Time one_batch{};     ///< from the first read to the last byte, by one worker that has its core for itself
  Time worker_cpu{};    ///< CPU time of it
  Time workers{};       ///< interval: `one_batch` divided among the workers
  Time storage{};       ///< interval: bytes over the rank's share of the storage
  Time memory{};        ///< interval: bytes over the rank's share of the node's memory bandwidth
  Time pinning{};       ///< interval, and CPU time: the pin-memory thread
  Time taking{};        ///< main thread
  double cores = 1;     ///< cores of the job for this rank's workers and threads
  Bytes copied{};       ///< bytes copied to the GPU
  Bytes gpu_traffic{};  ///< memory traffic of decoding on the GPU; none = on the CPU
};

/// Returns the costs of one batch. Throws InputError when a step's samples exceed 1 PB for a GPU or 1000 PB
/// for all, or when a time reaches kLongestTime.
InputCosts input_costs(const Workload& workload, const InputSite& site);

/// Returns the bytes of one batch as the network takes it: the data set's sample size, or the network's input
/// in fp32 and an 8-byte label.
Bytes batch_bytes(const Workload& workload);

/// True when samples are read from memory after the first epoch: as data.cached says, or when all of them
/// fit.
bool is_cached(const DataSet& data, Bytes sample, const Host& host);
/// Returns the storage from which the second and later epochs read samples: the cluster's figures for its
/// kind, or the usual ones. `host` is the host of the node that reads them.
StorageSpec steady_storage(const Workload& workload, const ClusterSpec& cluster, const Host& host);
inline StorageSpec steady_storage(const Workload& workload, const ClusterSpec& cluster) {
  return steady_storage(workload, cluster, cluster.node.host);
}
/// Returns the storage of the first epoch.
StorageSpec first_storage(const DataSet& data, const ClusterSpec& cluster);

/// Returns the CPU cores of a rank: data.cores_per_gpu, or its share of the node's cores.
double cores_of_rank(const DataSet& data, const NodeSpec& node);
/// Returns the time that `cpu` of CPU time takes on this number of cores, which may be less than one.
/// Requires cores > 0.
Time on_cores(Time cpu, double cores);
/// Returns the data set with the workers and cores of a process that drives this number of GPUs: those of all
/// its GPUs, unless they are stated for the process.
DataSet data_of_process(const DataSet& data, const NodeSpec& node, int gpus);

/// Returns the time to start the workers of one rank. It is paid at every epoch unless they persist, and is
/// zero for threads and without workers.
Time worker_start(const DataSet& data, const Host& host);

}  // namespace foretrain
