// A preset is read first, so that explicit keys replace its values one by one.
#include "sim/scenario/sections/data_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/data_set_keys.hpp"
#include "sim/scenario/toml/section_values.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

void read_preset(TableReader& data, DataSet& set) {
  const auto name = data.string("name");
  if (!name) return;
  const auto source = find_named(CatalogKind::datasets, *name, data.span_of("name"), data.diagnostics());
  if (!source) return;
  Diagnostics problems(*source);
  set = read_data_set(*source, problems);
  data.diagnostics().include(problems.found());
}

/// Whether a scenario says how batches come about; otherwise they lie on the GPU, as in benchmarks on
/// synthetic data.
bool describes_loader(const TableReader& data) {
  for (const char* key : {"name", "sample_bytes", "decode", "storage", "loader", "stored_bytes", "cached",
                          "workers_per_gpu", "cores_per_gpu", "prefetch", "pinned", "persistent_workers"}) {
    if (data.has(key)) return true;
  }
  return false;
}

/// Threads are as many as there are cores, unless the scenario counts them.
void read_workers(TableReader& data, DataSet& set, const ClusterSpec& cluster) {
  count(data, "cores_per_gpu", 1, 1024, set.cores_per_gpu);
  if (set.loader != LoaderKind::torch && cluster.node.gpus > 0)
    set.workers_per_gpu = std::min(256, cores_of_rank(set, cluster.node));
  count(data, "workers_per_gpu", 0, 256, set.workers_per_gpu);
}

/// Samples of one rank's share in a full step.
std::int64_t samples_per_step(const Scenario& scenario, int gpus) {
  const std::int64_t accumulation = scenario.knobs.accumulation;
  if (!scenario.global_batch) return scenario.workload.batch_per_gpu * accumulation;
  const std::int64_t shares = accumulation * gpus;
  return (*scenario.global_batch + shares - 1) / shares * accumulation;
}

}  // namespace

void read_data(TableReader& data, Scenario& scenario) {
  DataSet& set = scenario.workload.data;
  if (!describes_loader(data)) set.loader = LoaderKind::none;
  read_preset(data, set);
  read_data_set_keys(data, set);
  choose<LoaderKind>(data, "loader", choices_of<LoaderKind>(kLoaderNames), set.loader);
  if (const auto cached = data.boolean("cached")) set.cached = cached;
  read_workers(data, set, scenario.cluster);
  count(data, "prefetch", 1, 1000, set.prefetch);
  keep(data.boolean("pinned"), set.pinned);
  keep(data.boolean("persistent_workers"), set.persistent_workers);
  keep(data.boolean("drop_last"), set.drop_last);
}

void check_steps(TableReader& data, const Scenario& scenario) {
  const DataSet& set = scenario.workload.data;
  if (!set.drop_last || set.samples == 0) return;
  for (const int gpus : scenario.gpus) {
    const std::int64_t share = set.samples / gpus, step = samples_per_step(scenario, gpus);
    if (share >= step) continue;
    return data.report(
        data.span_of("drop_last"),
        fmt::format("an epoch on {} GPU{} has no step", gpus, gpus == 1 ? "" : "s"),
        fmt::format("each has {} samples, a step takes {}, and drop_last leaves out what is less", share,
                    step));
  }
}

std::vector<std::string> data_warnings(const Scenario& scenario) {
  const DataSet& set = scenario.workload.data;
  std::vector<std::string> out;
  const int cores = cores_of_rank(set, scenario.cluster.node);
  if (set.loader == LoaderKind::torch && set.workers_per_gpu > cores)
    out.push_back(
        fmt::format("{} loader workers per GPU share {} core{} with the training script: they take turns, "
                    "and load no faster than {} would",
                    set.workers_per_gpu, cores, cores == 1 ? "" : "s", cores));
  if (set.samples == 0 || set.drop_last || scenario.gpus.empty()) return out;
  const int gpus = scenario.gpus.front();
  const std::int64_t share = (set.samples + gpus - 1) / gpus, step = samples_per_step(scenario, gpus);
  if (share < step)
    out.push_back(
        fmt::format("a step takes {} samples, but each of {} GPU{} has only {}: an epoch is one partial step",
                    step, gpus, gpus == 1 ? "" : "s", share));
  return out;
}

}  // namespace foretrain
