// Tests of the fluid network: when flows end, to the picosecond, with shares that change on the way.
#include <limits>

#include "sim/engine/network.hpp"
#include "tests/support/catch.hpp"

namespace max_min_network_test {

using namespace foretrain;

namespace {

using Ends = std::vector<std::pair<FlowId, Time>>;

constexpr Time kMicrosecond{1'000'000};
const std::vector<LinkShare> kFirst{{0, 1}}, kSecond{{1, 1}}, kBoth{{0, 1}, {1, 1}}, kNowhere{};

/// Runs until no flow is left; each flow with its end, in the order of ending.
Ends drain(Network& network) {
  Ends out;
  std::vector<FlowId> ended;
  for (Time next = network.next_end(); next != Time::max(); next = network.next_end()) {
    ended.clear();
    network.advance(next, ended);
    for (const FlowId flow : ended) out.emplace_back(flow, next);
  }
  return out;
}

}  // namespace

TEST_CASE("a network without flows has no next end") {
  const auto network = make_max_min_network({{1e9}});
  CHECK(network->next_end() == Time::max());
}

TEST_CASE("a flow alone takes its bytes over the bandwidth") {
  // 5000 B / 1e9 B/s = 5 us.
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kFirst, {5000}, Time::zero());
  CHECK(drain(*network) == Ends{{0, 5 * kMicrosecond}});
}

TEST_CASE("a flow's end is rounded up to a picosecond") {
  // 1 B / 3e9 B/s = 333.33… ps.
  const auto network = make_max_min_network({{3e9}});
  network->start(0, kFirst, {1}, Time::zero());
  CHECK(drain(*network) == Ends{{0, Time{334}}});
}

TEST_CASE("two equal flows on one link end together after twice the time") {
  const auto network = make_max_min_network({{1e9}});
  network->start(7, kFirst, {5000}, Time::zero());
  network->start(3, kFirst, {5000}, Time::zero());
  CHECK(drain(*network) == Ends{{3, 10 * kMicrosecond}, {7, 10 * kMicrosecond}});
}

TEST_CASE("a short flow leaves its share to the long one when it ends") {
  // Both at 0.5 GB/s: 1000 B end at 2 us; the other has sent 1000 of 4000 B and needs 3 us for the rest.
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kFirst, {4000}, Time::zero());
  network->start(1, kFirst, {1000}, Time::zero());
  CHECK(drain(*network) == Ends{{1, 2 * kMicrosecond}, {0, 5 * kMicrosecond}});
}

TEST_CASE("a flow that starts later slows the one under way from then on") {
  // Flow 0 alone for 2 us: 2000 of 5000 B. Then halves: 3000 B each need 6 us, so both end at 8 us.
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kFirst, {5000}, Time::zero());
  CHECK(network->next_end() == 5 * kMicrosecond);
  network->start(1, kFirst, {3000}, 2 * kMicrosecond);
  CHECK(drain(*network) == Ends{{0, 8 * kMicrosecond}, {1, 8 * kMicrosecond}});
}

TEST_CASE("three flows that start one after the other") {
  // Link of 1 GB/s = 1000 B/us, 6000 B each, starts at 0, 3 and 6 us.
  // 0-3: flow 0 alone sends 3000 (3000 left). 3-6: halves, 1500 each (0: 1500 left, 1: 4500 left).
  // From 6: thirds. Flow 0 needs 4.5 us, ends at 10.5 us (1: 3000 left, 2: 4500 left).
  // Then halves: flow 1 ends 6 us later at 16.5 us (2: 1500 left), flow 2 alone at 18 us.
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kFirst, {6000}, Time::zero());
  network->start(1, kFirst, {6000}, 3 * kMicrosecond);
  network->start(2, kFirst, {6000}, 6 * kMicrosecond);
  const Ends ends = drain(*network);
  REQUIRE(ends.size() == 3);
  const std::vector<double> microseconds_on_paper{10.5, 16.5, 18};
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(ends[i].first == i);
    // One picosecond of rounding up at each of the ends before.
    CHECK(std::abs(static_cast<double>(ends[i].second.count()) - microseconds_on_paper[i] * 1e6) <= 3);
  }
}

TEST_CASE("a flow held back elsewhere leaves the rest of a link to others") {
  // Link 1 (0.25 GB/s) holds flow 0; flow 1 gets 0.75 GB/s of link 0: 3000 B in 4 us, 1000 B of flow 0 in 4
  // us.
  const auto network = make_max_min_network({{1e9}, {0.25e9}});
  network->start(0, kBoth, {1000}, Time::zero());
  network->start(1, kFirst, {3000}, Time::zero());
  CHECK(drain(*network) == Ends{{0, 4 * kMicrosecond}, {1, 4 * kMicrosecond}});
}

TEST_CASE("advancing to a moment between two ends ends nothing and loses nothing") {
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kFirst, {5000}, Time::zero());
  std::vector<FlowId> ended;
  network->advance(3 * kMicrosecond, ended);
  CHECK(ended.empty());
  CHECK(network->next_end() == 5 * kMicrosecond);
}

TEST_CASE("the ended flows are appended by ascending id") {
  const auto network = make_max_min_network({{1e9}, {1e9}});
  for (const FlowId flow : {9u, 4u, 6u})
    network->start(flow, flow == 4 ? kSecond : kNowhere, {1000}, Time::zero());
  std::vector<FlowId> ended{77};
  network->advance(Time::zero(), ended);
  CHECK(ended == std::vector<FlowId>{77, 6, 9});
}

TEST_CASE("a flow over no link, or of no bytes, ends at once") {
  const auto network = make_max_min_network({{1e9}});
  network->start(0, kNowhere, {1'000'000}, kMicrosecond);
  network->start(1, kFirst, {0}, kMicrosecond);
  CHECK(drain(*network) == Ends{{0, kMicrosecond}, {1, kMicrosecond}});
}

TEST_CASE("a flow over a link without capacity never ends") {
  const auto network = make_max_min_network({{0}});
  network->start(0, kFirst, {1}, Time::zero());
  CHECK(network->next_end() == Time::max());
}

TEST_CASE("a flow that would take longer than the longest time never ends") {
  const auto network = make_max_min_network({{1}});
  network->start(0, kFirst, {std::numeric_limits<std::int64_t>::max()}, Time::zero());
  CHECK(network->next_end() == Time::max());
}

}  // namespace max_min_network_test
