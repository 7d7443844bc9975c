// Runs a TaskGraph to a Timeline. It is the only part of foretrain with a clock.
#pragma once

#include <functional>

#include "sim/engine/fold.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/task_graph.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

/// Runs the graph and returns when each task ran. `network` carries the flows of the tasks' patterns.
///
/// A task starts when all its dependencies have ended, their lags have passed, and its pool has a free unit.
/// Ties go to the task added first. Kernels on a device run at 1 minus the sum of the shares of the
/// collectives active there, never below 0.05. Two runs of one graph are equal to the picosecond. Folding
/// changes the cost and not the answer (fold.hpp); off is for tests.
///
/// Throws InputError when a flow could only end after 46 days, where the clock stops (a link without
/// bandwidth). Cost: O(tasks + dependencies) for fixed durations, plus O(log n) for each event and a max-min
/// solution for each moment at which flows start or end.
Timeline run(const TaskGraph& graph, Network& network, Folding folding = Folding::on);

/// Runs the graph over links of the given capacities with fluid max-min sharing. `capacity_of` is asked only
/// for links that some pattern crosses, so the idle links of a large cluster cost nothing.
Timeline run(const TaskGraph& graph, const std::function<ByteRate(LinkId)>& capacity_of);

}  // namespace foretrain
