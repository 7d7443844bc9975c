// The GPUs a job reserves, those that work once its processes run, and what share of the data set each sees.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// GPUs there are for the job: of the nodes it asks for, by default of the whole cluster.
std::int64_t gpus_of_job(const Scenario& scenario);
/// Its nodes: kind after kind, of each the first ones.
std::vector<NodeCapacity> nodes_of_job(const Scenario& scenario);
/// The node of rank 0.
const NodeSpec& first_node(const Scenario& scenario);
/// Its clock over that of the other GPUs of its kind, as given or drawn.
double clock_of(const Scenario& scenario, const GpuPlace& place);
/// Whether some GPU may be slower than others of its kind.
bool has_slow_gpus(const Scenario& scenario);

/// The places of `gpus` reserved GPUs. Requires 1 <= gpus <= gpus_of_job().
Placement reserved_gpus(const Scenario& scenario, int gpus);

/// Those of them that a process drives: with one process per GPU as many as there are processes; a process of
/// the other strategies drives all GPUs of its node.
Placement working_gpus(const Scenario& scenario, int gpus);

/// How many those are.
int working_gpu_count(const Scenario& scenario, int gpus);

/// A way to start the processes that does not suit the strategy.
struct StartFault {
  std::string_view key;  ///< of [launch]
  std::string message, hint;
};
/// Every such fault; empty when the processes can be started as the scenario says.
std::vector<StartFault> start_faults(const Scenario& scenario);

/// Why the strategy cannot be started, or cannot run on so many GPUs; empty when it can.
std::string why_not(const Scenario& scenario, int gpus);
/// The same, and why they would not train together: with the plain loop each GPU trains alone.
std::string why_not_together(const Scenario& scenario, int gpus);
/// The largest number of GPUs up to `most` on which the strategy can run, at least 1.
int most_usable_gpus(const Scenario& scenario, int most);

// Of a scenario with [parallel] only: what it cuts the model into. Which model answers a question about steps
// is chosen in one place (sim/analysis/step/step_model.hpp); nothing else asks whether there is a layout.

/// The layout as the scenario has it. Requires one.
const LargeModelRun& layout_of(const Scenario& scenario);
/// The layout on so many GPUs; on fewer than can run it that on the fewest which can. Requires one.
LargeModelRun layout_on(const Scenario& scenario, int gpus);
/// Makes it the scenario's layout, whatever the scenario had.
void set_layout(Scenario& scenario, const LargeModelRun& layout);

/// The fewest GPUs that can run the training: of a layout one replica's (fewest_gpus_of(LargeModelRun)).
int fewest_gpus_of(const Scenario& scenario);

/// Samples that one optimizer step trains on so many GPUs, those of all ranks counted. Every figure of a
/// prediction counts with this number. With a fixed batch per GPU it is that batch times micro-steps times
/// working GPUs. With a global batch it is what the ranks can really have (docs/models/epoch.md): where one
/// loader deals a batch out (`dp`, `mirrored`, `multi_worker_mirrored`, "balance") the micro-steps of the
/// global batch, rounded up; else every rank has the same whole number of samples in every micro-step,
/// rounded up. With [parallel] it is the global batch that the degrees divide.
std::int64_t samples_of_step(const Scenario& scenario, int gpus);
/// Whether an answer may name this number of GPUs: its steps train the global batch that was asked for, or
/// run.gpus lists it. In weak scaling every number may be named.
bool may_be_answer(const Scenario& scenario, int gpus);
/// The same for given places of the working GPUs.
std::int64_t samples_of_step(const Scenario& scenario, const Placement& working);

/// In which precision the training runs, in words: that of [model], or "as recorded" of a recorded program,
/// whose tensors have types of their own.
std::string_view precision_of(const Scenario& scenario);

/// How an epoch is cut into steps.
struct EpochSteps {
  std::int64_t full = 0;  ///< steps with all their samples
  std::int64_t rest = 0;  ///< samples of a smaller last step; 0: there is none, or drop_last leaves it out
  std::int64_t count() const { return full + (rest > 0 ? 1 : 0); }
};
/// Requires data.samples >= 0 and step >= 1. Every sampler that pads or cuts every rank's share alike comes
/// to these numbers: ceil(ceil(samples / ranks) / batch) = ceil(samples / (ranks * batch)).
EpochSteps epoch_steps(const DataSet& data, std::int64_t step);
/// Without a sampler each process runs through all of the data set with its own part of the step.
EpochSteps epoch_steps(const Scenario& scenario, int gpus);

/// Into how many shares an epoch's samples are cut, one for each working GPU; without a sampler only the GPUs
/// of one process share.
int shares_of_data(const Scenario& scenario, int gpus);
/// How many processes train on the same samples in a step: 1 with a sampler that works.
int readers_of_a_sample(const Scenario& scenario, int gpus);

/// What launch and sampler cost on so many GPUs in one clause each, with "; " behind it; empty when nothing.
std::string job_losses(const Scenario& scenario, int gpus);
/// The same as warnings for the scenario's numbers of GPUs.
std::vector<std::string> job_warnings(const Scenario& scenario);

}  // namespace foretrain
