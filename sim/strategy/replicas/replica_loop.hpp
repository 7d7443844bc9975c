// The training loop of a TensorFlow process that drives several GPUs: one graph holds a replica of the
// network for each GPU.
#pragma once

#include <functional>

#include "sim/strategy/replicas/gradient_exchange.hpp"
#include "sim/strategy/strategy.hpp"

namespace foretrain {

/// Returns the number of GPUs of the process that holds the first rank: those of its node.
int gpus_of_process(const PlanRequest& request);

/// Returns the key strategy.private_threads, an option of both strategies of TensorFlow's replicas.
Knob private_threads_knob();

/// Makes the exchange of gradients of a strategy.
using MakeExchange = std::function<GradientExchange(Process& process, const ReplicaThreads& threads)>;
/// Plans all steps of the process of the first rank. The replicas do the same, so only the one whose turn
/// comes last has tasks. The process issues operators of all its replicas one at a time, unless each GPU has
/// threads of its own (docs/models/replicated.md), and each GPU updates its own copy of the weights. In eager
/// mode the passes of one replica follow those of another. With one GPU it is the plain loop.
Plan plan_replicas(const PlanRequest& request, const MakeExchange& make_exchange);

}  // namespace foretrain
