// What the parts of an input pipeline need for one batch: storage, workers, cores, memory, pin-memory thread,
// main thread.
#pragma once

#include <array>
#include <string_view>

#include "sim/cluster/hardware.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

/// Where a rank's pipeline runs and with how many it shares the node and the storage.
struct InputSite {
  const NodeSpec& node;
  StorageSpec storage{};
  int ranks_on_node = 1;
  int ranks = 1;
};

/// One batch of one rank, docs/models/input.md. The intervals say how far apart batches follow one another
/// when this part alone limits them; zero = it never does.
struct InputCosts {
  Time one_batch{};     ///< from the first read to the last byte, by one worker that has its core for itself
  Time worker_cpu{};    ///< CPU time of it
  Time workers{};       ///< interval: `one_batch` divided among the workers
  Time storage{};       ///< interval: bytes over the rank's share of the storage
  Time memory{};        ///< interval: bytes over the rank's share of the node's memory bandwidth
  Time pinning{};       ///< interval, and CPU time: the pin-memory thread
  Time taking{};        ///< main thread
  double cores = 1;     ///< of the job, for this rank's workers and threads
  Bytes copied{};       ///< to the GPU
  Bytes gpu_traffic{};  ///< memory traffic of decoding on the GPU; none = on the CPU
};

InputCosts input_costs(const Workload& workload, const InputSite& site);

/// Bytes of one batch as the network takes it: the data set's sample size, or the network's input in fp32 and
/// an 8-byte label.
Bytes batch_bytes(const Workload& workload);

/// Whether samples are read again from memory after the first epoch: data.cached, or whether all of them fit.
bool is_cached(const DataSet& data, Bytes sample, const Host& host);
/// Where the samples of the second and later epochs come from: the cluster's figures for that kind, or the
/// usual ones. `host`: of the node that reads them.
StorageSpec steady_storage(const Workload& workload, const ClusterSpec& cluster, const Host& host);
inline StorageSpec steady_storage(const Workload& workload, const ClusterSpec& cluster) {
  return steady_storage(workload, cluster, cluster.node.host);
}
/// The same of the first epoch.
StorageSpec first_storage(const DataSet& data, const ClusterSpec& cluster);

/// CPU cores a rank has: data.cores_per_gpu, or its share of the node's.
double cores_of_rank(const DataSet& data, const NodeSpec& node);
/// What `cpu` of CPU time takes on so many cores, which may be less than one. Requires cores > 0.
Time on_cores(Time cpu, double cores);
/// Workers and cores of a process that drives so many GPUs: of all of them, unless they are stated for the
/// process.
DataSet data_of_process(const DataSet& data, const NodeSpec& node, int gpus);

/// Starting the workers of one rank, at every epoch unless they persist; zero for threads and for no workers.
Time worker_start(const DataSet& data, const Host& host);

}  // namespace foretrain
