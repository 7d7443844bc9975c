// Which event queue is faster at chunk level: the 4-ary heap it has or a ladder queue, on three streams of
// moments.
#include <benchmark/benchmark.h>

#include "sim/base/random.hpp"
#include "sim/engine/moment_queue.hpp"
#include "tests/speed/ladder_queue.hpp"

namespace foretrain {

namespace {

/// How far ahead the next moment of a connection lies.
enum Stream { in_step, out_of_step, scattered };

/// Every pop is followed by a push of the same index: the hold model, which is what a ring does. Arguments:
/// connections, stream. in_step: all take the same time and began together; out_of_step: the same time, began
/// apart; scattered: any time.
template <class Queue>
void hold(benchmark::State& state) {
  const CounterRandom random(3);
  const auto size = static_cast<std::uint32_t>(state.range(0));
  const auto stream = static_cast<Stream>(state.range(1));
  constexpr std::int64_t kStep = 2'600'000;
  std::vector<Time> steps;
  for (std::uint32_t i = 0; i < 4096; ++i)
    steps.push_back(
        Time{stream == scattered ? 1 + static_cast<std::int64_t>(random.bits(0, i) % (2 * kStep)) : kStep});
  Queue queue;
  for (std::uint32_t i = 0; i < size; ++i)
    queue.push({Time{stream == in_step ? 0 : static_cast<std::int64_t>(random.bits(1, i) % kStep)}, i});
  std::uint32_t turn = 0;
  for (auto _ : state) {
    const Moment moment = queue.pop();
    queue.push({moment.time + steps[++turn % 4096], moment.index});
  }
  state.SetItemsProcessed(state.iterations());
}

void heap(benchmark::State& state) { hold<MomentQueue>(state); }
void ladder(benchmark::State& state) { hold<test::LadderQueue>(state); }
BENCHMARK(heap)
    ->ArgNames({"size", "stream"})
    ->ArgsProduct({{64, 256, 1024, 4096, 65536}, {in_step, out_of_step, scattered}});
BENCHMARK(ladder)
    ->ArgNames({"size", "stream"})
    ->ArgsProduct({{64, 256, 1024, 4096, 65536}, {in_step, out_of_step, scattered}});

}  // namespace

}  // namespace foretrain
