// Schedules: what the proof accepts, and every way it says no.
#include "sim/collective/schedule.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/collective/algorithms/catalog.hpp"
#include "tests/support/catch.hpp"

namespace schedule_test {

using namespace foretrain;

namespace {

/// Two ranks send each other the whole message.
Schedule swap_of_two() {
  return {
      CollectiveOp::all_reduce, 2, 1, 0, {{0, 0, 1, 0, Transfer::reduce}, {0, 1, 0, 0, Transfer::reduce}}};
}

std::string complaint(const Schedule& schedule) { return disprove(schedule).value_or("proven"); }

Schedule ring_of(CollectiveOp op, const std::vector<int>& order, int root = 0, int k = 1) {
  return expand(lanes_of(*find_algorithm(op, "ring"), {order, root, k}));
}

/// Calls use(row, schedule) for the schedule of every algorithm that can do four ranks in two groups.
template <class Use>
void for_all_algorithms(const Use& use) {
  const std::vector<int> order{0, 1, 2, 3}, groups{2, 2};
  for (const Algorithm& row : algorithms()) {
    AlgorithmRequest request{order, 0, 3, groups};
    if (!row.refuse(request).empty()) request.groups = {};
    REQUIRE(row.refuse(request).empty());
    use(row, expand(lanes_of(row, request)));
  }
}

/// Ranks get parts they have: from a multicast, or from a ring after a scatter.
bool repeats_itself(const Algorithm& row, const Schedule& schedule) {
  return schedule.switches > 0 || row.family == AlgorithmFamily::scatter_all_gather;
}

}  // namespace

TEST_CASE("two ranks that add each other's data have all-reduced") {
  CHECK(complaint(swap_of_two()) == "proven");
}

TEST_CASE("within a step all sends happen before all receives") {
  // Were the second transfer to send what the first one brought, rank 0 would count itself twice.
  const Schedule swap = swap_of_two();
  Schedule one_after_the_other = swap;
  one_after_the_other.transfers[1].step = 1;
  CHECK(complaint(swap) == "proven");
  CHECK(complaint(one_after_the_other) == "all_reduce: rank 0 ends with the wrong data in chunk 0");
}

TEST_CASE("transfers may be listed in any order") {
  Schedule schedule = ring_of(CollectiveOp::all_reduce, {0, 1, 2});
  std::reverse(schedule.transfers.begin(), schedule.transfers.end());
  CHECK(complaint(schedule) == "proven");
}

TEST_CASE("no transfers prove nothing for two ranks and everything for one") {
  CHECK(complaint({CollectiveOp::all_reduce, 1, 1, 0, {}}) == "proven");
  CHECK(complaint({CollectiveOp::all_reduce, 2, 1, 0, {}}) ==
        "all_reduce: rank 0 ends with the wrong data in chunk 0");
  CHECK(complaint({CollectiveOp::broadcast, 2, 1, 0, {}}) ==
        "broadcast: rank 1 ends with the wrong data in chunk 0");
  CHECK(complaint({CollectiveOp::reduce, 2, 1, 1, {}}) ==
        "reduce: rank 1 ends with the wrong data in chunk 0");
}

TEST_CASE("shapes that cannot be are refused before they are played") {
  CHECK(complaint({CollectiveOp::all_reduce, 0, 1, 0, {}}) == "0 ranks and 1 chunks");
  CHECK(complaint({CollectiveOp::all_reduce, 2, -1, 0, {}}) == "2 ranks and -1 chunks");
  CHECK(complaint({CollectiveOp::broadcast, 2, 1, 2, {}}) == "root 2 is not a rank");
  CHECK(complaint({CollectiveOp::all_gather, 3, 2, 0, {}}) == "2 chunks for 3 ranks");
  for (const Transfer& t : {Transfer{0, 0, 2, 0}, Transfer{0, -1, 1, 0}, Transfer{0, 0, 1, 1},
                            Transfer{-1, 0, 1, 0}, Transfer{0, 1, 1, 0}}) {
    CHECK_THAT(complaint({CollectiveOp::all_reduce, 2, 1, 0, {t}}), ContainsSubstring("does not exist"));
  }
}

TEST_CASE("sending what one does not have is told") {
  CHECK(complaint({CollectiveOp::broadcast, 3, 1, 0, {{0, 1, 2, 0, Transfer::copy}}}) ==
        "step 0: rank 1 to rank 2, chunk 0: the sender has nothing there");
}

TEST_CASE("adding to nothing is told") {
  CHECK(complaint({CollectiveOp::broadcast, 2, 1, 0, {{0, 0, 1, 0, Transfer::reduce}}}) ==
        "step 0: rank 0 to rank 1, chunk 0: the receiver has nothing to add to");
}

TEST_CASE("two writes to one place in one step are told, because their order is open") {
  Schedule schedule = swap_of_two();
  schedule.transfers.push_back({0, 0, 1, 0, Transfer::copy});
  CHECK(complaint(schedule) == "step 0: rank 0 to rank 1, chunk 0: written twice");
}

TEST_CASE("a dropped transfer is found, whichever it is") {
  for_all_algorithms([](const Algorithm& row, const Schedule& whole) {
    if (repeats_itself(row, whole)) return;
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      Schedule mutant = whole;
      mutant.transfers.erase(mutant.transfers.begin() + static_cast<std::ptrdiff_t>(i));
      INFO(row.name << " without transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  });
}

TEST_CASE("a doubled reduction is found, whichever it is") {
  for_all_algorithms([](const Algorithm& row, const Schedule& whole) {
    for (const Transfer& transfer : whole.transfers) {
      if (transfer.combine != Transfer::reduce) continue;
      Schedule mutant = whole;
      mutant.transfers.push_back(transfer);
      INFO(row.name << " step " << transfer.step << " chunk " << transfer.chunk);
      CHECK(disprove(mutant).has_value());
    }
  });
}

TEST_CASE("a wrong chunk is found, whichever transfer has it") {
  for_all_algorithms([](const Algorithm& row, const Schedule& whole) {
    if (repeats_itself(row, whole) || whole.chunks == 1) return;
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      Schedule mutant = whole;
      mutant.transfers[i].chunk = (mutant.transfers[i].chunk + 1) % mutant.chunks;
      INFO(row.name << " transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  });
}

TEST_CASE("a reduction that only copies is found, whichever it is") {
  for_all_algorithms([](const Algorithm& row, const Schedule& whole) {
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      if (whole.transfers[i].combine != Transfer::reduce) continue;
      Schedule mutant = whole;
      mutant.transfers[i].combine = Transfer::copy;
      INFO(row.name << " transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  });
}

TEST_CASE("steps are counted from 0 to the last") {
  CHECK(Schedule{}.steps() == 0);
  CHECK(swap_of_two().steps() == 1);
  CHECK(ring_of(CollectiveOp::all_reduce, {0, 1, 2, 3}).steps() == 6);       // 2 (n - 1)
  CHECK(ring_of(CollectiveOp::broadcast, {0, 1, 2, 3}, 0, 5).steps() == 7);  // n - 1 + k - 1
}

TEST_CASE("operations are named as in nccl-tests") {
  const std::vector<std::string_view> names{"all_reduce", "broadcast", "reduce_scatter",
                                            "all_gather", "reduce",    "alltoall",
                                            "sendrecv",   "gather",    "scatter"};
  for (std::size_t i = 0; i < kCollectiveOps.size(); ++i) CHECK(name_of(kCollectiveOps[i]) == names[i]);
}

TEST_CASE("bus bandwidth is counted as in nccl-tests") {
  // PERFORMANCE.md of nccl-tests, 8 ranks.
  CHECK(busbw_factor(CollectiveOp::all_reduce, 8) == 1.75);
  for (const CollectiveOp op : {CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                                CollectiveOp::alltoall, CollectiveOp::gather, CollectiveOp::scatter})
    CHECK(busbw_factor(op, 8) == 0.875);
  for (const CollectiveOp op : {CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::sendrecv})
    CHECK(busbw_factor(op, 8) == 1);
  CHECK(busbw_factor(CollectiveOp::all_reduce, 1) == 0);
}

TEST_CASE("an alltoall of two ranks swaps the chunks for each other") {
  // Chunk d * 2 + p goes from p to p + d: 2 and 3 change hands, 0 and 1 stay.
  const Schedule swap{
      CollectiveOp::alltoall, 2, 4, 0, {{0, 0, 1, 2, Transfer::copy}, {0, 1, 0, 3, Transfer::copy}}};
  CHECK(complaint(swap) == "proven");
  Schedule wrong = swap;
  wrong.transfers[0].chunk = 0;
  CHECK(complaint(wrong) == "alltoall: rank 1 ends with the wrong data in chunk 2");
  CHECK(complaint({CollectiveOp::alltoall, 2, 2, 0, {}}) == "2 chunks for 2 ranks");
}

TEST_CASE("sendrecv goes to the next rank, whatever the places") {
  // Place 0 is rank 2, place 1 rank 0, place 2 rank 1: chunk 0 goes from 2 to 0, chunk 1 from 0 to 1, chunk 2
  // from 1 to 2.
  Schedule shift{CollectiveOp::sendrecv, 3, 3, 0, {{0, 2, 0, 0}, {0, 0, 1, 1}, {0, 1, 2, 2}}};
  CHECK(disprove(shift).has_value());
  shift.order = {2, 0, 1};
  CHECK(complaint(shift) == "proven");
  shift.order = {2, 0, 0};
  CHECK(complaint(shift) == "the order does not name every rank once");
}

TEST_CASE("a gather ends at the root, a scatter starts there") {
  CHECK(complaint({CollectiveOp::gather, 2, 2, 1, {{0, 0, 1, 0, Transfer::copy}}}) == "proven");
  CHECK(complaint({CollectiveOp::gather, 2, 2, 0, {{0, 0, 1, 0, Transfer::copy}}}) ==
        "gather: rank 0 ends with the wrong data in chunk 1");
  CHECK(complaint({CollectiveOp::scatter, 2, 2, 1, {{0, 1, 0, 0, Transfer::copy}}}) == "proven");
  CHECK(complaint({CollectiveOp::scatter, 2, 2, 1, {{0, 0, 1, 1, Transfer::copy}}}) ==
        "step 0: rank 0 to rank 1, chunk 1: the sender has nothing there");
}

TEST_CASE("a switch adds to nothing and has nothing of its own") {
  // Rank 2 is the switch: both ranks add there, both get the sum.
  const std::vector<Transfer> through{
      {0, 0, 2, 0, Transfer::reduce}, {0, 1, 2, 0, Transfer::reduce}, {1, 2, 0, 0}, {1, 2, 1, 0}};
  Schedule schedule{CollectiveOp::all_reduce, 2, 1, 0, through, 1, {}};
  CHECK(complaint(schedule) == "proven");
  schedule.switches = 0;
  CHECK_THAT(complaint(schedule), ContainsSubstring("does not exist"));
}

}  // namespace schedule_test
