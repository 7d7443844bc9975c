// Predictions of collective samples; all samples of one job share a communicator, which is the expensive
// part.
#include <algorithm>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/fit/sample_prediction.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/scenario/sections/collective_sections.hpp"
#include "sim/strategy/process/losses.hpp"

namespace foretrain {

namespace {

/// A job by GPUs, nodes and settings.
using JobKey = std::tuple<int, int, std::vector<std::string>>;

/// Returns the settings that determine how the job ran; a log has others, such as the reduction.
std::vector<std::string> job_settings(const Sample& sample) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : sample.settings) {
    if (key.starts_with("nccl.") || key.starts_with("nccl_tests.") || key == "launch.processes_per_node")
      texts.push_back(key + "=" + value);
    // A tax is measured with exactly its own number of channels.
    if (sample.kind == SampleKind::tax && key == "channels")
      for (const char* bound : {"nccl.min_channels", "nccl.max_channels"})
        texts.push_back(fmt::format("{}={}", bound, value));
  }
  return texts;
}

/// Returns the operation of that name; nothing if NCCL has none.
std::optional<CollectiveOp> op_named(std::string_view name) {
  const auto found =
      std::ranges::find_if(kCollectiveOps, [&](CollectiveOp op) { return name_of(op) == name; });
  return found == kCollectiveOps.end() ? std::nullopt : std::optional(*found);
}

/// Graphs of one cluster that jobs share, by nodes and by whether NICs reach the GPUs' memory.
class SharedGraphs {
 public:
  explicit SharedGraphs(const ClusterSpec& spec) : spec_(spec) {}
  const Cluster& graph(int nodes, bool gpudirect) {
    const auto [known, is_new] = graphs_.try_emplace({nodes, gpudirect});
    if (is_new) {
      ClusterSpec spec = spec_;
      spec.node.gpudirect = gpudirect;
      known->second = std::make_unique<Cluster>(Cluster::build(spec, nodes));
    }
    return *known->second;
  }

 private:
  const ClusterSpec& spec_;
  std::map<std::pair<int, bool>, std::unique_ptr<Cluster>> graphs_;
};

/// Makes the communicator of a job. A log that does not state its processes ran as nccl-tests is usually
/// started.
Communicator communicator_of(const ClusterSpec& spec, const JobKey& key, SharedGraphs& graphs,
                             nccl::NodeGraphCache& searched) {
  const auto& [gpus, nodes, settings] = key;
  const CollectiveKnobs knobs = read_collective_knobs(settings);
  const Placement placement = place_job(spec, gpus, nodes);
  CollectiveSettings job = knobs.settings();
  if (!knobs.processes_per_node) job.processes_per_node = usual_processes_per_node(placement.nodes);
  return {graphs.graph(placement.nodes, knobs.gpudirect.value_or(spec.node.gpudirect)), placement, job,
          searched};
}

/// Most jobs that are compared; each costs a communicator in every prediction.
constexpr std::size_t kMostJobs = 1000;

/// Groups samples of one kind by job and predicts each group; a mistake in a job is the reason of all its
/// samples.
template <class Predict>
void by_job(SampleRun& run, SampleKind kind, const Predict& predict) {
  std::map<JobKey, std::vector<std::size_t>> jobs;
  for (std::size_t i = 0; i < run.samples.size(); ++i) {
    const Sample& sample = run.samples[i];
    if (sample.kind != kind) continue;
    const JobKey key{sample.gpus, sample.nodes, job_settings(sample)};
    if (jobs.size() < kMostJobs || jobs.count(key) > 0)
      jobs[key].push_back(i);
    else
      run.take(i, SampleAnswer::nothing(
                      fmt::format("{} other jobs come before it, no more are compared", kMostJobs)));
  }
  SharedGraphs graphs(run.cluster);
  for (const auto& [key, members] : jobs) {
    try {
      const Communicator job = communicator_of(run.cluster, key, graphs, run.context.searched);
      for (const std::size_t i : members) run.take(i, predict(job, run.samples[i]));
    } catch (const InputError& error) {
      for (const std::size_t i : members) run.take(i, SampleAnswer::nothing(error));
    }
  }
}

}  // namespace

/// A sample's time is that of a call in a loop, as nccl-tests measures it.
void predict_collective_samples(SampleRun& run) {
  by_job(run, SampleKind::collective, [](const Communicator& job, const Sample& sample) -> SampleAnswer {
    const std::optional<CollectiveOp> op = op_named(sample.what);
    if (setting_of(sample, "library") == "mpi")
      return SampleAnswer::nothing("a collective of MPI, not of NCCL");
    if (!op) return SampleAnswer::nothing("no collective of NCCL is called " + sample.what);
    if (sample.bytes <= 0 || sample.unit != SampleUnit::us) return SampleAnswer::nothing("nothing is sent");
    return {to_seconds(job.plan(*op, {sample.bytes}, false).back_to_back()) * 1e6};
  });
}

/// A tax is the slowdown of compute while a collective runs: 1 / (1 - share taken) - 1.
void predict_tax_samples(SampleRun& run) {
  const CalibratedConstant* scale = run.cluster.calibration.find("loss.collective_share");
  by_job(run, SampleKind::tax, [scale](const Communicator& job, const Sample& sample) -> SampleAnswer {
    const std::optional<CollectiveOp> op = op_named(setting_of(sample, "op"));
    if (!op || sample.bytes < 1 || sample.unit != SampleUnit::share || job.size() < 2)
      return SampleAnswer::nothing("a tax needs op, bytes and two GPUs");
    const CollectivePlan plan = job.plan(*op, {sample.bytes}, false);
    const double taken =
        share_of_collective(plan, job.cluster().spec().node.gpu, job.size(), scale ? scale->value : 1);
    return {1 / (1 - taken) - 1};
  });
}

}  // namespace foretrain
