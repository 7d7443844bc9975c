// Decisions about the input pipeline, in words. Rates are those of one GPU, in samples per second, so that
// they compare with the rate at which the GPU could train.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/process/input_pipeline.hpp"

namespace foretrain {

namespace {

/// One part of the pipeline and the time between two batches that it allows; zero: it never limits.
struct Limit {
  std::string what;
  Time interval;
};

std::string counted(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Returns the limits of workers, cores, pinning, storage and memory. Cores also do the work of the script
/// and the pin-memory thread.
std::vector<Limit> limits_of(const Workload& workload, const InputCosts& costs, Time script_cpu) {
  const bool processes = workload.data.loader == LoaderKind::torch;
  return {{counted(workload.data.workers_per_gpu, processes ? "worker" : "thread"), costs.workers},
          {fmt::format("{:.3g} core{}", costs.cores, costs.cores == 1 ? "" : "s"),
           on_cores(costs.worker_cpu + costs.pinning + script_cpu, costs.cores)},
          {"pin-memory thread", costs.pinning},
          {"storage", costs.storage},
          {"memory bandwidth", costs.memory}};
}

/// Returns whether `a` allows more batches per second than `b`.
bool is_wider(const Limit& a, const Limit& b) { return a.interval < b.interval; }

/// Returns samples per second of one GPU for a time between batches, with three digits below 100.
std::string rate(const Workload& workload, Time interval) {
  const double samples = static_cast<double>(workload.batch_per_gpu) / to_seconds(interval);
  return samples < 100 ? fmt::format("{:.3g}", samples) : fmt::format("{:.0f}", samples);
}

/// Returns why later epochs do or do not read from the page cache.
std::string why_cached(const DataSet& data, Bytes all, const Host& host) {
  if (data.cached) return fmt::format("data.cached = {}", *data.cached);
  if (data.samples == 0) return "data.samples is not known";
  const bool fits = is_cached(data, {all.count / data.samples}, host);
  return fmt::format("{} {} into 80 % of the node's {}", to_string(all), fits ? "fit" : "do not fit",
                     to_string(host.memory));
}

}  // namespace

void explain_pipeline(const Workload& workload, const InputCosts& costs, Time script_cpu,
                      Decisions& decisions) {
  if (workload.data.workers_per_gpu == 0) {
    decisions.add(
        "input pipeline", "in the main thread",
        fmt::format("workers_per_gpu = 0: each step first loads its batch, {:.1f} ms, and the GPU waits",
                    1e3 * to_seconds(costs.one_batch + costs.pinning)));
    return;
  }
  const std::vector<Limit> limits = limits_of(workload, costs, script_cpu);
  const Limit& narrowest = *std::max_element(limits.begin(), limits.end(), is_wider);
  if (narrowest.interval == Time::zero()) return;
  std::string why;
  for (const Limit& limit : limits) {
    if (limit.interval == Time::zero()) continue;
    why += fmt::format("{} {} {}", why.empty() ? "samples/s of one GPU:" : ",", limit.what,
                       rate(workload, limit.interval));
  }
  decisions.add("input pipeline",
                fmt::format("{} samples/s, {}", rate(workload, narrowest.interval), narrowest.what),
                std::move(why));
}

/// Bytes per sample are those stored, or those of a batch in memory where the data set does not state them.
void explain_storage(const Workload& workload, const ClusterSpec& cluster, const InputSite& site,
                     Decisions& decisions) {
  const DataSet& data = workload.data;
  if (data.storage == StorageKind::none || data.storage == StorageKind::page_cache) return;
  const std::int64_t sample =
      data.stored_bytes.count > 0
          ? data.stored_bytes.count
          : batch_bytes(workload).count / std::max<std::int64_t>(1, workload.batch_per_gpu);
  std::string why = why_cached(data, Bytes{sample} * data.samples, site.node.host);
  // The steps are those of later epochs. The first epoch has to read from the storage itself.
  if (site.storage.kind == StorageKind::page_cache) {
    const InputCosts cold =
        input_costs(workload, {site.node, first_storage(data, cluster), site.ranks_on_node, site.ranks});
    why += fmt::format(
        "; steps are those of later epochs, the first reads {} at no more than {} samples/s per GPU",
        name_of(data.storage),
        rate(workload, std::max({cold.workers, cold.storage, on_cores(cold.worker_cpu, cold.cores)})));
  }
  decisions.add("samples come from", std::string(name_of(site.storage.kind)), std::move(why));
}

}  // namespace foretrain
