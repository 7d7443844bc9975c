// Tests of the chunk level's event queue, and of the ladder queue it is measured against: order, ties, and
// random agendas against a multiset.
#include "sim/engine/moment_queue.hpp"

#include <set>

#include "sim/base/random.hpp"
#include "tests/speed/ladder_queue.hpp"
#include "tests/support/catch.hpp"

namespace moment_queue_test {

using namespace foretrain;

namespace {

/// Pushes lie up to `spread` after the last pop, every hundredth a thousand times as far. First the event
/// queue grows, then it shrinks.
template <class Queue>
void check_against_multiset(std::uint64_t spread) {
  const CounterRandom random(spread);
  Queue queue;
  std::multiset<Moment> twin;
  Time now{};
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    if (random.uniform(0, i) < (i < 8000 ? 0.7 : 0.4) || twin.empty()) {
      const std::uint64_t ahead = random.bits(1, i) % spread * (i % 100 == 0 ? 1000 : 1);
      const Moment moment{now + Time{static_cast<std::int64_t>(ahead)},
                          static_cast<std::uint32_t>(random.bits(2, i) % 500)};
      queue.push(moment);
      twin.insert(moment);
    } else {
      REQUIRE(queue.top() == *twin.begin());
      now = queue.pop().time;
      twin.erase(twin.begin());
    }
    REQUIRE(queue.size() == twin.size());
  }
  for (; !twin.empty(); twin.erase(twin.begin())) REQUIRE(queue.pop() == *twin.begin());
  CHECK(queue.empty());
}

}  // namespace

TEMPLATE_TEST_CASE("moments come out by time, those of one time by index", "", MomentQueue,
                   test::LadderQueue) {
  TestType queue;
  for (const std::uint32_t index : {5u, 2u, 9u, 4u}) queue.push({Time{index == 9 ? 1 : 7}, index});
  CHECK(queue.size() == 4);
  CHECK(queue.pop() == Moment{Time{1}, 9});
  CHECK(queue.top() == Moment{Time{7}, 2});
  CHECK(queue.pop().index == 2);
  CHECK(queue.pop().index == 4);
  CHECK(queue.pop().index == 5);
  CHECK(queue.empty());
}

TEMPLATE_TEST_CASE("a random sequence of moments agrees with a multiset, near and far", "", MomentQueue,
                   test::LadderQueue) {
  for (const std::uint64_t spread : {1ull, 30ull, 5000ull, 1'000'000'000'000ull}) {
    CAPTURE(spread);
    check_against_multiset<TestType>(spread);
  }
}

TEMPLATE_TEST_CASE(
    "a moment before the last one taken comes next, and the end of time is a moment like others", "",
    MomentQueue, test::LadderQueue) {
  TestType queue;
  for (std::uint32_t i = 0; i < 1000; ++i) queue.push({Time{1000 + i}, i});
  queue.push({Time{5'000'000'000'000'000'000}, 7});
  for (std::uint32_t i = 0; i < 500; ++i) CHECK(queue.pop().index == i);
  queue.push({Time{3}, 77});
  CHECK(queue.pop().index == 77);
  CHECK(queue.pop().index == 500);
  for (std::uint32_t i = 501; i < 1000; ++i) CHECK(queue.pop().index == i);
  CHECK(queue.pop().index == 7);
}

TEMPLATE_TEST_CASE("moments that all come before the next bucket are sorted all the same", "", MomentQueue,
                   test::LadderQueue) {
  // One far moment makes the buckets wide; what follows comes in between, much of it at once.
  TestType queue;
  const CounterRandom random(9);
  for (std::uint32_t i = 0; i < 60; ++i) queue.push({Time{i == 0 ? 1'000'000'000'000 : 1}, i});
  CHECK(queue.pop().index == 1);
  for (std::uint32_t i = 0; i < 5000; ++i)
    queue.push({Time{static_cast<std::int64_t>(2 + random.bits(0, i) % 100'000)}, 100 + i});
  Moment last{};
  for (std::uint32_t i = 0; i < 5058; ++i) {
    const Moment next = queue.pop();
    REQUIRE(last < next);
    last = next;
  }
  CHECK(queue.pop().index == 0);
}

}  // namespace moment_queue_test
