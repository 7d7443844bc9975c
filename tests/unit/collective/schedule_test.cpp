// Schedules: what the proof accepts, and every way it says no.
#include "sim/collective/schedule.hpp"

#include "sim/collective/algorithms/catalog.hpp"
#include "tests/support/catch.hpp"

using namespace foretrain;

namespace {

/// Two ranks send each other the whole message.
Schedule swap_of_two() { return {CollectiveOp::all_reduce, 2, 1, 0, {{0, 0, 1, 0, Transfer::reduce}, {0, 1, 0, 0, Transfer::reduce}}}; }

std::string complaint(const Schedule& schedule) { return disprove(schedule).value_or("proven"); }

Schedule ring_of(CollectiveOp op, const std::vector<int>& order, int root = 0, int k = 1) {
  for (const Algorithm& row : algorithms()) {
    if (row.op == op) return row.schedule(order, root, k);
  }
  return {};
}

}  // namespace

TEST_CASE("two ranks that add each other's data have all-reduced") { CHECK(complaint(swap_of_two()) == "proven"); }

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
  CHECK(complaint({CollectiveOp::all_reduce, 2, 1, 0, {}}) == "all_reduce: rank 0 ends with the wrong data in chunk 0");
  CHECK(complaint({CollectiveOp::broadcast, 2, 1, 0, {}}) == "broadcast: rank 1 ends with the wrong data in chunk 0");
  CHECK(complaint({CollectiveOp::reduce, 2, 1, 1, {}}) == "reduce: rank 1 ends with the wrong data in chunk 0");
}

TEST_CASE("shapes that cannot be are refused before they are played") {
  CHECK(complaint({CollectiveOp::all_reduce, 0, 1, 0, {}}) == "0 ranks and 1 chunks");
  CHECK(complaint({CollectiveOp::all_reduce, 2, -1, 0, {}}) == "2 ranks and -1 chunks");
  CHECK(complaint({CollectiveOp::broadcast, 2, 1, 2, {}}) == "root 2 is not a rank");
  CHECK(complaint({CollectiveOp::all_gather, 3, 2, 0, {}}) == "2 chunks for 3 ranks");
  for (const Transfer& t :
       {Transfer{0, 0, 2, 0}, Transfer{0, -1, 1, 0}, Transfer{0, 0, 1, 1}, Transfer{-1, 0, 1, 0}, Transfer{0, 1, 1, 0}}) {
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
  for (const Algorithm& row : algorithms()) {
    const Schedule whole = row.schedule(std::vector{0, 1, 2, 3}, 0, 3);
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      Schedule mutant = whole;
      mutant.transfers.erase(mutant.transfers.begin() + static_cast<std::ptrdiff_t>(i));
      INFO(row.name << " without transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  }
}

TEST_CASE("a doubled reduction is found, whichever it is") {
  for (const Algorithm& row : algorithms()) {
    const Schedule whole = row.schedule(std::vector{0, 1, 2, 3}, 0, 3);
    for (const Transfer& transfer : whole.transfers) {
      if (transfer.combine != Transfer::reduce) continue;
      Schedule mutant = whole;
      mutant.transfers.push_back(transfer);
      INFO(row.name << " step " << transfer.step << " chunk " << transfer.chunk);
      CHECK(disprove(mutant).has_value());
    }
  }
}

TEST_CASE("a wrong chunk is found, whichever transfer has it") {
  for (const Algorithm& row : algorithms()) {
    const Schedule whole = row.schedule(std::vector{0, 1, 2, 3}, 0, 3);
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      Schedule mutant = whole;
      mutant.transfers[i].chunk = (mutant.transfers[i].chunk + 1) % mutant.chunks;
      INFO(row.name << " transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  }
}

TEST_CASE("a reduction that only copies is found, whichever it is") {
  for (const Algorithm& row : algorithms()) {
    const Schedule whole = row.schedule(std::vector{0, 1, 2, 3}, 0, 3);
    for (std::size_t i = 0; i < whole.transfers.size(); ++i) {
      if (whole.transfers[i].combine != Transfer::reduce) continue;
      Schedule mutant = whole;
      mutant.transfers[i].combine = Transfer::copy;
      INFO(row.name << " transfer " << i);
      CHECK(disprove(mutant).has_value());
    }
  }
}

TEST_CASE("steps are counted from 0 to the last") {
  CHECK(Schedule{}.steps() == 0);
  CHECK(swap_of_two().steps() == 1);
  CHECK(ring_of(CollectiveOp::all_reduce, {0, 1, 2, 3}).steps() == 6);       // 2 (n - 1)
  CHECK(ring_of(CollectiveOp::broadcast, {0, 1, 2, 3}, 0, 5).steps() == 7);  // n - 1 + k - 1
}

TEST_CASE("operations are named as in nccl-tests") {
  CHECK(name_of(CollectiveOp::all_reduce) == "all_reduce");
  CHECK(name_of(CollectiveOp::broadcast) == "broadcast");
  CHECK(name_of(CollectiveOp::reduce_scatter) == "reduce_scatter");
  CHECK(name_of(CollectiveOp::all_gather) == "all_gather");
  CHECK(name_of(CollectiveOp::reduce) == "reduce");
}
