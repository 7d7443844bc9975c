// Tests of the network without contention.
#include "sim/engine/network.hpp"
#include "tests/support/catch.hpp"

namespace ideal_network_test {

using namespace foretrain;

namespace {

constexpr Time kMicrosecond{1'000'000};
const std::vector<LinkShare> kWide{{0, 1}}, kBoth{{0, 1}, {1, 1}}, kNowhere{};

}  // namespace

TEST_CASE("flows of the ideal network do not disturb each other") {
  // 1000 B over 1 GB/s: 1 us each, however many there are.
  const auto network = make_ideal_network({{1e9}, {0.5e9}});
  network->start(1, kWide, {1000}, Time::zero());
  network->start(0, kWide, {1000}, Time::zero());
  CHECK(network->next_end() == kMicrosecond);
  std::vector<FlowId> ended;
  network->advance(kMicrosecond, ended);
  CHECK(ended == std::vector<FlowId>{0, 1});
  CHECK(network->next_end() == Time::max());
}

TEST_CASE("a flow of the ideal network runs at the narrowest link of its route") {
  // 1000 B over min(1, 0.5) GB/s = 2 us, from a start at 3 us.
  const auto network = make_ideal_network({{1e9}, {0.5e9}});
  network->start(0, kBoth, {1000}, 3 * kMicrosecond);
  CHECK(network->next_end() == 5 * kMicrosecond);
}

TEST_CASE("the ideal network ends flows in the order of their ends") {
  const auto network = make_ideal_network({{1e9}});
  network->start(0, kWide, {3000}, Time::zero());
  network->start(1, kWide, {1000}, kMicrosecond);
  std::vector<FlowId> ended;
  network->advance(2 * kMicrosecond, ended);
  CHECK(ended == std::vector<FlowId>{1});
  network->advance(3 * kMicrosecond, ended);
  CHECK(ended == std::vector<FlowId>{1, 0});
}

TEST_CASE("an empty route of the ideal network takes no time") {
  const auto network = make_ideal_network({{1e9}});
  network->start(0, kNowhere, {1'000'000}, kMicrosecond);
  CHECK(network->next_end() == kMicrosecond);
}

TEST_CASE("a link without capacity takes the longest time in the ideal network") {
  const auto network = make_ideal_network({{0}});
  network->start(0, kWide, {1}, Time::zero());
  CHECK(network->next_end() == kLongestTime);
}

}  // namespace ideal_network_test
