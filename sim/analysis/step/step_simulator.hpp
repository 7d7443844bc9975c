// One training step on N GPUs: plan, run, read the clock and the critical path.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>

#include "sim/analysis/prediction.hpp"
#include "sim/analysis/step/balance.hpp"
#include "sim/analysis/step/link_waits.hpp"
#include "sim/analysis/step/representatives.hpp"
#include "sim/analysis/step/step_model.hpp"
#include "sim/analysis/step/step_parts.hpp"
#include "sim/engine/timeline.hpp"
#include "sim/scenario/scenario.hpp"
#include "sim/strategy/parallel/large_step.hpp"
#include "sim/strategy/process/plan_reuse.hpp"

namespace foretrain {

/// How much is read off a run: the time of a step; what it went to and what was planned; that by kind of
/// work, too.
enum class Reading : std::uint8_t { time, accounts, parts };

/// Ranks of a job that are not like the others: what their step would be if they waited for nobody slower.
struct UnlikeRanks {
  Representative what;
  double own_step_s = 0;    ///< with the collectives of the whole job
  StrategyMemory memory{};  ///< where accounts were read
};

/// Beyond what was read the fields are empty.
struct SimulatedStep {
  double step_s = 0;
  std::optional<LargeModelPoint> large{};  ///< of [parallel]
  Breakdown breakdown{};                   ///< what the compute stream did or waited for
  /// By how much the critical path to the step's end grew in each: the step's derivative.
  Breakdown critical{};
  std::vector<StepPart> parts;  ///< the breakdown by kind of work instead
  LinkWaits waits;              ///< its exposed communication by kind of link
  std::vector<Bytes> buckets;
  StrategyMemory memory;
  Decisions decisions;
  std::vector<UnlikeRanks> unlike{};  ///< in the order of their first ranks; empty: all ranks are alike
  double waits_for_slower_s = 0;      ///< part of rank 0's exposed communication: the slowest are not ready
  std::string_view waits_for = kWaitForNodes;  ///< what that is, in words
};

/// Some steps with their clock.
struct RecordedSteps {
  Plan plan;
  Timeline timeline;
  Placement job;  ///< all ranks in their order
  /// What the links of the plan's patterns number. It may have more nodes than the job reserves.
  std::shared_ptr<const Cluster> cluster;
};

/// One direction of a connection at a device of the recorded rank's node.
struct RecordedLink {
  LinkId id;
  std::string name;  ///< "gpu0 to nvswitch0"
  ByteRate bandwidth;
};

/// The steps of one rank, for traces.
struct RecordedRank {
  RecordedSteps steps{};
  std::vector<RecordedLink> links{};  ///< those that its collectives use
  int gpus = 1;                       ///< of the job
  Representative rank{};              ///< itself, and how many it stands for
  bool is_alone = false;              ///< others are unlike it; it is recorded without waiting for them
};

/// What the steps of a training were, for traces: rank by rank, or where a network is cut stage by stage.
struct StepRecording {
  std::vector<RecordedRank> ranks{};
  std::optional<LargeStepRecord> stages{};
};

/// What of a run is recorded: steps at least (a steady one needs some before it), and unlike ranks at most.
struct RecordingSize {
  int steps = 3, ranks = 1;
};

/// Links at devices of a node that the patterns of a graph use.
std::vector<RecordedLink> recorded_links(const TaskGraph& graph, const Cluster& cluster,
                                         int node);  // recorded_links.cpp

/// The device model a scenario starts from, before any anchor.
DeviceModel default_device_model(const Scenario& scenario);
/// The device model of a cluster whose nodes are alike, with the libraries of this CUDA toolkit; 0.0 means
/// those of today.
DeviceModel default_device_model(const ClusterSpec& cluster, const FrameworkVersion& cuda = {0, 0});

/// Throws InputError when a step takes longer than StepSimulator::kLongestStep.
void refuse_endless_step(double step_s);

/// Simulates steps of one scenario with the model that answers for it (step_model.hpp); keeps the cluster's
/// graph, which all numbers of GPUs share, and what their plans have in common. Not for several threads at
/// once, nor are those made from one another.
class StepSimulator {
 public:
  /// `most_gpus`: the largest number that will be asked for; `most_nodes`: of spread().
  StepSimulator(const Scenario& scenario, int most_gpus, int most_nodes = 1);
  /// With the graph of `other`, whose scenario has the same cluster; a training that needs more nodes
  /// gets a graph of its own.
  StepSimulator(const Scenario& scenario, const StepSimulator& other);

  /// The mean step in the steady state. `batch_per_gpu` replaces the scenario's (the last batch of an epoch
  /// is smaller). Throws InputError when one step would take longer than kLongestStep.
  SimulatedStep simulate(int gpus, std::int64_t batch_per_gpu, const DeviceModel& device,
                         Reading reading = Reading::parts) const;
  SimulatedStep simulate(int gpus, const DeviceModel& device, Reading reading = Reading::parts) const {
    return simulate(gpus, batch_per_gpu(gpus), device, reading);
  }
  double step_s(int gpus, const DeviceModel& device) const {
    return simulate(gpus, device, Reading::time).step_s;
  }

