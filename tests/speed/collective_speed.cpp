// How fast the closed form is: sizes per second on one node, the first one with the search for channels, and
// rows of measurements.
#include <benchmark/benchmark.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/analysis/validation/collective_validation.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

CollectiveQuestion question(const std::string& cluster, int gpus, std::int64_t sizes) {
  CollectiveQuestion q;
  q.cluster = open_cluster(cluster);
  q.gpus = gpus;
  for (std::int64_t i = 1; i <= sizes; ++i) q.sizes.push_back({i * 4096});
  return q;
}

/// Arguments: GPUs of dgx-a100, sizes.
void sizes_of_all_reduce(benchmark::State& state) {
  const CollectiveQuestion q = question("dgx-a100", static_cast<int>(state.range(0)), state.range(1));
  for (auto _ : state) benchmark::DoNotOptimize(predict_collective(q));
  state.SetItemsProcessed(state.iterations() * state.range(1));
}
BENCHMARK(sizes_of_all_reduce)
    ->Args({8, 1})
    ->Args({8, 20'000})
    ->Args({1024, 1})
    ->Args({1024, 20'000})
    ->Unit(benchmark::kMillisecond);

/// 30 sizes on each of 32 jobs, as files of published measurements have them.
void rows_of_validation(benchmark::State& state) {
  std::vector<CollectiveMeasurement> rows;
  for (const char* cluster : {"dgx-a100", "dgx1-v100", "perlmutter", "nebius-h100"}) {
    for (int gpus : {1, 2, 3, 4, 8, 16, 64, 128}) {
      for (int size = 3; size < 33; ++size) {
        CollectiveMeasurement m;
        m.series = m.cluster = cluster, m.op = "all_reduce", m.gpus = gpus, m.nodes = (gpus + 3) / 4,
        m.bytes = std::int64_t{1} << size, m.time_us = 100;
        rows.push_back(m);
      }
    }
  }
  for (auto _ : state) {
    const CollectiveValidation validation = validate_collectives(rows, {});
    state.counters["skipped"] = static_cast<double>(validation.skipped.size());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows.size()));
}
BENCHMARK(rows_of_validation)->Unit(benchmark::kMillisecond);

}  // namespace

}  // namespace foretrain
