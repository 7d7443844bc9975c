// What folding costs and saves: rings over many nodes of eight GPUs, in order and with every hop across an
// oversubscribed core.
#include <benchmark/benchmark.h>

#include "sim/engine/executor.hpp"
#include "tests/support/chunk_graphs.hpp"

namespace foretrain {

namespace {

constexpr ByteRate kNic{25e9};

/// Leaves of 16 hosts, oversubscribed 4:1. Every flow over all its links; neighbours in order or on other
/// leaves.
struct Scene {
  TaskGraph graph;
  test::Platform platform;
};

Scene ring(std::uint32_t hosts, bool across) {
  Scene scene{{}, test::fat_tree(hosts, 4, kNic)};
  const std::vector<std::uint32_t> order = across ? test::across_leaves(hosts) : test::in_order(hosts);
  std::vector<PatternFlow> flows;
  for (std::uint32_t i = 0; i < hosts; ++i)
    flows.push_back({test::route(scene.platform, order[i], order[(i + 1) % hosts]), 1});
  Task task;
  task.kind = TaskKind::collective;
  task.queue = scene.graph.add_queue("nccl");
  task.pattern = scene.graph.add_pattern(std::move(flows));
  task.traffic = {1 << 28};
  for (int i = 0; i < 20; ++i) scene.graph.add(task);
  return scene;
}

/// Arguments: hosts; neighbours on other leaves or not.
void fold(benchmark::State& state) {
  const Scene scene = ring(static_cast<std::uint32_t>(state.range(0)), state.range(1) == 1);
  for (auto _ : state) {
    const FoldedPatterns patterns(scene.graph, scene.platform.capacities, Folding::on);
    state.counters["classes"] = static_cast<double>(patterns.flow_count());
  }
}
BENCHMARK(fold)
    ->ArgNames({"hosts", "across"})
    ->ArgsProduct({{64, 4096, 131072}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

void run_twenty(benchmark::State& state, Folding folding) {
  const Scene scene = ring(static_cast<std::uint32_t>(state.range(0)), state.range(1) == 1);
  for (auto _ : state) {
    const auto network = make_max_min_network(scene.platform.capacities);
    state.counters["end_s"] = to_seconds(run(scene.graph, *network, folding).end_of(19));
  }
}
void run_folded(benchmark::State& state) { run_twenty(state, Folding::on); }
void run_full(benchmark::State& state) { run_twenty(state, Folding::off); }
BENCHMARK(run_folded)
    ->ArgNames({"hosts", "across"})
    ->ArgsProduct({{64, 4096, 131072}, {0, 1}})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(run_full)
    ->ArgNames({"hosts", "across"})
    ->ArgsProduct({{64, 4096, 131072}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace foretrain
