// The background thread's clock: what falls into which cycle.
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "tests/support/catch.hpp"

namespace horovod_cycles_test {

using namespace foretrain;

namespace {

/// One gradient of 1 KiB every `gap` from `gap` on; its kernel ends `behind` later.
std::vector<Arrival> every(Time gap, int count, Time behind = {}) {
  std::vector<Arrival> arrivals;
  for (int i = 0; i < count; ++i)
    arrivals.push_back({{static_cast<std::uint32_t>(i), {1024}, 4}, gap * (i + 1), gap * (i + 1) + behind});
  return arrivals;
}

/// Cycles of 1 ms; agreeing takes 10 us, a launch 20 us.
CycleRules rules() {
  CycleRules rules;
  rules.cycle_time = milliseconds(1);
  rules.threshold = {1 << 20};
  rules.negotiation = [](std::size_t) { return microseconds(10); };
  rules.launch = [](const FusedMessage&) { return microseconds(20); };
  return rules;
}

std::vector<std::size_t> sizes(const std::vector<Cycle>& cycles) {
  std::vector<std::size_t> sizes;
  for (const Cycle& cycle : cycles) {
    std::size_t tensors = 0;
    for (const FusedMessage& message : cycle.messages) tensors += message.parameters.size();
    sizes.push_back(tensors);
  }
  return sizes;
}

using Sizes = std::vector<std::size_t>;

}  // namespace

TEST_CASE("a cycle takes what was enqueued when it begins") {
  // Hooks at 0.4, 0.8, 1.2, 1.6, 2.0, 2.4 ms; cycles at 0.5, 1.5, 2.5 ms.
  const auto cycles = run_cycles(every(milliseconds(0.4), 6), rules(), milliseconds(0.5));
  CHECK(sizes(cycles) == Sizes{1, 2, 3});
  CHECK(cycles[0].start == milliseconds(0.5));
  CHECK(cycles[1].start == milliseconds(1.5));
  CHECK(cycles[2].start == milliseconds(2.5));
  CHECK(cycles[0].negotiation == microseconds(10));
}

TEST_CASE("a gradient that comes as the cycle begins is in it") {
  const auto cycles = run_cycles(every(milliseconds(1), 2), rules(), milliseconds(1));
  CHECK(sizes(cycles) == Sizes{1, 1});
  CHECK(cycles[1].start == milliseconds(2));
}

TEST_CASE("empty cycles keep the beat") {
  // The only gradient comes at 7.3 ms: the cycle that began at 0.1 ms comes round at 8.1 ms.
  const auto cycles = run_cycles(every(milliseconds(7.3), 1), rules(), milliseconds(0.1));
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].start == milliseconds(8.1));
}

TEST_CASE("a cycle that takes longer than the cycle time delays the next") {
  CycleRules slow = rules();
  slow.launch = [](const FusedMessage&) { return milliseconds(3); };
  // At 0.5 ms one gradient; the thread is back at 0.5 + 0.01 + 3 ms and finds the others.
  const auto cycles = run_cycles(every(milliseconds(0.4), 6), slow, milliseconds(0.5));
  CHECK(sizes(cycles) == Sizes{1, 5});
  CHECK(cycles[1].start == milliseconds(3.51));
}

TEST_CASE("a negotiation longer than the cycle time sets the pace, in empty cycles too") {
  CycleRules slow = rules();
  slow.negotiation = [](std::size_t) { return milliseconds(2); };
  const auto cycles = run_cycles(every(milliseconds(4.5), 1), slow, {});
  REQUIRE(cycles.size() == 1);
  CHECK(cycles[0].start == milliseconds(6));
}

