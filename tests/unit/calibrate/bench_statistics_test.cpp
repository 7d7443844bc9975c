// Tests of medians, spreads, and when repeating a point ends.
#include "calibrate/micro/plan/repeat.hpp"
#include "tests/support/catch.hpp"

namespace bench_statistics_test {

using namespace foretrain::micro;

TEST_CASE("the median of an even number of values is the mean of the middle two") {
  CHECK(median_of({3, 1, 2}) == 2);
  CHECK(median_of({4, 1, 3, 2}) == 2.5);
  CHECK(median_of({}) == 0);
}

TEST_CASE("a hiccup moves neither median nor spread") {
  // Deviations from 10 are 1, 0, 0.5, 0.5, 90: their median is 0.5.
  const Summary summary = summarize({9, 10, 10.5, 9.5, 100});
  CHECK(summary.median == 10);
  CHECK(summary.spread == Approx(1.4826 * 0.5 / 10));
  CHECK(summary.repeats == 5);
}

TEST_CASE("one value, equal values and negative shares have a spread without surprises") {
  CHECK(summarize({2}) == Summary{2, 0, 1});
  CHECK(summarize({2, 2, 2}) == Summary{2, 0, 3});
  CHECK(summarize({-1, -2, -3}).spread == Approx(1.4826 * 1 / 2));
  CHECK(summarize({0, 0}) == Summary{0, 0, 2});
}

namespace {

/// A machine whose clock only passes by what is measured.
struct FakeMachine {
  std::vector<double> durations;
  std::size_t calls = 0;
  double now = 0;
  double once() {
    const double seconds = durations[std::min(calls, durations.size() - 1)];
    ++calls;
    now += seconds;
    return seconds;
  }
  Summary repeat_with(const RepeatRule& rule) {
    return repeat([this] { return once(); }, rule, [this] { return now; });
  }
};

}  // namespace

TEST_CASE("warm-up lasts while calls get faster, and does not count") {
  FakeMachine machine{{0.1, 0.05, 0.02, 0.01, 0.01}};
  const Summary summary = machine.repeat_with({.seconds = 10, .fewest = 5, .most = 50});
  CHECK(summary == Summary{0.01, 0, 5});
  CHECK(machine.calls == 5 + 5);
}

TEST_CASE("equal repeats end at the fewest, scattered ones at the time or the most") {
  FakeMachine scattered{{0.01}};
  for (int i = 0; i < 1000; ++i) scattered.durations.push_back(i % 2 == 0 ? 0.01 : 0.03);
  CHECK(scattered.repeat_with({.seconds = 0.5, .fewest = 5, .most = 200}).repeats < 30);
  FakeMachine patient = scattered;
  patient.calls = 0;
  CHECK(patient.repeat_with({.seconds = 1e6, .fewest = 5, .most = 40, .enough = 0}).repeats == 40);
}

TEST_CASE("a point that takes longer than its time is still measured the fewest times") {
  FakeMachine slow{{5}};
  CHECK(slow.repeat_with({.seconds = 1, .fewest = 3, .most = 10, .enough = 0}) == Summary{5, 0, 3});
}

}  // namespace bench_statistics_test