  /// Seconds a rank takes for one batch of a validation pass, in the steady state.
  double simulate_evaluation(int gpus, std::int64_t batch_per_gpu, const DeviceModel& device) const;

  /// The steps themselves. Of ranks warm-up, then steady steps, at least one; of ranks that are not alike one
  /// of each sort, the slowest first. Of stages one step.
  StepRecording record(int gpus, const DeviceModel& device, RecordingSize size = {}) const;

  /// The batch of one GPU and micro-step: the scenario's in weak scaling, the rounded-up share of the global
  /// batch in strong; where kinds of node have their own that of rank 0.
  std::int64_t batch_per_gpu(int gpus) const;
  /// By kind of node; empty: all GPUs have the same.
  const std::vector<KindBatches>& batches(int gpus) const;
  /// Samples per optimizer step over all GPUs that work (samples_of_step(), sim/scenario/job.hpp).
  std::int64_t global_batch(int gpus) const;
  const Scenario& scenario() const { return scenario_; }
  const StepModel& model() const { return model_; }
  /// What Account::other is in this step.
  std::string_view other_account() const {
    return scenario_.workload.offload_activations == ActivationOffload::none || !model_.is_strategy
               ? model_.other_account
               : kCopiesOfActivations;
  }
  /// Of a layout that cuts nothing, the simulator of its strategy on so many GPUs (as_strategy(),
  /// sim/scenario/uncut_layout.hpp), on the same machine; null where there is none. Valid as long as this
  /// one.
  const StepSimulator* as_strategy(int gpus) const;
  /// Of `gpus` reserved GPUs those that work (sim/scenario/job.hpp).
  Placement placement(int gpus) const;
  /// From here on so many GPUs are spread over so many nodes instead of as the scenario's layout says.
  void spread(int gpus, int nodes) { nodes_of_.insert_or_assign(gpus, nodes); }
  /// Whether one rank stands for all, as on most clusters.
  bool has_alike_ranks() const;
  /// GPUs the cluster has.
  int cluster_gpus() const;
  const Cluster& cluster() const { return machine_->cluster; }
  ClusterCollectives& collectives() const { return *machine_->collectives; }

  static constexpr double kLongestStep = 86400;

 private:
  friend struct ReplicatedStep;  // its steps are simulated by the functions below
  struct Run {
    int gpus = 1;
    std::int64_t batch_per_gpu = 1;
    int micro_steps = 1, steps = 1;
    Representative rank{};  ///< of ranks that are not alike
  };
  /// Of a cluster, whatever runs on it.
  struct Machine {
    Machine(const ClusterSpec& spec, int nodes);
    Cluster cluster;
    std::shared_ptr<ClusterCollectives> collectives;
  };
  int working(int gpus) const;
  std::vector<Representative> representatives(int gpus, std::int64_t batch) const;
  DeviceModel device_of(const Representative& rank, const DeviceModel& device) const;
  const std::shared_ptr<PlanReuse>& reuse_of(int kind) const;
  Run run_of(int gpus, std::int64_t batch) const;
  std::vector<KindBatches> balanced(int gpus) const;
  BalancedKind balanced_kind(int kind, int gpus, const std::vector<Representative>& ranks,
                             const DeviceModel& device) const;
  SimulatedStep simulate_alike(Run run, const DeviceModel& device, Reading reading) const;
  SimulatedStep simulate_unlike(Run run, const std::vector<Representative>& ranks, const DeviceModel& device,
                                Reading reading) const;
  SimulatedStep joined(std::vector<SimulatedStep> steps, const std::vector<Representative>& ranks) const;
  RecordedSteps run_steps(const Run& run, const DeviceModel& device, PlanFunction plan) const;
  RecordedRank record_rank(const Run& run, const DeviceModel& device) const;
  SimulatedStep simulate_micro_steps(const Run& run, const DeviceModel& device, Reading reading) const;
  void read_accounts(const RecordedSteps& run, Reading reading, SimulatedStep& step) const;

  const Scenario& scenario_;
  const StepModel& model_;
  std::shared_ptr<const Machine> machine_;
  mutable std::map<int, std::shared_ptr<PlanReuse>> reuse_;  ///< of this scenario, by kind of node
  mutable std::map<int, std::vector<KindBatches>> batches_;  ///< by number of GPUs
  std::map<int, int> nodes_of_;                              ///< where spread() was called
  struct OfStrategy;
  /// By number of micro-batches; null: none.
  mutable std::map<std::int64_t, std::shared_ptr<const OfStrategy>> of_strategy_;
};

}  // namespace foretrain
