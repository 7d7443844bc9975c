// State that plans of one workload on one cluster share, so that it is computed once.
#pragma once

#include <memory>

#include "sim/strategy/process/group_collectives.hpp"
#include "sim/workload/device/operator_costs.hpp"

namespace foretrain {

/// Caches for plans of one workload and cluster. It does not change results: a plan computes the same values
/// without it. Not thread-safe.
struct PlanReuse {
  /// The cluster's groups of ranks; independent of the workload.
  std::shared_ptr<ClusterCollectives> collectives;
  /// Costs of the workload's operators.
  OperatorCosts operators;
  /// Size of the largest plan so far, to reserve memory for the next one.
  std::size_t tasks = 0, dependencies = 0;
};

}  // namespace foretrain