TEST_CASE("before 0.23 the thread waits for the gradients it took and then finds more of them") {
  CycleRules waits = rules();
  waits.waits_for_data = true;
  // The first gradient's kernel ends at 0.4 + 1.7 = 2.1 ms, and its launch 20 us later; then 5 hooks have run
  // (the last at 2.0 ms).
  const auto cycles = run_cycles(every(milliseconds(0.4), 6, milliseconds(1.7)), waits, milliseconds(0.5));
  CHECK(sizes(cycles) == Sizes{1, 4, 1});
  CHECK(cycles[1].start == milliseconds(2.12));
}

TEST_CASE("with a cycle time of zero the thread spins: every gradient is found at once") {
  CycleRules spins = rules();
  spins.cycle_time = {};
  const auto cycles = run_cycles(every(milliseconds(0.4), 3), spins, {});
  CHECK(sizes(cycles) == Sizes{1, 1, 1});
  for (std::size_t i = 0; i < 3; ++i) {
    const Time late = cycles[i].start - milliseconds(0.4) * static_cast<std::int64_t>(i + 1);
    CHECK(late >= Time::zero());
    CHECK(late <= microseconds(10));  // one negotiation
  }
}

TEST_CASE("the typical phase makes the last gradient wait half a cycle") {
  const std::vector<Arrival> arrivals = every(milliseconds(0.37), 20);
  const auto cycles = typical_cycles(arrivals, rules());
  const double wait = to_seconds(cycles.back().start - arrivals.back().enqueued);
  CHECK(wait == Approx(0.5e-3).margin(1e-3 / 32));
}

TEST_CASE("the typical phase of a single gradient is half a cycle of whatever length") {
  for (const double cycle_ms : {1.0, 5.0, 20.0}) {
    CycleRules other = rules();
    other.cycle_time = milliseconds(cycle_ms);
    const auto cycles = typical_cycles(every(milliseconds(3), 1), other);
    REQUIRE(cycles.size() == 1);
    CHECK(to_seconds(cycles[0].start) == Approx(3e-3 + cycle_ms * 0.5e-3).margin(cycle_ms * 1e-3 / 32));
  }
}

TEST_CASE("the typical phase is the one of 32 whose last launch is nearest to the mean of all") {
  for (const double gap_ms : {0.05, 0.37, 0.9, 2.3}) {
    const std::vector<Arrival> arrivals = every(milliseconds(gap_ms), 30);
    std::vector<std::vector<Cycle>> phases;
    std::vector<Time> launches;
    Time mean{};
    for (int i = 0; i < 32; ++i) {
      phases.push_back(run_cycles(arrivals, rules(), milliseconds(1) * (2 * i + 1) / 64));
      const Cycle& last = phases.back().back();
      launches.push_back(last.start + last.negotiation +
                         microseconds(20) * static_cast<std::int64_t>(last.messages.size()));
      mean += launches.back() / 32;
    }
    std::size_t nearest = 0;
    for (std::size_t i = 1; i < 32; ++i) {
      if (std::abs((launches[i] - mean).count()) < std::abs((launches[nearest] - mean).count())) nearest = i;
    }
    const auto cycles = typical_cycles(arrivals, rules());
    CHECK(sizes(cycles) == sizes(phases[nearest]));
    CHECK(cycles.back().start == phases[nearest].back().start);
  }
}

TEST_CASE("no gradients, no cycles") { CHECK(typical_cycles({}, rules()).empty()); }

TEST_CASE("the cycles of a hundred thousand gradients are found as fast as they are counted") {
  std::vector<Arrival> arrivals;
  for (std::uint32_t i = 0; i < 100'000; ++i) arrivals.push_back({{i, {4}, 4}, Time{0}, microseconds(i)});
  CycleRules rules;
  rules.cycle_time = microseconds(100), rules.threshold = {64}, rules.waits_for_data = true;
  rules.negotiation = [](std::size_t) { return Time{}; };
  rules.launch = [](const FusedMessage&) { return Time{}; };
  CHECK(run_cycles(arrivals, rules, Time{}).front().messages.size() ==
        100'000 / 4);  // each takes 16 bytes with its padding
}

}  // namespace horovod_cycles_test
