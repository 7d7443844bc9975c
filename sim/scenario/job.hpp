// The GPUs that a job reserves, the GPUs that work once its processes run, and the part of the data set that
// each sees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Returns the number of GPUs that the job can have: of the nodes that it requests, by default of the whole
/// cluster.
std::int64_t gpus_of_job(const Scenario& scenario);
/// Returns the job's nodes: kind by kind, the first ones of each.
std::vector<NodeCapacity> nodes_of_job(const Scenario& scenario);
/// Returns the node of rank 0.
const NodeSpec& first_node(const Scenario& scenario);
/// Returns the clock of a GPU divided by that of others of its kind, as given or drawn.
double clock_of(const Scenario& scenario, const GpuPlace& place);
/// Returns whether some GPU may be slower than others of its kind.
bool has_slow_gpus(const Scenario& scenario);

/// Returns the places of `gpus` reserved GPUs. Requires 1 <= gpus <= gpus_of_job().
Placement reserved_gpus(const Scenario& scenario, int gpus);

/// Returns the reserved GPUs that a process drives. With one process per GPU they are as many as there are
/// processes; a process of other strategies drives all GPUs of its node.
Placement working_gpus(const Scenario& scenario, int gpus);

/// Returns the number of working GPUs.
int working_gpu_count(const Scenario& scenario, int gpus);

/// A way to start the processes that does not suit the strategy.
/// Key of [launch].
struct StartFault {
  std::string_view key;  ///< of [launch]
  std::string message, hint;
};
/// Returns all such faults; empty when the processes can be started as the scenario states.
std::vector<StartFault> start_faults(const Scenario& scenario);

/// Returns why the strategy cannot be started, or cannot run on `gpus` GPUs; empty when it can.
std::string why_not(const Scenario& scenario, int gpus);
/// As above, and why the GPUs would not train together: with the plain loop each GPU trains alone.
std::string why_not_together(const Scenario& scenario, int gpus);
/// Returns the largest number of GPUs up to `most` on which the strategy can run, at least 1. It bisects, so
/// a strategy must run on every number below one on which it runs.
int most_usable_gpus(const Scenario& scenario, int most);

// Layouts of scenarios with [parallel]. One place chooses the model that answers a question about steps
// (sim/analysis/step/step_model.hpp); no other code asks whether there is a layout.

/// Returns the scenario's layout. Requires one.
const LargeModelRun& layout_of(const Scenario& scenario);
/// Returns the layout on `gpus` GPUs, or on the fewest GPUs that can run it if these are more. Requires one.
LargeModelRun layout_on(const Scenario& scenario, int gpus);
/// Sets the scenario's layout, whether it had one or not.
void set_layout(Scenario& scenario, const LargeModelRun& layout);

/// Returns the fewest GPUs that can run the training; for a layout those of fewest_gpus_of(LargeModelRun).
int fewest_gpus_of(const Scenario& scenario);

/// Returns the samples that one optimizer step trains on `gpus` GPUs, over all ranks. Every figure of a
/// prediction is based on this number. With a fixed batch per GPU it is that batch times micro-steps times
/// working GPUs. With a global batch it is what the ranks can really have (docs/models/step.md). If one
/// loader deals a batch out (`dp`, `mirrored`, `multi_worker_mirrored`, "balance"), it is the micro-steps of
/// the global batch, rounded up. Otherwise every rank has the same whole number of samples in every
/// micro-step, rounded up. With [parallel] it is the global batch that the degrees divide.
std::int64_t samples_of_step(const Scenario& scenario, int gpus);
/// Returns whether an answer may name this number of GPUs: its steps train the requested global batch, or
/// run.gpus lists it. In weak scaling every number may be named.
bool may_be_answer(const Scenario& scenario, int gpus);
/// As above, for given places of the working GPUs.
std::int64_t samples_of_step(const Scenario& scenario, const Placement& working);

/// Returns the precision of the training in words: that of [model], or "as recorded" for a recorded program,
/// whose tensors have types of their own.
std::string_view precision_of(const Scenario& scenario);

/// The division of an epoch into steps.
struct EpochSteps {
  /// Steps with all their samples.
  std::int64_t full = 0;
  /// Samples of a smaller last step; 0: there is none, or drop_last omits it.
  std::int64_t rest = 0;
  std::int64_t count() const { return full + (rest > 0 ? 1 : 0); }
};
/// Returns the steps of an epoch. Requires data.samples >= 0 and step >= 1. Every sampler that pads or cuts
/// every rank's share alike has these numbers: ceil(ceil(samples / ranks) / batch) = ceil(samples / (ranks *
/// batch)).
EpochSteps epoch_steps(const DataSet& data, std::int64_t step);
/// Returns the steps of an epoch on `gpus` GPUs. Without a sampler each process runs through all of the data
/// set with its own part of the step.
EpochSteps epoch_steps(const Scenario& scenario, int gpus);

/// Returns the number of shares of an epoch's samples, one for each working GPU; without a sampler only the
/// GPUs of one process share.
int shares_of_data(const Scenario& scenario, int gpus);
/// Returns how many processes train on the same samples in a step: 1 with a sampler that works.
int readers_of_a_sample(const Scenario& scenario, int gpus);

/// Returns the losses by launch and sampler on `gpus` GPUs, one clause each, followed by "; "; empty when
/// there are none.
std::string job_losses(const Scenario& scenario, int gpus);
/// Returns them as warnings for the scenario's numbers of GPUs.
std::vector<std::string> job_warnings(const Scenario& scenario);

}  // namespace foretrain
