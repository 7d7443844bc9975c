// Lanes: which chunks go when, what the proof notices, what they cost.
#include "sim/collective/lanes.hpp"

#include <numeric>
#include <string>
#include <vector>

#include "sim/collective/algorithms/catalog.hpp"
#include "tests/support/catch.hpp"

namespace lanes_test {

using namespace foretrain;

namespace {

std::vector<int> first_ranks(int n) {
  std::vector<int> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Lanes lanes_of(CollectiveOp op, std::string_view family, int n, int pieces = 1,
               const std::vector<int>& groups = {}) {
  const std::vector<int> order = first_ranks(n);
  return foretrain::lanes_of(*find_algorithm(op, family), {order, 0, pieces, groups});
}

std::string complaint(const Lanes& lanes) { return disprove(lanes).value_or("proven"); }

/// Two ranks send each other the whole message, at once.
Lanes swap_of_two() {
  Lanes lanes{.ranks = 2};
  add_lane(lanes, {.from = 0, .to = 1, .first_copy = 1}, {});
  add_lane(lanes, {.from = 1, .to = 0, .first_copy = 1}, {});
  return lanes;
}

/// The lanes without one of their needs.
Lanes without_need(Lanes lanes, std::size_t lane, std::uint32_t need) {
  Lane& changed = lanes.lanes[lane];
  std::vector<LaneNeed> kept;
  for (std::uint32_t i = 0; i < changed.needs; ++i) {
    if (i != need) kept.push_back(lanes.needs[changed.first_need + i]);
  }
  changed.first_need = static_cast<std::uint32_t>(lanes.needs.size());
  changed.needs = static_cast<std::uint32_t>(kept.size());
  lanes.needs.insert(lanes.needs.end(), kept.begin(), kept.end());
  return lanes;
}

}  // namespace

TEST_CASE("a ring of any length has one lane per rank, however many messages") {
  const Lanes ring = lanes_of(CollectiveOp::all_reduce, "ring", 1000, 16);
  CHECK(ring.lanes.size() == 1000);
  CHECK(ring.needs.size() == 1000);
  CHECK(ring.lanes[0].messages == 2 * 999 * 16);
  CHECK(sizeof(Lane) <= 64);
}

TEST_CASE("a message carries consecutive chunks, counted modulo the wrap") {
  const Lanes lanes{.ranks = 2, .chunks = 10};
  const Lane lane{.messages = 3, .first = 3, .stride = -2, .width = 2, .base = 4, .wrap = 4};
  // 4 + (3, 0), then 4 + (1, 2), then 4 + (-1 = 3, 0).
  const std::vector<int> want{7, 4, 5, 6, 7, 4};
  for (int k = 0; k < 6; ++k) CHECK(lanes.chunk(lane, k / 2, k % 2) == want[static_cast<std::size_t>(k)]);
}

TEST_CASE("a message by digit carries the rows that have the bit") {
  // Four ranks, sender 3, digit 1: rows 2 and 3; row 2 = 10b has come 0 places, row 3 = 11b one place.
  const Lanes lanes{.op = CollectiveOp::alltoall, .ranks = 4, .chunks = 16};
  const Lane lane{.first = 3, .width = 2, .digit = 1};
  CHECK(lanes.chunk(lane, 0, 0) == 2 * 4 + 3);
  CHECK(lanes.chunk(lane, 0, 1) == 3 * 4 + 2);
}

TEST_CASE("a need before the first message is none, one beyond the last is the last") {
  Lanes lanes{.ranks = 2};
  add_lane(lanes, {.from = 0, .to = 1, .messages = 3}, {});
  CHECK(lanes.awaited({0, 2}, 1) == -1);
  CHECK(lanes.awaited({0, 2}, 2) == 0);
  CHECK(lanes.awaited({0, -1}, 0) == 1);
  CHECK(lanes.awaited({0, -1}, 9) == 2);
  CHECK(last_of(lanes, 0) == LaneNeed{0, -2});
}

TEST_CASE("what arrives early stays in a buffer until somebody waits for it") {
  // Neither message waits for the other: each carries its sender's own data only, in whatever order they
  // come.
  CHECK(complaint(swap_of_two()) == "proven");
  Lanes echo = swap_of_two();
  echo = without_need(echo, 1, 0);
  echo.lanes[1].first_need = static_cast<std::uint32_t>(echo.needs.size());
  echo.lanes[1].needs = 1;
  echo.needs.push_back({0, 0});
  // Now rank 1 sends back what it got from rank 0, which then counts twice.
  CHECK(complaint(echo) == "all_reduce: rank 0 ends with the wrong data in chunk 0");
}

TEST_CASE("messages that wait for each other are told") {
  Lanes lanes = swap_of_two();
  lanes.needs = {{1, 0}, {0, 0}};
  lanes.lanes[0].first_need = 0;
  lanes.lanes[0].needs = 1;
  lanes.lanes[1].first_need = 1;
  lanes.lanes[1].needs = 1;
  CHECK(complaint(lanes) == "some messages wait for themselves");
}

TEST_CASE("two messages into one chunk in no order are told when one overwrites") {
  // Rank 2 gets the sum from both others.
  Lanes lanes{.op = CollectiveOp::all_gather, .ranks = 3, .chunks = 3};
  for (const int from : {0, 1}) {
    add_lane(lanes, {.from = from, .to = 1 - from, .first = from, .wrap = 3}, {});
    add_lane(lanes, {.from = from, .to = 2, .first = from, .wrap = 3}, {});
    add_lane(lanes, {.from = 2, .to = from, .first = 2, .wrap = 3}, {});
  }
  CHECK(complaint(lanes) == "proven");
  add_lane(lanes, {.from = 1, .to = 2, .first = 0, .wrap = 3}, {{0, 0}});
  CHECK(complaint(lanes) == "message 0 of rank 1 to rank 2, chunk 0: written twice, in no order");
}

TEST_CASE("sending nothing and adding to nothing are told") {
  Lanes lanes{.op = CollectiveOp::broadcast, .ranks = 2};
  add_lane(lanes, {.from = 1, .to = 0}, {});
  CHECK(complaint(lanes) == "message 0 of rank 1 to rank 0, chunk 0: the sender has nothing there");
  lanes.lanes[0] = {.from = 0, .to = 1, .first_copy = 1};
  CHECK(complaint(lanes) == "message 0 of rank 0 to rank 1, chunk 0: the receiver has nothing to add to");
}

TEST_CASE("lanes that cannot be are refused") {
  Lanes lanes = swap_of_two();
  lanes.lanes[1].to = 2;
  CHECK(complaint(lanes) == "lane 1 from rank 1 to rank 2 does not exist");
  lanes = swap_of_two();
  lanes.lanes[0].base = 1;
  CHECK(complaint(lanes) == "lane 0 from rank 0 to rank 1 does not exist");
  lanes = swap_of_two();
  lanes.lanes[1].needs = 1;
  lanes.needs = {{7, 0}};
  CHECK(complaint(lanes) == "lane 1 waits for a lane that does not exist");
  lanes = swap_of_two();
  lanes.root = 2;
  CHECK(complaint(lanes) == "root 2 is not a rank");
}

TEST_CASE("every need of a ring and of trees is needed") {
  const std::vector<std::pair<CollectiveOp, std::string_view>> rows{
      {CollectiveOp::all_reduce, "ring"},
      {CollectiveOp::reduce_scatter, "ring"},
      {CollectiveOp::all_gather, "ring"},
      {CollectiveOp::broadcast, "ring"},
      {CollectiveOp::reduce, "ring"},
      {CollectiveOp::all_reduce, "double_binary_tree"},
      {CollectiveOp::reduce, "binomial"},
      {CollectiveOp::broadcast, "binomial"},
      {CollectiveOp::all_reduce, "reduce_to_one"},
      {CollectiveOp::all_reduce, "nvls"},
      {CollectiveOp::reduce_scatter, "nvls"},
      {CollectiveOp::all_gather, "nvls"},
      {CollectiveOp::reduce, "double_binary_tree"}};
  for (const auto& [op, family] : rows) {
    const Lanes whole = lanes_of(op, family, 5, 2);
    REQUIRE(complaint(whole) == "proven");
    for (std::size_t lane = 0; lane < whole.lanes.size(); ++lane) {
      for (std::uint32_t need = 0; need < whole.lanes[lane].needs; ++need) {
        INFO(name_of(op) << " " << family << " lane " << lane << " need " << need);
        CHECK(complaint(without_need(whole, lane, need)) != "proven");
      }
    }
  }
}

TEST_CASE("a lane that waits for nothing is found in every algorithm whose data moves on") {
  const std::vector<int> order = first_ranks(8), groups{4, 4};
  for (const Algorithm& row : algorithms()) {
    if (row.op == CollectiveOp::alltoall && row.family == AlgorithmFamily::pairwise)
      continue;  // waits for the round, not for data
    AlgorithmRequest request{order, 0, 2, groups};
    if (!row.refuse(request).empty()) request.groups = {};
    const Lanes whole = foretrain::lanes_of(row, request);
    for (std::size_t lane = 0; lane < whole.lanes.size(); ++lane) {
      if (whole.lanes[lane].needs == 0) continue;
      Lanes mutant = whole;
      mutant.lanes[lane].needs = 0;
      INFO(row.name << " lane " << lane);
      CHECK(complaint(mutant) != "proven");
    }
  }
}

TEST_CASE("a need that comes one message too early is found in a ring") {
  Lanes lanes = lanes_of(CollectiveOp::all_reduce, "ring", 4, 2);
  for (LaneNeed& need : lanes.needs) {
    const LaneNeed before = need;
    need.lag += 1;
    CHECK(complaint(lanes) != "proven");
    need = before;
  }
  CHECK(complaint(lanes) == "proven");
}

TEST_CASE("a pipelined chain of four ranks and three pieces has three hops and five steps") {
  const LaneCosts costs = count_costs(lanes_of(CollectiveOp::broadcast, "ring", 4, 3));
  CHECK(costs.hops == 3);       // root to the last rank
  CHECK(costs.steps == 3 + 2);  // and two more pieces behind the first
  CHECK(costs.total == Approx(3));
  CHECK(costs.sent == Approx(1));
}

TEST_CASE("the flows of a collective are the bytes of each pair of ranks, all lanes together") {
  // Two nodes in a double binary tree: half up and half down in each tree, so everything each way.
  CHECK(pair_shares(lanes_of(CollectiveOp::all_reduce, "double_binary_tree", 2, 4)) ==
        std::vector<PairShare>{{0, 1, 1}, {1, 0, 1}});
  const std::vector<PairShare> ring = pair_shares(lanes_of(CollectiveOp::all_gather, "ring", 4));
  CHECK(ring == std::vector<PairShare>{{0, 1, 0.75}, {1, 2, 0.75}, {2, 3, 0.75}, {3, 0, 0.75}});
  CHECK(pair_shares(lanes_of(CollectiveOp::all_gather, "ring", 1)).empty());
}

TEST_CASE("sizes of alltoall and sendrecv are one rank's, all others one buffer or all parts") {
  CHECK(lanes_of(CollectiveOp::alltoall, "direct", 4).chunk_share() == 0.25);
  CHECK(lanes_of(CollectiveOp::sendrecv, "shift", 4, 2).chunk_share() == 0.5);
  CHECK(lanes_of(CollectiveOp::all_gather, "ring", 4, 2).chunk_share() == 0.125);
  CHECK(lanes_of(CollectiveOp::broadcast, "ring", 4, 2).chunk_share() == 0.5);
}

TEST_CASE("a written-out schedule holds messages back that would disturb one that leaves") {
  // Rank 0 folds into rank 1, which exchanges with rank 2 and unfolds: rank 2 could send at once, but its
  // data would be in what rank 1 sends to it one step later.
  const Schedule schedule = expand(lanes_of(CollectiveOp::all_reduce, "recursive_doubling", 3));
  const std::vector<Transfer> want{{0, 0, 1, 0, Transfer::reduce},
                                   {1, 1, 2, 0, Transfer::reduce},
                                   {1, 2, 1, 0, Transfer::reduce},
                                   {2, 1, 0, 0, Transfer::copy}};
  CHECK(schedule.transfers == want);
}

}  // namespace lanes_test
