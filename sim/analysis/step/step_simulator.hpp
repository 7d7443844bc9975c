// The simulator of one training step on N GPUs: it plans the step, runs it, and reads time and critical path.
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

/// The results that are read from a run: `time` reads the length of the step alone; `accounts` adds
/// breakdown, memory and decisions; `parts` adds the breakdown by kind of work.
enum class Reading : std::uint8_t { time, accounts, parts };

/// Ranks of a job that are unlike the others, with the step that they would have if they waited for none.
struct UnlikeRanks {
  Representative what;
  /// Seconds of their step, with the collectives of the whole job.
  double own_step_s = 0;
  /// Filled where accounts were read.
  StrategyMemory memory{};
};

/// The mean step in the steady state. Fields beyond the requested Reading are empty.
struct SimulatedStep {
  double step_s = 0;
  /// Present with a layout of [parallel].
  std::optional<LargeModelPoint> large{};
  /// Seconds that the compute stream worked or waited, by account; they sum to step_s.
  Breakdown breakdown{};
  /// Growth of the critical path to the step's end in each account: the derivative of the step.
  Breakdown critical{};
  /// The breakdown by kind of work.
  std::vector<StepPart> parts;
  /// Exposed communication by kind of link.
  LinkWaits waits;
  std::vector<Bytes> buckets;
  StrategyMemory memory;
  Decisions decisions;
  /// Kinds of ranks in the order of their first ranks; empty where all ranks are alike.
  std::vector<UnlikeRanks> unlike{};
  /// The part of rank 0's exposed communication in which it waits for slower ranks.
  double waits_for_slower_s = 0;
  /// Name of that wait, in words.
  std::string_view waits_for = kWaitForNodes;
};

/// Several simulated steps with plan and timeline.
struct RecordedSteps {
  Plan plan;
  Timeline timeline;
  /// The ranks of the job in their order.
  Placement job;
  /// The graph whose links the plan's patterns number. It may have more nodes than the job reserves.
  std::shared_ptr<const Cluster> cluster;
};

/// A direction of a connection at a device of the recorded rank's node.
struct RecordedLink {
  LinkId id;
  /// Both ends in words: "gpu0 to nvswitch0".
  std::string name;
  ByteRate bandwidth;
};

/// The recorded steps of one rank, for traces.
struct RecordedRank {
  RecordedSteps steps{};
  /// The links of its node that its collectives use.
  std::vector<RecordedLink> links{};
  /// GPUs of the job.
  int gpus = 1;
  /// The rank itself, and how many ranks it stands for.
  Representative rank{};
  /// True if other ranks are unlike it; it is recorded without waiting for them.
  bool is_alone = false;
};

/// The recording of a training's steps: by rank, or by stage where the network is cut.
struct StepRecording {
  std::vector<RecordedRank> ranks{};
  std::optional<LargeStepRecord> stages{};
};

/// The size of a recording: fewest steps (a steady step needs some before it), and most unlike ranks.
struct RecordingSize {
  int steps = 3, ranks = 1;
};

/// Returns the links at devices of `node` that the patterns of the graph use.
std::vector<RecordedLink> recorded_links(const TaskGraph& graph, const Cluster& cluster,
                                         int node);  // recorded_links.cpp

/// Returns the device model of a scenario before any calibration to a measurement.
DeviceModel default_device_model(const Scenario& scenario);
/// Returns the device model of a cluster whose nodes are alike, with the libraries of this CUDA toolkit; 0.0
/// means those of today.
DeviceModel default_device_model(const ClusterSpec& cluster, const FrameworkVersion& cuda = {0, 0});

/// Throws InputError when a step takes longer than StepSimulator::kLongestStep.
void refuse_endless_step(double step_s);

/// Simulates steps of one scenario with the model that answers for it (step_model.hpp). It keeps the
/// cluster's graph, which all numbers of GPUs share, and the parts that their plans have in common.
///
/// The scenario must outlive it. Not thread-safe; simulators that were made from one another share caches and
/// may not be used from several threads at once either.
class StepSimulator {
 public:
  /// Builds the cluster's graph for at most `most_gpus` GPUs, and for `most_nodes` nodes where spread() will
  /// be called.
  StepSimulator(const Scenario& scenario, int most_gpus, int most_nodes = 1);
  /// Shares the graph of `other`, whose scenario must have the same cluster. A training that needs more nodes
  /// gets a graph of its own.
  StepSimulator(const Scenario& scenario, const StepSimulator& other);

  /// Returns the mean step in the steady state. `batch_per_gpu` replaces the scenario's batch, because the
  /// last batch of an epoch is smaller. Throws InputError when one step would take longer than kLongestStep.
  SimulatedStep simulate(int gpus, std::int64_t batch_per_gpu, const DeviceModel& device,
                         Reading reading = Reading::parts) const;
  SimulatedStep simulate(int gpus, const DeviceModel& device, Reading reading = Reading::parts) const {
    return simulate(gpus, batch_per_gpu(gpus), device, reading);
  }
  double step_s(int gpus, const DeviceModel& device) const {
    return simulate(gpus, device, Reading::time).step_s;
  }

  /// Returns the seconds that a rank takes for one batch of a validation pass, in the steady state.
  double simulate_evaluation(int gpus, std::int64_t batch_per_gpu, const DeviceModel& device) const;

