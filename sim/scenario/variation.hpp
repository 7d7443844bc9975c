// Variations of a scenario: one thing is changed, as a user would change it in the file. Other settings, and
// the measurement, stay.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The batch that stays the same when GPUs are added: that of each GPU (weak) or the global batch (strong).
enum class Scaling : std::uint8_t { weak, strong };

/// Returns the scenario with this scaling. Both scalings share one number of GPUs, at which a GPU keeps its
/// batch: that of the measurement, or else of the first row. In strong scaling numbers of GPUs beyond the
/// global batch are removed.
Scenario with_scaling(Scenario scenario, Scaling scaling);

/// Returns the job with another strategy of the same framework, started as that strategy needs. Nodes,
/// isolation and slow GPUs stay (JobMachine). Requires a name of the catalog.
Scenario with_strategy(Scenario scenario, const std::string& strategy);

/// Returns the job with a process for each GPU, with the launcher that started it before. Only plain python,
/// which starts one process, is replaced.
Scenario with_process_per_gpu(Scenario scenario);

/// Returns the scenario with another batch: samples per GPU and micro-step in weak scaling, of all GPUs in
/// strong.
Scenario with_batch(Scenario scenario, std::int64_t batch);
/// Returns the batch that with_batch() sets.
std::int64_t batch_of(const Scenario& scenario);

/// Returns the scenario with a network `factor` times as wide. Throws InputError when the network cannot be
/// widened (sim/workload/layers/widening.hpp).
Scenario with_width(Scenario scenario, double factor);

/// Returns the scenario with another way of training the same network: adapters, formats of weights, fused
/// kernels, recomputed blocks. Weights of 16 bits and fewer are multiplied in bf16 if the scenario is in
/// fp32. Throws InputError when the network was recorded, or cannot be trained so.
Scenario with_training(Scenario scenario, const FineTuning& tuning, bool recompute);

/// Returns the scenario with samples of `tokens` tokens. Requires a network that reads tokens and was not
/// recorded; throws InputError when it cannot read as many.
Scenario with_sequence(Scenario scenario, std::int64_t tokens);

/// Returns the scenario with the bandwidth of all links of one kind multiplied by `factor`.
Scenario with_link_speed(Scenario scenario, LinkKind kind, double factor);

}  // namespace foretrain
