// Orders of a pipeline's passes: by hand, complete, executable, and within their memory.
#include "sim/strategy/parallel/schedule.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "sim/strategy/parallel/stages.hpp"
#include "tests/support/catch.hpp"

namespace parallel_schedule_test {

using namespace foretrain;

namespace {

using Orders = std::vector<std::vector<StageAction>>;

/// "F0 B0": each pass with its micro-batch, and of further chunks "F0.1".
std::string text_of(const std::vector<StageAction>& order, int stages) {
  std::string text;
  for (const StageAction& action : order) {
    text += (text.empty() ? "" : " ") + std::string(1, "FBW"[static_cast<int>(action.work)]) +
            std::to_string(action.micro_batch);
    if (action.chunk >= stages) text += "." + std::to_string(action.chunk / stages);
  }
  return text;
}

/// Every schedule with the sizes it takes.
std::vector<ScheduleSize> sizes() {
  std::vector<ScheduleSize> all;
  for (const int stages : {1, 2, 3, 4, 8}) {
    for (const int micro_batches : {1, 2, 5, 8, 24}) {
      for (const auto schedule :
           {PipelineSchedule::afab, PipelineSchedule::one_f_one_b, PipelineSchedule::zb_h1})
        all.push_back({schedule, stages, 1, micro_batches});
      all.push_back({PipelineSchedule::zbv, stages, 2, micro_batches});
      for (const int chunks : {2, 5})
        if (stages > 1)
          all.push_back({PipelineSchedule::interleaved, stages, chunks, stages * micro_batches});
    }
  }
  return all;
}

std::string name_of_size(const ScheduleSize& size) {
  return std::string(name_of(size.schedule)) + ", " + std::to_string(size.stages) + " stages of " +
         std::to_string(size.chunks_per_stage) + ", " + std::to_string(size.micro_batches) + " micro-batches";
}

int stage_of(const ScheduleSize& size, int chunk) {
  const bool comes_back = is_v_shaped(size.schedule) && chunk >= size.stages;
  return comes_back ? 2 * size.stages - 1 - chunk : chunk % size.stages;
}

}  // namespace

TEST_CASE("1F1B of two stages and four micro-batches is as drawn by hand") {
  const Orders orders = schedule_of({PipelineSchedule::one_f_one_b, 2, 1, 4});
  REQUIRE(orders.size() == 2);
  CHECK(text_of(orders[0], 2) == "F0 F1 B0 F2 B1 F3 B2 B3");
  CHECK(text_of(orders[1], 2) == "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST_CASE("all forward passes come first, then all backward ones") {
  const Orders looped = schedule_of({PipelineSchedule::afab, 2, 2, 2});  // chunks 1 and 3 on the last stage
  REQUIRE(looped[1].size() == 8);
  CHECK(looped[1][1].chunk == 1);
  CHECK(looped[1][2].chunk == 3);
  CHECK(looped[1][4].chunk == 3);
  CHECK(looped[1][4].work == StageWork::backward);
  CHECK(looped[1][6].chunk == 1);
  const Orders orders = schedule_of({PipelineSchedule::afab, 2, 1, 3});
  for (const auto& order : orders) CHECK(text_of(order, 2) == "F0 F1 F2 B0 B1 B2");
}

// Megatron-LM warms stage r up with 2 (p - r - 1) + (v - 1) p passes: 2 + 2 and 0 + 2.
TEST_CASE("interleaving passes groups of micro-batches through the first chunks, then through the second") {
  const Orders orders = schedule_of({PipelineSchedule::interleaved, 2, 2, 4});
  CHECK(text_of(orders[0], 2) == "F0 F1 F0.1 F1.1 F2 B0.1 F3 B1.1 F2.1 B0 F3.1 B1 B2.1 B3.1 B2 B3");
  CHECK(text_of(orders[1], 2) == "F0 F1 F0.1 B0.1 F1.1 B1.1 F2 B0 F3 B1 F2.1 B2.1 F3.1 B3.1 B2 B3");
}

TEST_CASE("every schedule runs each pass exactly once, on the stage of its chunk") {
  for (const ScheduleSize& size : sizes()) {
    INFO(name_of_size(size));
    std::set<std::tuple<StageWork, int, int>> seen;
    std::size_t all = 0;
    const Orders orders = schedule_of(size);
    REQUIRE(static_cast<int>(orders.size()) == size.stages);
    for (int stage = 0; stage < size.stages; ++stage) {
      for (const StageAction& action : orders[static_cast<std::size_t>(stage)]) {
        ++all, seen.insert({action.work, action.micro_batch, action.chunk});
        CHECK(stage_of(size, action.chunk) == stage);
      }
    }
    const int works = splits_backward(size.schedule) ? 3 : 2;
    CHECK(all == static_cast<std::size_t>(works * size.stages * size.chunks_per_stage * size.micro_batches));
    CHECK(seen.size() == all);
  }
}

TEST_CASE("every schedule can be run: no stage waits for ever") {
  for (const ScheduleSize& size : sizes()) {
    INFO(name_of_size(size));
    const Orders orders = schedule_of(size);
    const auto placed = executable_order(orders, size.stages * size.chunks_per_stage);
    REQUIRE(placed);
    std::size_t all = 0;
    for (const auto& order : orders) all += order.size();
    CHECK(placed->size() == all);
  }
}

TEST_CASE("an executable order keeps each stage's own order") {
  const Orders orders = schedule_of({PipelineSchedule::one_f_one_b, 3, 1, 5});
  const auto placed = executable_order(orders, 3);
  REQUIRE(placed);
  for (int stage = 0; stage < 3; ++stage) {
    std::vector<StageAction> own;
    for (const PlacedAction& action : *placed)
      if (action.stage == stage) own.push_back(action.action);
    CHECK(own == orders[static_cast<std::size_t>(stage)]);
  }
}

TEST_CASE("stages that wait for each other are found out") {
  using enum StageWork;
  // The first stage wants its first gradient before it sends what the second one wants to see before that.
  const Orders crossed{{{forward, 0, 0}, {backward, 0, 0}, {forward, 1, 0}, {backward, 1, 0}},
                       {{forward, 0, 1}, {forward, 1, 1}, {backward, 0, 1}, {backward, 1, 1}}};
  CHECK_FALSE(executable_order(crossed, 2));
  const Orders backward_first{{{backward, 0, 0}, {forward, 0, 0}}};
  CHECK_FALSE(executable_order(backward_first, 1));
  const Orders weights_first{{{forward, 0, 0}, {weight_gradient, 0, 0}, {backward, 0, 0}}};
  CHECK_FALSE(executable_order(weights_first, 1));
  // Interleaving needs whole groups of micro-batches: 3 of 2 stages are none.
  CHECK_FALSE(executable_order(schedule_of({PipelineSchedule::interleaved, 2, 2, 3}), 4));
}

TEST_CASE("1F1B keeps the stages behind it in flight, never more than all forward first does") {
  for (const int stages : {1, 2, 4, 8}) {
    for (const int micro_batches : {1, 3, 8, 20}) {
      const auto in_flight =
          most_in_flight(schedule_of({PipelineSchedule::one_f_one_b, stages, 1, micro_batches}));
      const auto all = most_in_flight(schedule_of({PipelineSchedule::afab, stages, 1, micro_batches}));
      for (int stage = 0; stage < stages; ++stage) {
        const auto i = static_cast<std::size_t>(stage);
        CHECK(in_flight[i] == std::min(micro_batches, stages - stage));
        CHECK(all[i] == micro_batches);
        CHECK(in_flight[i] <= all[i]);
      }
    }
  }
}

// Chunks are a v-th of a stage's layers: 2 (p - 1) + (v - 1) p + 1 chunks are p (1 + (p - 1) / (p v)) stages.
TEST_CASE("interleaving keeps more in flight than 1F1B by as much as Megatron-LM's formula says") {
  for (const int stages : {2, 4, 8}) {
    for (const int chunks : {2, 4}) {
      const auto most =
          most_in_flight(schedule_of({PipelineSchedule::interleaved, stages, chunks, 8 * stages}));
      const double of_stages = static_cast<double>(most.front()) / chunks;
      CHECK(of_stages == Approx(stages * (1 + (stages - 1.0) / (stages * chunks))));
    }
  }
}

TEST_CASE("zero-bubble orders keep to the memory that they are made for") {
  for (const int stages : {2, 4, 8}) {
    // No stage keeps more than 1F1B's first one.
    for (const int kept : most_in_flight(schedule_of({PipelineSchedule::zb_h1, stages, 1, 24})))
      CHECK(kept <= stages);
    // The same in chunks of half a stage each.
    for (const int kept : most_in_flight(schedule_of({PipelineSchedule::zbv, stages, 2, 24})))
      CHECK(kept <= 2 * stages);
  }
}

}  // namespace parallel_schedule_test