  /// Returns single steps: warm-up, then at least one steady step, of one rank of each kind, slowest first. A
  /// cut network has one step by stages instead.
  StepRecording record(int gpus, const DeviceModel& device, RecordingSize size = {}) const;

  /// Returns the batch of one GPU and micro-step: the scenario's under weak scaling, the rounded-up share of
  /// the global batch under strong scaling, that of rank 0 where kinds of node have their own.
  std::int64_t batch_per_gpu(int gpus) const;
  /// Returns the batches by kind of node; empty if all GPUs have the same. Balanced batches are computed once
  /// for each number of GPUs, by simulation.
  const std::vector<KindBatches>& batches(int gpus) const;
  /// Returns the samples per optimizer step over all working GPUs (samples_of_step(), sim/scenario/job.hpp).
  std::int64_t global_batch(int gpus) const;
  const Scenario& scenario() const { return scenario_; }
  const StepModel& model() const { return model_; }
  /// Returns the meaning of Account::other in this step.
  std::string_view other_account() const {
    return scenario_.workload.offload_activations == ActivationOffload::none || !model_.is_strategy
               ? model_.other_account
               : kCopiesOfActivations;
  }
  /// Returns the simulator of the strategy that a layout without cuts runs as (as_strategy(),
  /// sim/scenario/uncut_layout.hpp), on the same machine; null if there is none. It is owned by this
  /// simulator.
  const StepSimulator* as_strategy(int gpus) const;
  /// Returns the GPUs that work, out of `gpus` reserved ones (sim/scenario/job.hpp).
  Placement placement(int gpus) const;
  /// Spreads this number of GPUs over `nodes` nodes from here on, in place of the scenario's layout.
  void spread(int gpus, int nodes) { nodes_of_.insert_or_assign(gpus, nodes); }
  /// Returns true if one rank stands for all, as on most clusters.
  bool has_alike_ranks() const;
  /// Returns the number of GPUs that the job can use on the cluster.
  int cluster_gpus() const;
  const Cluster& cluster() const { return machine_->cluster; }
  ClusterCollectives& collectives() const { return *machine_->collectives; }

  /// Longest step that is simulated, in seconds: one day.
  static constexpr double kLongestStep = 86400;

 private:
  friend struct ReplicatedStep;  // its steps are simulated by the functions below
  /// The parameters of one simulation: number of GPUs, batch, micro-steps, steps and the rank that is
  /// simulated.
  struct Run {
    int gpus = 1;
    std::int64_t batch_per_gpu = 1;
    int micro_steps = 1, steps = 1;
    /// The simulated rank, where ranks are not alike.
    Representative rank{};
  };
  /// The parts that depend on the cluster alone; simulators share them.
  struct Machine {
    Machine(const ClusterSpec& spec, int nodes);
    Cluster cluster;
    std::shared_ptr<ClusterCollectives> collectives;
  };
  /// Returns the GPUs that work, out of `gpus` reserved ones.
  int working(int gpus) const;
  /// Returns one rank of each kind with its batch.
  std::vector<Representative> representatives(int gpus, std::int64_t batch) const;
  /// Returns the device model of one kind of rank: its node's constants with the scaling of `device`.
  DeviceModel device_of(const Representative& rank, const DeviceModel& device) const;
  /// Returns what plans of one kind of node share.
  const std::shared_ptr<PlanReuse>& reuse_of(int kind) const;
  /// Returns the run of one micro-step with warm-up and window.
  Run run_of(int gpus, std::int64_t batch) const;
  /// Returns batches with which all ranks finish at the same time (balance.hpp).
  std::vector<KindBatches> balanced(int gpus) const;
  BalancedKind balanced_kind(int kind, int gpus, const std::vector<Representative>& ranks,
                             const DeviceModel& device) const;
  /// Simulates a job as if all its ranks were like run.rank.
  SimulatedStep simulate_alike(Run run, const DeviceModel& device, Reading reading) const;
  /// Simulates each kind of rank and lets the others wait for the slowest.
  SimulatedStep simulate_unlike(Run run, const std::vector<Representative>& ranks, const DeviceModel& device,
                                Reading reading) const;
  /// Combines the steps of all kinds into rank 0's.
  SimulatedStep joined(std::vector<SimulatedStep> steps, const std::vector<Representative>& ranks) const;
  /// Plans and runs the steps of one rank.
  RecordedSteps run_steps(const Run& run, const DeviceModel& device, PlanFunction plan) const;
  RecordedRank record_rank(const Run& run, const DeviceModel& device) const;
  /// Simulates a step with exactly run.micro_steps micro-steps.
  SimulatedStep simulate_micro_steps(const Run& run, const DeviceModel& device, Reading reading) const;
  /// Fills breakdown, critical path, waits and parts of a step.
  void read_accounts(const RecordedSteps& run, Reading reading, SimulatedStep& step) const;

  const Scenario& scenario_;
  const StepModel& model_;
  std::shared_ptr<const Machine> machine_;
  /// Shared parts of this scenario's plans, by kind of node.
  mutable std::map<int, std::shared_ptr<PlanReuse>> reuse_;
  /// Batches by number of GPUs.
  mutable std::map<int, std::vector<KindBatches>> batches_;
  /// Nodes by number of GPUs where spread() was called.
  std::map<int, int> nodes_of_;
  struct OfStrategy;
  /// Simulators of strategies by number of micro-batches; null where there is none.
  mutable std::map<std::int64_t, std::shared_ptr<const OfStrategy>> of_strategy_;
};

}  // namespace foretrain
