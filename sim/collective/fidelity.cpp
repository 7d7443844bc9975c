// The closed form is part of the plan. The other fidelities play the plan's traffic on the links.
#include "sim/collective/fidelity.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/collective/chunk_plan.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

namespace {

constexpr std::array<std::string_view, 3> kFidelityNames{"analytic", "flow", "chunk"};

/// Renumbers the links of the flows from 0 on, so that a network holds no other links of a large cluster.
/// Returns their capacities.
std::vector<ByteRate> keep_used_links(std::vector<PatternFlow>& flows, const ClusterLinks& links) {
  std::vector<LinkId> used;
  for (const PatternFlow& flow : flows) used.insert(used.end(), flow.route.begin(), flow.route.end());
  std::ranges::sort(used);
  used.erase(std::unique(used.begin(), used.end()), used.end());
  for (PatternFlow& flow : flows) {
    for (LinkId& link : flow.route)
      link = static_cast<LinkId>(std::ranges::lower_bound(used, link) - used.begin());
  }
  std::vector<ByteRate> capacities;
  for (const LinkId link : used) capacities.push_back(links[link].bandwidth);
  return capacities;
}

/// Simulates one task: the latency, then the flows of the plan.
Time simulate_flows(const Communicator& communicator, const CollectivePlan& plan) {
  std::vector<PatternFlow> flows = communicator.flows(plan);
  const std::unique_ptr<Network> network =
      make_max_min_network(keep_used_links(flows, communicator.cluster().links()));
  TaskGraph graph;
  Task task;
  task.kind = TaskKind::collective;
  task.queue = graph.add_queue("NCCL stream");
  task.duration = plan.latency;
  task.pattern = graph.add_pattern(std::move(flows));
  task.traffic = plan.size;
  const TaskId id = graph.add(task);
  return run(graph, *network).end_of(id);
}

/// Simulates every chunk on every hop, and adds the time before the first and after the last message.
Time simulate_chunk_level(const Communicator& communicator, const CollectivePlan& plan) {
  const ChunkPlan chunks = chunk_plan(communicator, plan);
  if (!chunks.problem.empty())
    throw InputError(fmt::format("no chunk level for this collective: {}", chunks.problem),
                     "--fidelity flow");
  const ChunkResult result = simulate_chunks(chunks.graph, chunks.capacities);
  if (!result.problem.empty())
    throw InputError(fmt::format("chunk level: {}", result.problem), "--fidelity flow");
  return plan.timing.start + result.end + plan.timing.last;
}

}  // namespace

std::string_view name_of(Fidelity fidelity) { return kFidelityNames[static_cast<std::size_t>(fidelity)]; }

std::optional<Fidelity> find_fidelity(std::string_view name) {
  for (const Fidelity fidelity : kFidelities) {
    if (name_of(fidelity) == name) return fidelity;
  }
  return std::nullopt;
}

Time simulate(const Communicator& communicator, const CollectivePlan& plan, Fidelity fidelity) {
  if (fidelity == Fidelity::analytic || communicator.size() < 2) return plan.alone;
  return fidelity == Fidelity::flow ? simulate_flows(communicator, plan)
                                    : simulate_chunk_level(communicator, plan);
}

}  // namespace foretrain
