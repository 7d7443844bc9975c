// Runs a TaskGraph to a Timeline: the only place with a clock.
#pragma once

#include <functional>

#include "sim/engine/fold.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/task_graph.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

/// Every task starts when all its dependencies (with their lags) have passed and its pool has a free unit;
/// ties go to the task added first. Kernels on a device run at 1 minus the sum of the shares of the
/// collectives active there (never below 0.05). Deterministic: two runs of one graph are equal to the
/// picosecond. The clock stops at 46 days; a flow that could only end later (a link of no bandwidth) throws
/// InputError. Folding changes the cost, not the answer (fold.hpp); off is for tests.
Timeline run(const TaskGraph& graph, Network& network, Folding folding = Folding::on);

/// The same over links of those capacities with fluid max-min sharing; costs nothing for links that no
/// pattern crosses.
Timeline run(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of);

}  // namespace foretrain
