// Collective samples of one job share a communicator.
#include <algorithm>
#include <map>
#include <tuple>

#include "sim/analysis/collective_curve.hpp"
#include "sim/analysis/sample_prediction.hpp"
#include "sim/collective/communicator.hpp"
#include "sim/scenario/collective_sections.hpp"
#include "sim/strategy/losses.hpp"

namespace foretrain {

namespace {

using JobKey = std::tuple<int, int, std::vector<std::string>>;

/// The settings that say how the job ran; a log has others, such as the reduction.
std::vector<std::string> job_settings(const Sample& sample) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : sample.settings) {
    if (key.starts_with("nccl.") || key == "launch.processes_per_node") texts.push_back(key + "=" + value);
  }
  return texts;
}

std::optional<CollectiveOp> op_named(std::string_view name) {
  const auto found = std::ranges::find_if(kCollectiveOps, [&](CollectiveOp op) { return name_of(op) == name; });
  return found == kCollectiveOps.end() ? std::nullopt : std::optional(*found);
}

/// A communicator with the cluster it needs.
class CollectiveJob {
 public:
  CollectiveJob(ClusterSpec spec, const JobKey& key) {
    const auto& [gpus, nodes, settings] = key;
    const CollectiveKnobs knobs = read_collective_knobs(settings);
    if (knobs.gpudirect) spec.node.gpudirect = *knobs.gpudirect;
    const Placement placement = place_job(spec, gpus, nodes);
    cluster_ = std::make_unique<Cluster>(Cluster::build(spec, placement.nodes));
    CollectiveSettings job = knobs.settings();
    if (!knobs.processes_per_node) job.processes_per_node = usual_processes_per_node(placement.nodes);
    communicator_.emplace(*cluster_, placement, job);
  }
  CollectivePlan plan(CollectiveOp op, std::int64_t bytes) const { return communicator_->plan(op, {bytes}, false); }
  const ClusterSpec& spec() const { return cluster_->spec(); }
  int ranks() const { return communicator_->size(); }

 private:
  std::unique_ptr<Cluster> cluster_;
  std::optional<Communicator> communicator_;
};

template <class Predict>
void by_job(const ClusterSpec& cluster, SampleKind kind, const std::vector<Sample>& samples, Why why, const Predict& predict) {
  std::map<JobKey, std::vector<std::size_t>> jobs;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (samples[i].kind == kind) jobs[{samples[i].gpus, samples[i].nodes, job_settings(samples[i])}].push_back(i);
  }
  for (const auto& [key, members] : jobs) {
    try {
      const CollectiveJob job(cluster, key);
      for (const std::size_t i : members) predict(job, i);
    } catch (const InputError& error) {
      if (why != nullptr) *why = error.diagnostics().empty() ? error.what() : error.diagnostics().front().message;
    }
  }
}

}  // namespace

void predict_collective_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions, Why why) {
  by_job(cluster, SampleKind::collective, samples, why, [&](const CollectiveJob& job, std::size_t i) {
    const std::optional<CollectiveOp> op = op_named(samples[i].what);
    if (setting_of(samples[i], "library") == "mpi") {
      if (why != nullptr) *why = "a collective of MPI, not of NCCL";
    } else if (op && samples[i].bytes > 0 && samples[i].unit == SampleUnit::us)
      predictions[i] = to_seconds(job.plan(*op, samples[i].bytes).back_to_back()) * 1e6;
    else if (why != nullptr)
      *why = op ? "nothing is sent" : "no collective of NCCL is called " + samples[i].what;
  });
}

void predict_tax_samples(const ClusterSpec& cluster, const std::vector<Sample>& samples, SamplePredictions& predictions, Why why) {
  by_job(cluster, SampleKind::tax, samples, why, [&](const CollectiveJob& job, std::size_t i) {
    const std::optional<CollectiveOp> op = op_named(setting_of(samples[i], "op"));
    if (!op || samples[i].bytes < 1 || samples[i].unit != SampleUnit::share || job.ranks() < 2) {
      if (why != nullptr) *why = "a tax needs op, bytes and two GPUs";
      return;
    }
    const CalibratedConstant* scale = cluster.calibration.find("loss.collective_share");
    const double taken = share_of_collective(job.plan(*op, samples[i].bytes), job.spec().node.gpu, job.ranks(), scale ? scale->value : 1);
    predictions[i] = 1 / (1 - taken) - 1;
  });
}

}  // namespace foretrain
