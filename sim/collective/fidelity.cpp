// The closed form is the plan's own; the others play the plan's traffic on the links.
#include "sim/collective/fidelity.hpp"

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/collective/chunk_plan.hpp"
#include "sim/engine/chunk_simulator.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/network.hpp"
#include "sim/engine/timeline.hpp"

namespace foretrain {

namespace {

constexpr std::array<std::string_view, 3> kNames{"analytic", "flow", "chunk"};

/// One task: the latency, then the flows.
Time simulate_flows(const Communicator& communicator, const CollectivePlan& plan) {
  TaskGraph graph;
  Task task;
  task.kind = TaskKind::collective;
  task.queue = graph.add_queue("NCCL stream");
  task.duration = plan.latency;
  task.pattern = graph.add_pattern(communicator.flows(plan));
  task.traffic = plan.size;
  const TaskId id = graph.add(task);
  const std::unique_ptr<Network> network = make_max_min_network(communicator.cluster().capacities());
  return run(graph, *network).end_of(id);
}

Time simulate_chunk_level(const Communicator& communicator, const CollectivePlan& plan) {
  const ChunkPlan chunks = chunk_plan(communicator, plan);
  if (!chunks.problem.empty()) throw InputError(fmt::format("no chunk level for this collective: {}", chunks.problem), "--fidelity flow");
  const ChunkResult result = simulate_chunks(chunks.graph, chunks.capacities);
  if (!result.problem.empty()) throw InputError(fmt::format("chunk level: {}", result.problem), "--fidelity flow");
  return plan.timing.start + result.end;
}

}  // namespace

std::string_view name_of(Fidelity fidelity) { return kNames[static_cast<std::size_t>(fidelity)]; }

std::optional<Fidelity> find_fidelity(std::string_view name) {
  for (const Fidelity fidelity : kFidelities) {
    if (name_of(fidelity) == name) return fidelity;
  }
  return std::nullopt;
}

Time simulate(const Communicator& communicator, const CollectivePlan& plan, Fidelity fidelity) {
  if (fidelity == Fidelity::analytic || communicator.size() < 2) return plan.alone;
  return fidelity == Fidelity::flow ? simulate_flows(communicator, plan) : simulate_chunk_level(communicator, plan);
}

}  // namespace foretrain
