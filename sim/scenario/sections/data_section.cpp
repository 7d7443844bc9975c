// The table [data]. A preset is read first, so that explicit keys replace its values one by one.
#include "sim/scenario/sections/data_section.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "sim/scenario/sections/data_set_keys.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

/// Largest number of workers per GPU.
constexpr int kMostWorkers = 256;

/// Reads the preset; mistakes in its file are reported with its name.
void read_preset(TableReader& data, std::string_view key, DataSet& set) {
  const auto name = data.string(key);
  if (!name) return;
  const auto source = find_named(CatalogKind::datasets, *name, data.span_of(key), data.diagnostics());
  // An unknown preset is reported by find_named(), and the usual values stay.
  if (!source) return;
  Diagnostics problems(*source);
  set = read_data_set(*source, problems);
  data.diagnostics().include(problems.found());
}

/// Declares the key of the preset, which is read before the keys that replace its values.
Keys<DataSet> preset_key() {
  return {{"name",
           {"name or path", read_preset},
           "\"imagenet\"",
           "none",
           "a data set of datasets/ or a file; the keys below replace its values"}};
}

/// Keys of the loader, which presets do not have.
Keys<DataSet> loader_keys() {
  return {
      // The loader, and where later epochs read from.
      {"cached", takes::flag<&DataSet::cached>(), "false", "whether all fit into 80 % of a node's memory",
       "from the second epoch on samples come from the page cache; steps are those of later epochs"},
      {"loader", takes::choice<&DataSet::loader>(choices_of<LoaderKind>(kLoaderNames)), "\"dali_gpu\"",
       "torch; none when [data] says nothing of a loader",
       "worker processes of PyTorch, threads of TensorFlow or of DALI (dali_gpu: the GPU decodes); none: "
       "batches lie on the GPU"},
      // Workers and cores.
      {"workers_per_gpu", takes::integer<&DataSet::workers_per_gpu>(0, kMostWorkers), "10",
       "4; one thread per core for tf_data and DALI",
       "loader processes or threads per GPU; 0 loads in the main thread"},
      {"prefetch", takes::integer<&DataSet::prefetch>(1, 1000), "2", "2",
       "batches each worker runs ahead; for tf_data and DALI batches of all threads together"},
      {"cores_per_gpu", takes::number<&DataSet::cores_per_gpu>(0.001, 1024), "10",
       "the node's cores divided by its GPUs",
       "CPU cores of the job per GPU, which the workers and the script share: their CPU time over these "
       "cores is the least that a step takes; may be less than one"},
      {"per_process", takes::flag<&DataSet::per_process>(), "true", "false",
       "workers_per_gpu and cores_per_gpu are of a process, however many GPUs it drives (data_parallel, "
       "mirrored), as the arguments of a program are"},
      // Copies to the GPU, and the ends of epochs.
      {"pinned", takes::flag<&DataSet::pinned>(), "true", "true",
       "pin_memory: batches are copied through page-locked memory"},
      {"persistent_workers", takes::flag<&DataSet::persistent_workers>(), "true", "false",
       "workers are not started anew for each epoch"},
      {"drop_last", takes::flag<&DataSet::drop_last>(), "true", "false",
       "the last partial batch is left out"},
  };
}

/// Returns whether a scenario describes how batches are made. Otherwise they are on the GPU, as in benchmarks
/// on synthetic data.
bool describes_loader(const TableReader& data) {
  // Any of these keys shows that batches are loaded.
  for (const char* key : {"name", "sample_bytes", "decode", "storage", "loader", "stored_bytes", "cached",
                          "workers_per_gpu", "cores_per_gpu", "prefetch", "pinned", "persistent_workers"}) {
    if (data.has(key)) return true;
  }
  return false;
}

}  // namespace

/// The preset comes first in the order of reading, then the data set, then the loader.
const Keys<Scenario>& data_keys() {
  static const Keys<DataSet> of_set = preset_key() + data_set_keys() + loader_keys();
  static const Keys<Scenario> keys =
      keys_within<Scenario>(of_set, [](Scenario& scenario) -> DataSet& { return scenario.workload.data; }) +
      Keys<Scenario>{{"sampler", takes::choice<&Scenario::sampler>(choices_of<Sampler>(kSamplerNames)),
                      "\"none\"", "distributed",
                      "each process trains on its share of the data set; none: each on all of it; "
                      "local_rank: all nodes on the same shares"}};
  return keys;
}

/// Loaders with threads have one thread for each core of the rank unless the scenario states another number.
void read_data(TableReader& data, Scenario& scenario) {
  DataSet& set = scenario.workload.data;
  if (!describes_loader(data)) set.loader = LoaderKind::none;
  read_keys(data, data_keys(), scenario);
  const NodeSpec& node = scenario.cluster.node;
  const bool has_threads = set.loader != LoaderKind::torch && node.gpus > 0;
  if (has_threads && !data.has("workers_per_gpu"))
    set.workers_per_gpu = std::min(kMostWorkers, std::max(1, static_cast<int>(cores_of_rank(set, node))));
}

/// Throughput cannot be computed for an epoch without a step, so such a number of GPUs is a mistake.
void check_steps(TableReader& data, const Scenario& scenario) {
  const DataSet& set = scenario.workload.data;
  if (!set.drop_last || set.samples == 0) return;
  for (const int gpus : scenario.gpus) {
    // Numbers of GPUs beyond the cluster are mistakes that are reported already.
    if (gpus > gpus_of_job(scenario) || epoch_steps(scenario, gpus).count() > 0) continue;
    return data.report(
        data.span_of("drop_last"), fmt::format("an epoch on {} has no step", counted(gpus, "GPU")),
        fmt::format("the data set has {}, a step takes {}, and drop_last leaves out what is less",
                    counted(set.samples, "sample"), samples_of_step(scenario, gpus)));
  }
}

/// Warnings do not stop a prediction: the settings are possible, but they rarely are intended.
std::vector<std::string> data_warnings(const Scenario& scenario) {
  const DataSet& set = scenario.workload.data;
  std::vector<std::string> out;
  // Workers beyond the cores only take turns.
  const double cores = cores_of_rank(set, scenario.cluster.node);
  if (set.loader == LoaderKind::torch && set.workers_per_gpu > cores)
    out.push_back(fmt::format(
        "{} loader workers per {} share {:.3g} core{} with the training script: they take turns, "
        "and load no faster than {:.3g} would",
        set.workers_per_gpu, set.per_process ? "process" : "GPU", cores, cores == 1 ? "" : "s", cores));
  // With fewer cores than GPUs the processes of a node wait for each other.
  if (set.cores_per_gpu > 0 && cores < 1 && !set.per_process)
    out.push_back(fmt::format(
        "{:.3g} CPU cores for each GPU: the processes of a node take turns on them, and a step takes "
        "at least their CPU time over these cores",
        cores));
  // Without samples an epoch has no length; with drop_last check_steps() has reported the case.
  if (set.samples == 0 || set.drop_last || scenario.gpus.empty()) return out;
  // The smallest number of GPUs shows whether an epoch has a whole step.
  const int gpus = scenario.gpus.front();
  if (epoch_steps(scenario, gpus).full == 0)
    out.push_back(
        fmt::format("a step on {} takes {}, but the data set has only {}: an epoch is one partial step",
                    counted(gpus, "GPU"), counted(samples_of_step(scenario, gpus), "sample"), set.samples));
  return out;
}

}  // namespace foretrain
