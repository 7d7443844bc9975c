// The proof of schedules: it accepts what is right and names what is wrong.
#include "sim/collective/algorithms/catalog.hpp"
#include "tests/support/catch.hpp"

using namespace foretrain;

namespace {

/// Two ranks exchange one chunk and add.
Schedule exchange() { return {CollectiveOp::all_reduce, 2, 1, 0, {{0, 0, 1, 0, Transfer::reduce}, {0, 1, 0, 0, Transfer::reduce}}}; }

}  // namespace

TEST_CASE("two ranks that swap and add have reduced") { CHECK(disprove(exchange()) == std::nullopt); }

TEST_CASE("adding twice is found out") {
  Schedule schedule = exchange();
  schedule.transfers.push_back({1, 0, 1, 0, Transfer::reduce});
  CHECK_THAT(disprove(schedule).value(), ContainsSubstring("rank 1 ends with the wrong data in chunk 0"));
}

TEST_CASE("a missing transfer is found out") {
  Schedule schedule = exchange();
  schedule.transfers.pop_back();
  CHECK_THAT(disprove(schedule).value(), ContainsSubstring("rank 0 ends with the wrong data"));
}

TEST_CASE("a rank cannot send in a step what it gets in the same step") {
  Schedule relay{CollectiveOp::broadcast, 3, 1, 0, {{0, 0, 1, 0, Transfer::copy}, {0, 1, 2, 0, Transfer::copy}}};
  CHECK_THAT(disprove(relay).value(), ContainsSubstring("step 0: rank 1 to rank 2, chunk 0: the sender has nothing there"));
  relay.transfers[1].step = 1;
  CHECK(disprove(relay) == std::nullopt);
}

TEST_CASE("two copies to one place in one step are found out") {
  const Schedule schedule{
      CollectiveOp::broadcast,
      3,
      1,
      0,
      {{0, 0, 1, 0, Transfer::copy}, {0, 0, 2, 0, Transfer::copy}, {1, 0, 2, 0, Transfer::copy}, {1, 1, 2, 0, Transfer::copy}}};
  CHECK_THAT(disprove(schedule).value(), ContainsSubstring("written twice"));
}

TEST_CASE("ranks, chunks and steps that do not exist are found out") {
  for (const Transfer wrong :
       {Transfer{0, 0, 2, 0, Transfer::copy}, Transfer{0, -1, 1, 0, Transfer::copy}, Transfer{0, 0, 1, 7, Transfer::copy},
        Transfer{-1, 0, 1, 0, Transfer::copy}, Transfer{0, 1, 1, 0, Transfer::copy}}) {
    Schedule schedule = exchange();
    schedule.transfers.push_back(wrong);
    CHECK_THAT(disprove(schedule).value(), ContainsSubstring("does not exist"));
  }
  CHECK(disprove({CollectiveOp::all_reduce, 0, 1, 0, {}}).has_value());
  CHECK(disprove({CollectiveOp::all_gather, 2, 3, 0, {}}).has_value());
  CHECK(disprove({CollectiveOp::broadcast, 2, 1, 5, {}}).has_value());
}

TEST_CASE("a ring all-reduce of three ranks takes four steps") {
  const int order[] = {0, 2, 1};
  const Schedule schedule = ring_all_reduce(order, 0, 1);
  CHECK(schedule.steps() == 4);
  CHECK(schedule.transfers.size() == 12);  // every rank sends in every step
  CHECK(schedule.transfers.front() == Transfer{0, 0, 2, 1, Transfer::reduce});
}
