// The same transfers at flow level here: when each of them ends.
#pragma once

#include <vector>

#include "sim/engine/executor.hpp"
#include "tests/crosscheck/simgrid.hpp"

namespace foretrain::test {

/// Each transfer is a collective on a queue of its own, whose latency is the moment it starts. Seconds.
inline std::vector<double> our_ends(const Scene& scene) {
  TaskGraph graph;
  for (const Transfer& transfer : scene.transfers) {
    Task task;
    task.kind = TaskKind::collective;
    task.queue = graph.add_queue("transfer");
    task.duration = seconds(transfer.start);
    task.pattern = graph.add_pattern({{transfer.route, 1}});
    task.traffic = {transfer.bytes};
    graph.add(task);
  }
  std::vector<ByteRate> capacities;
  for (const double capacity : scene.capacities) capacities.push_back({capacity});
  const auto network = make_max_min_network(std::move(capacities));
  std::vector<double> ends;
  for (const Span& span : run(graph, *network).spans) ends.push_back(to_seconds(span.end));
  return ends;
}

}  // namespace foretrain::test
