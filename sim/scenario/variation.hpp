// The same question with one thing changed, as a user would change it in the file. Other settings, and what
// was measured, stay.
#pragma once

#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// What stays the same when GPUs are added: the batch of each GPU (weak) or the global batch (strong).
enum class Scaling : std::uint8_t { weak, strong };

/// The batch that stays the same: of each GPU, or of all. Both scalings share the number of GPUs that the
/// scenario's measurement or else its first row has, where a GPU keeps its batch. In strong scaling numbers
/// of GPUs beyond the global batch are left out.
Scenario with_scaling(Scenario scenario, Scaling scaling);

/// The same job with another strategy of the same framework, started as that one wants. Nodes, isolation and
/// slow GPUs stay (JobMachine). Requires a name of the catalog.
Scenario with_strategy(Scenario scenario, const std::string& strategy);

/// Started with a process for each GPU, by whatever started it before; python alone, which starts one, gives
/// way.
Scenario with_process_per_gpu(Scenario scenario);

/// Samples per GPU and micro-step in weak scaling, of all GPUs in strong.
Scenario with_batch(Scenario scenario, std::int64_t batch);
std::int64_t batch_of(const Scenario& scenario);

/// Throws InputError when the network has no such sister (sim/workload/layers/widening.hpp).
Scenario with_width(Scenario scenario, double factor);

/// Another way of training the same network: adapters, formats of weights, fused kernels, recomputed blocks.
/// Weights of 16 bits and fewer are multiplied in bf16 where the scenario is in fp32. Throws InputError when
/// the network was recorded, or cannot be trained so.
Scenario with_training(Scenario scenario, const FineTuning& tuning, bool recompute);

/// Samples of another length. Requires a network that reads tokens and was not recorded; throws InputError
/// when it cannot read as many.
Scenario with_sequence(Scenario scenario, std::int64_t tokens);

/// The bandwidth of all links of one kind times `factor`.
Scenario with_link_speed(Scenario scenario, LinkKind kind, double factor);

}  // namespace foretrain
