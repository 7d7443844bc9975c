// How fast the engine is: event queue, max-min solve, fluid network and executor, each at the size a real
// step has.
#include <cstdint>
#include <vector>

#include <benchmark/benchmark.h>

#include "sim/base/random.hpp"
#include "sim/engine/event_queue.hpp"
#include "sim/engine/executor.hpp"
#include "sim/engine/max_min.hpp"

namespace foretrain {

namespace {

constexpr int kFlows = 200;
constexpr int kHops = 6;
constexpr std::uint32_t kLinks = 400;

/// 200 flows over 6 of 400 links each, with three kinds of bandwidth: many bottlenecks, the hard case for
/// progressive filling.
MaxMinProblem scattered_flows() {
  const CounterRandom random(1);
  MaxMinProblem problem;
  for (std::uint32_t link = 0; link < kLinks; ++link)
    problem.capacities.push_back({12.5e9 * static_cast<double>(1 + random.bits(0, link) % 3)});
  for (std::uint64_t flow = 0; flow < kFlows; ++flow) {
    std::vector<std::uint32_t> route;
    for (std::uint64_t hop = 0; hop < kHops; ++hop)
      route.push_back(static_cast<std::uint32_t>(random.bits(1 + flow, hop) % kLinks));
    problem.add_flow(route);
  }
  return problem;
}

/// 200 flows of a ring: flow i crosses links 6i to 6i + 5, alone. One round fixes them all.
MaxMinProblem ring_flows() {
  MaxMinProblem problem;
  problem.capacities.assign(kFlows * kHops, {12.5e9});
  for (std::uint32_t flow = 0; flow < kFlows; ++flow) {
    std::vector<std::uint32_t> route;
    for (std::uint32_t hop = 0; hop < kHops; ++hop) route.push_back(flow * kHops + hop);
    problem.add_flow(route);
  }
  return problem;
}

void solve(benchmark::State& state, const MaxMinProblem& problem) {
  MaxMinSolver solver(problem.capacities);
  for (auto _ : state) {
    solver.clear();
    for (std::size_t f = 0; f < problem.flow_count(); ++f) {
      solver.add_flow(std::span(problem.links)
                          .subspan(problem.first_link[f], problem.first_link[f + 1] - problem.first_link[f]));
    }
    benchmark::DoNotOptimize(solver.solve().data());
  }
}

void max_min_scattered(benchmark::State& state) { solve(state, scattered_flows()); }
BENCHMARK(max_min_scattered)->Unit(benchmark::kMicrosecond);

void max_min_ring(benchmark::State& state) { solve(state, ring_flows()); }
BENCHMARK(max_min_ring)->Unit(benchmark::kMicrosecond);

void event_queue_push_pop(benchmark::State& state) {
  const CounterRandom random(2);
  EventQueue queue;
  const auto size = static_cast<std::uint64_t>(state.range(0));
  for (std::uint64_t i = 0; i < size; ++i)
    queue.push({Time{static_cast<std::int64_t>(random.bits(0, i) >> 24)}, i, 0});
  std::uint64_t rank = size;
  for (auto _ : state) {
    const Event event = queue.pop();
    queue.push({event.time + Time{static_cast<std::int64_t>(random.bits(1, rank) >> 24)}, rank, 0});
    ++rank;
  }
}
BENCHMARK(event_queue_push_pop)->Arg(64)->Arg(4096);

/// A host thread that enqueues `tasks` / 2 kernels: every kernel waits for its launch and for the kernel
/// before it.
TaskGraph launch_chain(int tasks) {
  TaskGraph graph;
  const QueueId host = graph.add_queue("host");
  const QueueId stream = graph.add_queue("stream");
  Task launch, kernel;
  launch.queue = host, launch.duration = microseconds(5);
  kernel.kind = TaskKind::kernel, kernel.queue = stream, kernel.duration = microseconds(7);
  for (int i = 0; i < tasks / 2; ++i) {
    const TaskId enqueue = graph.add(launch);
    graph.add(kernel, {{enqueue, microseconds(2)}});
  }
  return graph;
}

void build_and_run_chain(benchmark::State& state) {
  const auto tasks = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const TaskGraph graph = launch_chain(tasks);
    const auto network = make_ideal_network({});
    benchmark::DoNotOptimize(run(graph, *network));
  }
  state.SetItemsProcessed(state.iterations() * tasks);
}
BENCHMARK(build_and_run_chain)->Arg(3000)->Unit(benchmark::kMicrosecond);

/// The same chain with a collective of 16 flows over shared links after every 100 kernels, which slows the
/// kernels down.
void run_chain_with_collectives(benchmark::State& state) {
  TaskGraph graph = launch_chain(0);
  const DeviceId gpu = graph.add_device("gpu");
  const QueueId nccl = graph.add_queue("nccl");
  std::vector<PatternFlow> ring;
  for (LinkId i = 0; i < 16; ++i) ring.push_back({{i, 16 + i / 4}, 1});
  const PatternId pattern = graph.add_pattern(ring);
  Task launch, kernel, collective;
  launch.queue = 0, launch.duration = microseconds(5);
  kernel.kind = TaskKind::kernel, kernel.queue = 1, kernel.device = gpu, kernel.duration = microseconds(7);
  collective.kind = TaskKind::collective, collective.queue = nccl, collective.device = gpu,
  collective.device_share = 0.1;
  collective.pattern = pattern, collective.traffic = {1 << 20};
  for (int i = 0; i < 1500; ++i) {
    const TaskId done = graph.add(kernel, {{graph.add(launch), microseconds(2)}});
    if (i % 100 == 99) graph.add(collective, {{done, Time::zero()}});
  }
  const std::vector<ByteRate> capacities(20, {12.5e9});
  for (auto _ : state) {
    const auto network = make_max_min_network(capacities);
    benchmark::DoNotOptimize(run(graph, *network));
  }
  state.SetItemsProcessed(state.iterations() * 3000);
}
BENCHMARK(run_chain_with_collectives)->Unit(benchmark::kMicrosecond);

}  // namespace

}  // namespace foretrain
