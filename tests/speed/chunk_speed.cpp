// How fast the chunk level is: ring all-reduces of 64 MiB, one chunk per step, in step and out of step, alone
// and over a busy core.
#include <benchmark/benchmark.h>

#include "tests/support/chunk_graphs.hpp"

namespace foretrain {

namespace {

constexpr double kSize = 64 << 20;
constexpr ByteRate kNic{25e9};
const Time kLatency = microseconds(1);

void play(benchmark::State& state, const test::Platform& platform, const TransferGraph& graph,
          const ChunkOptions& options) {
  std::uint64_t transfers = 0;
  for (auto _ : state) {
    const ChunkResult result = simulate_chunks(graph, platform.capacities, options);
    if (!result.problem.empty()) state.SkipWithError(result.problem.c_str());
    transfers += result.transfers;
    state.counters["end_us"] = to_seconds(result.end) * 1e6;
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(transfers));
}

/// Arguments: ranks; 100 us of start jitter or not; every message an event or not.
void chunk_ring_on_star(benchmark::State& state) {
  const auto ranks = static_cast<std::uint32_t>(state.range(0));
  const test::Platform platform = test::star(ranks, kNic);
  const TransferGraph graph = ring_all_reduce(platform, test::in_order(ranks), kSize, kLatency);
  const std::vector<Time> start = test::jitter(ranks, state.range(1) * microseconds(100), 1);
  play(state, platform, graph, {.start = start, .run_ahead = state.range(2) == 0});
}
BENCHMARK(chunk_ring_on_star)
    ->ArgNames({"ranks", "jitter", "events"})
    ->ArgsProduct({{1024, 4096}, {0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

/// Arguments: links serve in order (0) or share (1); jitter or not.
void chunk_ring_on_fat_tree(benchmark::State& state) {
  constexpr std::uint32_t kHosts = 256;
  const test::Platform platform = test::fat_tree(kHosts, 4, kNic);
  const TransferGraph graph = ring_all_reduce(platform, test::across_leaves(kHosts), kSize, kLatency);
  const std::vector<Time> start = test::jitter(kHosts, state.range(1) * microseconds(100), 1);
  play(state, platform, graph,
       {.sharing = state.range(0) == 0 ? LinkSharing::serve_in_order : LinkSharing::fair_share,
        .start = start});
}
BENCHMARK(chunk_ring_on_fat_tree)
    ->ArgNames({"share", "jitter"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace

}  // namespace foretrain
