// Tests of the event queue: order, ties, and a random sequence against a multimap.
#include "sim/engine/event_queue.hpp"

#include <map>
#include <utility>

#include "sim/base/random.hpp"
#include "tests/support/catch.hpp"

namespace event_queue_test {

using namespace foretrain;

namespace {

Event at(std::int64_t picoseconds, std::uint64_t rank = 0, std::uint32_t payload = 0) {
  return {Time{picoseconds}, rank, payload};
}

std::vector<std::uint32_t> payloads_in_order(EventQueue& queue) {
  std::vector<std::uint32_t> out;
  while (!queue.empty()) out.push_back(queue.pop().payload);
  return out;
}

}  // namespace

TEST_CASE("a new queue is empty, and so is one whose only event was taken") {
  EventQueue queue;
  CHECK(queue.empty());
  queue.push(at(5));
  CHECK(queue.size() == 1);
  CHECK(queue.top().time == Time{5});
  CHECK(queue.pop().time == Time{5});
  CHECK(queue.empty());
}

TEST_CASE("events come out by time, whatever the order they went in") {
  EventQueue queue;
  for (const std::int64_t time : {30, 10, 50, 20, 40})
    queue.push(at(time, 0, static_cast<std::uint32_t>(time)));
  CHECK(payloads_in_order(queue) == std::vector<std::uint32_t>{10, 20, 30, 40, 50});
}

TEST_CASE("events of one moment come out by rank") {
  EventQueue queue;
  queue.push(at(7, 3, 3));
  queue.push(at(7, 1, 1));
  queue.push(at(6, 9, 0));
  queue.push(at(7, 2, 2));
  CHECK(payloads_in_order(queue) == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a time beats any rank") {
  EventQueue queue;
  queue.push(at(2, 0, 2));
  queue.push(at(1, ~0ull, 1));
  CHECK(queue.top().payload == 1);
}

TEST_CASE("reserving room changes nothing that can be seen") {
  EventQueue queue;
  queue.reserve(100);
  CHECK(queue.empty());
  queue.push(at(1, 0, 8));
  CHECK(payloads_in_order(queue) == std::vector<std::uint32_t>{8});
}

TEST_CASE("a random sequence of pushes and pops agrees with a multimap") {
  const CounterRandom random(11);
  EventQueue queue;
  std::multimap<std::pair<Time, std::uint64_t>, std::uint32_t> twin;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    // Few distinct times, so that ties are common; ranks are distinct, so that the order is one.
    const bool take = random.uniform(0, i) < 0.45;
    if (!take || twin.empty()) {
      const Event event{Time{static_cast<std::int64_t>(random.bits(1, i) % 500)},
                        (random.bits(2, i) << 16) + i, i};
      queue.push(event);
      twin.emplace(std::pair(event.time, event.rank), event.payload);
    } else {
      REQUIRE(queue.pop().payload == twin.begin()->second);
      twin.erase(twin.begin());
    }
    REQUIRE(queue.size() == twin.size());
  }
  for (; !twin.empty(); twin.erase(twin.begin())) REQUIRE(queue.pop().payload == twin.begin()->second);
  CHECK(queue.empty());
}

}  // namespace event_queue_test
