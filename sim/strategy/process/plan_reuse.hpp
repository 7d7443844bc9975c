// What plans of one workload on one cluster have in common, so that it is computed once.
#pragma once

#include <memory>

#include "sim/strategy/process/group_collectives.hpp"
#include "sim/workload/device/operator_costs.hpp"

namespace foretrain {

/// For one thread at a time. What a plan takes from here is what it would compute itself.
struct PlanReuse {
  std::shared_ptr<ClusterCollectives> collectives;  ///< of the cluster, whatever the workload
  OperatorCosts operators;
  std::size_t tasks = 0, dependencies = 0;  ///< of the largest plan so far: room to reserve
};

}  // namespace foretrain
