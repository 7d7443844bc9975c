// Costs of an input pipeline. A batch costs CPU time on the reference core, work of the operating system's
// kernel on pages, and waiting for storage.
//
// The CPU time is multiplied by the host's slowdown. The work on pages is not: it was measured in virtual
// machines, whose page faults cost more by about as much as older cores are slower. Decoding is charged to
// the job's cores, on which all ranks of a node compete. docs/sources/host.md has the measured times of the
// reference core.
#include "sim/workload/device/input_time.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/random.hpp"

namespace foretrain {

namespace {

constexpr std::int64_t kLabelBytes = 8, kFloatBytes = 4;

/// Differences between the loaders. Times are on the reference core.
struct LoaderTraits {
  double decode = 1;  ///< CPU time of a sample / that of PIL and torchvision
  Time per_sample{};  ///< index, call and list
  Time per_batch{};   ///< handing a batch over, in the worker
  Time taking{};      ///< main thread
  /// Batches come through shared memory: page faults, a pin-memory thread, workers to start.
  bool processes = false;
};

/// Returns the costs of a loader. torch: per sample and batch from the difference between loops with no
/// worker, one worker, and the bare item (docs/sources/host.md 1). The others are assumed: tf_data calls
/// libjpeg-turbo from C++ without PIL; DALI's CPU decoder is 1.75 times, its hybrid decoder 3 times as fast.
LoaderTraits traits_of(LoaderKind kind) {
  switch (kind) {
    case LoaderKind::torch:
      return {1, microseconds(3.4), microseconds(790), microseconds(320), true};
    case LoaderKind::tf_data:
      return {0.7, Time::zero(), microseconds(30), microseconds(50), false};
    case LoaderKind::dali_cpu:
      return {1 / 1.75, Time::zero(), microseconds(30), microseconds(100), false};
    case LoaderKind::dali_gpu:
      return {1 / 3.0, Time::zero(), microseconds(30), microseconds(100), false};
    default:
      return {};
  }
}

constexpr std::int64_t kMappedBatch = 32 << 20;  ///< malloc maps larger batches anew: every page faults
constexpr double kFaultingCopy = 2.3e9;          ///< bytes/s of collating into such memory, measured
/// Seconds per byte: map, fault in, unmap and free a batch in shared memory, measured.
constexpr double kPinPages = 0.35e-9;
constexpr double kUnmapPages = 0.15e-9;  ///< s per byte: the same without reading it, measured
constexpr Time kPinningCall = Time{50'000'000};
constexpr Time kTracedSample = Time{
    9'000'000};  ///< more of a sample whose Python lines a profiler sees: workers inherit its trace function
/// Forking one worker on the reference core, measured 10 to 20 ms.
constexpr Time kWorkerStart = Time{15'000'000'000};
constexpr double kMemoryCopies = 16;  ///< a socket's memory bandwidth / one core's memcpy, assumed
/// Memory traffic of decoding on the GPU / the file's bytes, assumed: 36 MB for 110 KB.
constexpr double kDecodePasses = 330;

Time times(Time time, double factor) { return seconds(to_seconds(time) * factor); }

Bytes stored_bytes(const Workload& workload) {
  const Bytes stored = workload.data.stored_bytes;
  return stored.count > 0 ? stored * workload.batch_per_gpu : batch_bytes(workload);
}

Time over(Bytes bytes, ByteRate rate) { return rate.per_second > 0 ? bytes / rate : Time::zero(); }

/// Returns the bytes written and read when a batch is put together, handed over, pinned and copied to the
/// GPU.
// A stored file is written and read once; the finished batch passes memory six times.
Bytes memory_traffic(const Workload& workload, const InputSite& site) {
  const Bytes read = site.storage.kind == StorageKind::none ? Bytes{} : stored_bytes(workload);
  return read * 2 + batch_bytes(workload) * 6;
}

/// Returns the factor of in-order delivery. The slowest of the workers' next batches holds the others up,
/// which prefetching spreads over several batches. Threads share out samples, not batches, so their factor is
/// 1.
double order_factor(const DataSet& data, std::int64_t batch) {
  if (!traits_of(data.loader).processes) return 1;
  const double spread = data.decode_spread / std::sqrt(static_cast<double>(batch));
  return 1 + spread * expected_normal_maximum(data.workers_per_gpu) / std::max(1, data.prefetch);
}

/// Returns the time to collate a batch: large ones land in newly mapped memory, where every page faults.
Time collating(Bytes bytes, const Host& host, bool in_new_pages) {
  return in_new_pages && bytes.count >= kMappedBatch ? bytes / ByteRate{kFaultingCopy}
                                                     : bytes / host.memory_bandwidth;
}

Time read_cpu(const Workload& workload, const InputSite& site) {
  return site.storage.kind == StorageKind::none ? Time::zero()
                                                : stored_bytes(workload) / site.node.host.memory_bandwidth;
}

/// Returns the time that one worker waits for storage: a latency for each sample, and its stream's bandwidth.
Time read_wait(const Workload& workload, const InputSite& site) {
  if (site.storage.kind == StorageKind::none) return Time::zero();
  return times(site.storage.latency, static_cast<double>(workload.batch_per_gpu)) +
         over(stored_bytes(workload), site.storage.stream);
}

Time storage_interval(const Workload& workload, const InputSite& site) {
  const Bytes bytes = stored_bytes(workload);
  return std::max(over(bytes * site.ranks_on_node, site.storage.node),
                  over(bytes * site.ranks, site.storage.job));
}

Time pinning_time(const Workload& workload, const LoaderTraits& loader, const Host& host) {
  if (!workload.data.pinned || !loader.processes) return Time::zero();
  const Bytes bytes = batch_bytes(workload);
  const bool shared = workload.data.workers_per_gpu > 0;
  return kPinningCall + bytes / host.memory_bandwidth +
         seconds(shared ? kPinPages * static_cast<double>(bytes.count) : 0);
}

Time taking_time(const Workload& workload, const LoaderTraits& loader, const Host& host) {
  const bool unmaps = loader.processes && !workload.data.pinned;
  return times(loader.taking, host.slowdown) +
         seconds(unmaps ? kUnmapPages * static_cast<double>(batch_bytes(workload).count) : 0);
}

constexpr double kLargestGpuBatch = 1e15, kLargestJobBatch = 1e18;  ///< bytes

/// Throws InputError for sizes and times that cannot be represented: a clipped time would be a wrong answer.
void refuse_endless_input(const InputCosts& costs, Time made, const Workload& workload,
                          const InputSite& site) {
  const double batch = static_cast<double>(std::max(batch_bytes(workload), stored_bytes(workload)).count);
  if (batch > kLargestGpuBatch || batch * site.ranks > kLargestJobBatch)
    throw InputError(fmt::format("the samples of one step are {:.3g} bytes for each GPU", batch),
                     "at most 1 PB for a GPU and 1000 PB for all are simulated; check data.sample_bytes, "
                     "data.stored_bytes and the batch");
  if (std::max({made, costs.one_batch, costs.storage, costs.memory, costs.pinning}) < kLongestTime) return;
  throw InputError(fmt::format("loading one batch would take longer than {}", to_string(kLongestTime)),
                   "check data.decode, the samples' sizes, the batch and the storage's bandwidth");
}

}  // namespace

Bytes batch_bytes(const Workload& workload) {
  const Bytes sample = workload.data.sample_bytes.count > 0
                           ? workload.data.sample_bytes
                           : Bytes{kFloatBytes * workload.model->input_elements + kLabelBytes};
  return sample * workload.batch_per_gpu;
}

double cores_of_rank(const DataSet& data, const NodeSpec& node) {
  return data.cores_per_gpu > 0 ? data.cores_per_gpu : std::max(1, node.host.cores / std::max(1, node.gpus));
}

Time on_cores(Time cpu, double cores) {
  return cores == std::floor(cores) ? cpu / static_cast<int>(cores) : times(cpu, 1 / cores);
}

DataSet data_of_process(const DataSet& data, const NodeSpec& node, int gpus) {
  DataSet all = data;
  if (data.per_process) return all;
  all.workers_per_gpu *= gpus;
  all.cores_per_gpu = cores_of_rank(data, node) * gpus;
  return all;
}

InputCosts input_costs(const Workload& workload, const InputSite& site) {
  InputCosts costs;
  costs.cores = cores_of_rank(workload.data, site.node);
  if (workload.data.loader == LoaderKind::none) return costs;
  const DataSet& data = workload.data;
  const Host& host = site.node.host;
  const LoaderTraits loader = traits_of(data.loader);
  const bool inline_loading = data.workers_per_gpu == 0;
  const bool traced = loader.processes && workload.loop.profiler == LoopProfiler::line;
  const Time sample =
      times(data.decode, loader.decode) + loader.per_sample + (traced ? kTracedSample : Time::zero());
  const Time made = times(sample, static_cast<double>(workload.batch_per_gpu)) +
                    (inline_loading ? Time::zero() : loader.per_batch);
  const Bytes batch = batch_bytes(workload);
  const Time collate =
      data.loader == LoaderKind::dali_gpu ? Time::zero() : collating(batch, host, loader.processes);
  costs.worker_cpu = times(made, host.slowdown) + collate + read_cpu(workload, site);
  costs.one_batch = costs.worker_cpu + read_wait(workload, site);
  // Number of workers, less what the slowest batch costs; at least one works.
  const double alongside = std::max(1, data.workers_per_gpu) / order_factor(data, workload.batch_per_gpu);
  costs.workers = times(costs.one_batch, 1 / std::max(1.0, alongside));
  costs.storage = storage_interval(workload, site);
  const double node_memory = kMemoryCopies * host.memory_bandwidth.per_second * site.node.cpus;
  costs.memory = memory_traffic(workload, site) * site.ranks_on_node / ByteRate{node_memory};
  costs.pinning = pinning_time(workload, loader, host);
  costs.taking = taking_time(workload, loader, host);
  costs.copied = data.loader == LoaderKind::dali_gpu ? stored_bytes(workload) : batch;
  if (data.loader == LoaderKind::dali_gpu)
    costs.gpu_traffic = stored_bytes(workload) * static_cast<std::int64_t>(kDecodePasses);
  refuse_endless_input(costs, made, workload, site);
  return costs;
}

bool is_cached(const DataSet& data, Bytes sample, const Host& host) {
  if (data.cached) return *data.cached;
  const double all = static_cast<double>(data.samples) *
                     static_cast<double>(std::max<std::int64_t>(data.stored_bytes.count, 0));
  const double needed = data.stored_bytes.count > 0
                            ? all
                            : static_cast<double>(data.samples) * static_cast<double>(sample.count);
  constexpr double kForPages = 0.8;  // assumed: the rest is taken by the processes
  return data.samples > 0 && needed <= kForPages * static_cast<double>(host.memory.count);
}

StorageSpec first_storage(const DataSet& data, const ClusterSpec& cluster) {
  for (const StorageSpec& known : cluster.storage) {
    if (known.kind == data.storage) return known;
  }
  return usual_storage(data.storage);
}

StorageSpec steady_storage(const Workload& workload, const ClusterSpec& cluster, const Host& host) {
  const StorageKind kind = workload.data.storage;
  const bool on_disk = kind != StorageKind::none && kind != StorageKind::page_cache;
  const Bytes sample{batch_bytes(workload).count / std::max<std::int64_t>(1, workload.batch_per_gpu)};
  if (on_disk && is_cached(workload.data, sample, host)) return usual_storage(StorageKind::page_cache);
  return first_storage(workload.data, cluster);
}

Time worker_start(const DataSet& data, const Host& host) {
  if (data.persistent_workers || !traits_of(data.loader).processes) return Time::zero();
  return times(kWorkerStart * data.workers_per_gpu, host.slowdown);
}

}  // namespace foretrain
