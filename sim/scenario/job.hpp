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
std::vector<NodeRoom> nodes_of_job(const Scenario& scenario);
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
