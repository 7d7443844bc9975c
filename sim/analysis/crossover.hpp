// Where adding GPUs stops paying: a search over the number of GPUs, and its cause in words.
#pragma once

#include <functional>
#include <map>

#include "sim/analysis/prediction.hpp"

namespace foretrain {

/// What the search needs to know of one number of GPUs.
struct Throughput {
  double samples_per_s = 0;
  Breakdown breakdown{};
  double step_s = 0;
};

/// Gives the throughput on N GPUs; may be expensive.
using ThroughputFunction = std::function<Throughput(int gpus)>;

/// Searches 1..most_gpus. Evaluates at most about `budget` numbers: every one up to two nodes, then whole nodes (all of them, or
/// spaced geometrically), then bisects each threshold GPU by GPU. A dip
/// between two evaluated numbers is not seen. Requires most_gpus, gpus_per_node >= 1.
Crossover find_crossover(const ThroughputFunction& throughput, int most_gpus, int gpus_per_node, int budget);

/// One sentence: what the step waits for beyond one GPU's step, at N GPUs.
std::string explain_loss(const Throughput& one, const Throughput& many, int gpus);

}  // namespace foretrain
