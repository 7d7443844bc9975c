// Pipelines of passes with made-up times against times drawn by hand.
#include "sim/strategy/parallel/pipeline_graph.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace parallel_pipeline_graph_test {

using namespace foretrain;

namespace {

/// A pipeline of equal chunks: a second of forward and two of backward for each stage.
struct MadeUp {
  LargeModelRun job;
  PipelineCosts costs;

  explicit MadeUp(PipelineSchedule schedule, int stages, int chunks_per_stage = 1) {
    job = test::job_of(test::llama3_8b_shape(), {.pipeline = stages}, 8);
    job.schedule = schedule;
    if (schedule == PipelineSchedule::interleaved) job.degrees.virtual_stages = chunks_per_stage;
    for (const StageChunk& chunk : stage_chunks(job)) {
      PricedChunk priced;
      priced.chunk = chunk;
      priced.time.forward.total = 1.0 / chunks_per_stage, priced.time.backward.total = 2.0 / chunks_per_stage;
      costs.chunks.push_back(priced);
    }
    costs.stages.resize(static_cast<std::size_t>(stages));
  }
  PipelineRun run(int micro_batches) const { return run_pipeline(costs, job, micro_batches); }
  /// What a step takes beyond the passes of a stage.
  double bubble(int micro_batches) const { return run(micro_batches).end_s - 3.0 * micro_batches; }
};

struct Drawn {
  int stage, micro_batch;
  char work;
  double begin_s, end_s;
};

void check_drawn(const PipelineRun& run, const std::vector<Drawn>& drawn) {
  for (const Drawn& want : drawn) {
    const auto span = std::ranges::find_if(run.spans, [&](const StageSpan& s) {
      return s.stage == want.stage && s.micro_batch == want.micro_batch && s.work == want.work;
    });
    INFO("stage " << want.stage << ": " << want.work << want.micro_batch);
    REQUIRE(span != run.spans.end());
    CHECK(span->begin_s == Approx(want.begin_s));
    CHECK(span->end_s == Approx(want.end_s));
  }
}

}  // namespace

// stage 0  F0 F1 -- -- B0 B0 F2 B1 B1 F3 B2 B2 -- B3 B3
// stage 1     F0 B0 B0 F1 B1 B1 F2 B2 B2 F3 B3 B3
TEST_CASE("1F1B of two stages and four micro-batches takes the times that are drawn by hand") {
  const PipelineRun run = MadeUp(PipelineSchedule::one_f_one_b, 2).run(4);
  check_drawn(run, {{0, 0, 'F', 0, 1},
                    {0, 1, 'F', 1, 2},
                    {1, 0, 'F', 1, 2},
                    {1, 0, 'B', 2, 4},
                    {0, 0, 'B', 4, 6},
                    {1, 1, 'F', 4, 5},
                    {1, 1, 'B', 5, 7},
                    {0, 2, 'F', 6, 7},
                    {1, 2, 'F', 7, 8},
                    {0, 1, 'B', 7, 9},
                    {1, 2, 'B', 8, 10},
                    {0, 3, 'F', 9, 10},
                    {0, 2, 'B', 10, 12},
                    {1, 3, 'F', 10, 11},
                    {1, 3, 'B', 11, 13},
                    {0, 3, 'B', 13, 15}});
  CHECK(run.end_s == Approx(15));  // (4 + 2 - 1) micro-batches of 3
  for (const StageRun& stage : run.stages) CHECK(stage.busy_s == Approx(12));
}

// Half a second between stages: F0 begins at 1.5 on the second, B0 comes back at 5.
TEST_CASE("messages between stages take their time, and passes wait for them") {
  MadeUp made(PipelineSchedule::one_f_one_b, 2);
  made.costs.message_s = 0.5;
  const PipelineRun run = made.run(4);
  check_drawn(run, {{1, 0, 'F', 1.5, 2.5},
                    {1, 0, 'B', 2.5, 4.5},
                    {0, 0, 'B', 5, 7},
                    {1, 1, 'B', 5.5, 7.5},
                    {0, 2, 'F', 7, 8},
                    {0, 1, 'B', 8, 10},
                    {1, 2, 'F', 8.5, 9.5},
                    {1, 2, 'B', 9.5, 11.5},
                    {0, 3, 'F', 10, 11},
                    {0, 2, 'B', 12, 14},
                    {1, 3, 'B', 12.5, 14.5},
                    {0, 3, 'B', 15, 17}});
  CHECK(run.end_s == Approx(17));
}

// Half a second between stages, and both ends wait for it (Megatron-LM: recv_forward, forward_step,
// send_forward_recv_backward, backward_step, send_backward_recv_forward, each behind a synchronize). x: an
// exchange, which both stages leave at once.
// stage 0  F0 x F1 . . . x B0 B0 F2 . . x B1 B1 F3 . . x B2 B2 . . . x B3 B3
// stage 1  . . x F0 B0 B0 x F1 B1 B1 . . x F2 B2 B2 . . x F3 B3 B3 x
TEST_CASE("a message that both stages wait for is waited for once") {
  MadeUp made(PipelineSchedule::one_f_one_b, 2);
  made.costs.message_s = 0.5;
  made.costs.chunks[0].forward_wait_s = made.costs.chunks[1].backward_wait_s = 0.5;
  const PipelineRun run = made.run(4);
  check_drawn(run, {{0, 0, 'F', 0, 1.5},
                    {1, 0, 'F', 1.5, 2.5},
                    {0, 1, 'F', 1.5, 3},
                    {1, 0, 'B', 2.5, 5},
                    {0, 0, 'B', 5, 7},
                    {1, 1, 'F', 5, 6},
                    {1, 1, 'B', 6, 8.5},
                    {0, 2, 'F', 7, 8.5},
                    {1, 2, 'F', 8.5, 9.5},
                    {0, 1, 'B', 8.5, 10.5},
                    {1, 2, 'B', 9.5, 12},
                    {0, 3, 'F', 10.5, 12},
                    {1, 3, 'F', 12, 13},
                    {0, 2, 'B', 12, 14},
                    {1, 3, 'B', 13, 15.5},
                    {0, 3, 'B', 15.5, 17.5}});
  CHECK(run.end_s == Approx(15 + 5 * 0.5));  // five exchanges in a row
}

TEST_CASE("bubbles of AFAB and 1F1B are those of as many micro-batches as there are stages but one") {
  for (const auto schedule : {PipelineSchedule::afab, PipelineSchedule::one_f_one_b})
    for (const int stages : {1, 2, 4, 8})
      for (const int micro_batches : {1, 8, 32})
        CHECK(MadeUp(schedule, stages).bubble(micro_batches) == Approx(3.0 * (stages - 1)).margin(1e-9));
}

// Share of the ideal time: (p - 1) / (v m).
TEST_CASE("interleaving divides the bubble by the number of chunks") {
  for (const int stages : {2, 4, 8}) {
    for (const int chunks : {2, 4}) {
      for (const int micro_batches : {stages, 4 * stages}) {
        const double ideal = 3.0 * micro_batches;
        const double share =
            MadeUp(PipelineSchedule::interleaved, stages, chunks).bubble(micro_batches) / ideal;
        INFO(stages << " stages of " << chunks << ", " << micro_batches << " micro-batches");
        CHECK(share == Approx((stages - 1.0) / (chunks * micro_batches)));
      }
    }
  }
}

// F = B = W = 1: of the bubble (p - 1) (F + B + W) weight gradients can fill all but (p - 1) (F + B - W), a
// third (Qi et al. 2024, ZB-H1).
TEST_CASE("weight gradients fill the bubble of zero-bubble schedules") {
  for (const int stages : {2, 4, 8}) {
    const double usual = MadeUp(PipelineSchedule::one_f_one_b, stages).bubble(32);
    for (const auto schedule : {PipelineSchedule::zb_h1, PipelineSchedule::zbv}) {
      const int chunks = schedule == PipelineSchedule::zbv ? 2 : 1;
      const MadeUp made(schedule, stages, chunks);
      INFO(name_of(schedule) << ", " << stages << " stages");
      CHECK(made.bubble(32) < usual);
      CHECK(made.bubble(32) >= 0);
      for (const StageRun& stage : made.run(32).stages) CHECK(stage.busy_s == Approx(3.0 * 32));
    }
    CHECK(MadeUp(PipelineSchedule::zb_h1, stages).bubble(32) >= usual / 3 - 1e-9);
  }
}

TEST_CASE("a pass is as long as its chunk, with what the stage waits for its own message and its host") {
  MadeUp made(PipelineSchedule::afab, 1);
  made.costs.chunks[0].forward_wait_s = 0.25, made.costs.chunks[0].backward_host_s = 0.5;
  CHECK(made.run(4).end_s == Approx(4 * (3 + 0.25 + 0.5)));
}

TEST_CASE("gradients leave in pieces during the last backward pass, or all behind it") {
  MadeUp made(PipelineSchedule::one_f_one_b, 1);
  made.costs.chunks[0].gradients_s = 1, made.costs.chunks[0].buckets = 4;
  // Pieces of half a second of backward, a quarter of exchange behind each: the last ends at 3 m + 0.25.
  const PipelineRun beside = made.run(2);
  CHECK(beside.end_s == Approx(6.25));
  CHECK(beside.stages[0].data_s == Approx(0.25));
  made.costs.overlaps_gradients = false;
  const PipelineRun behind = made.run(2);
  CHECK(behind.end_s == Approx(7));
  CHECK(behind.stages[0].data_s == Approx(1));
}

TEST_CASE("the optimizer waits for the gradients of all stages, then every stage updates its own") {
  MadeUp made(PipelineSchedule::one_f_one_b, 2);
  made.costs.overlaps_gradients = false;
  made.costs.chunks[1].gradients_s = 10;  // from 13 on, behind the last stage's B3
  made.costs.stages[0].optimizer_s = 0.5, made.costs.stages[1].optimizer_s = 0.25;
  made.costs.stages[1].behind_s = 1;
  const PipelineRun run = made.run(4);
  check_drawn(run, {{1, 3, 'D', 13, 23}, {0, 4, 'O', 23, 23.5}, {1, 4, 'O', 23, 24.25}});
  CHECK(run.end_s == Approx(24.25));
  CHECK(run.stages[0].data_s == 0);
  CHECK(run.stages[1].data_s == Approx(10 + 1));
}

TEST_CASE("an unequal stage sets the pace of all") {
  MadeUp made(PipelineSchedule::one_f_one_b, 4);
  made.costs.chunks[2].time.forward.total = 2, made.costs.chunks[2].time.backward.total = 4;
  const double step = made.run(32).end_s, next = made.run(33).end_s;
  CHECK(next - step == Approx(6));
}

TEST_CASE("a pipeline whose stages would wait for ever says so") {
  const MadeUp made(PipelineSchedule::interleaved, 2, 2);
  CHECK_THROWS_AS(made.run(3), InputError);
}

TEST_CASE("spans of passes are at most kMostSpans, whatever the micro-batches") {
  // 8 stages pass each way; their ends are always there.
  CHECK(MadeUp(PipelineSchedule::one_f_one_b, 8).run(13'000).spans.size() == kMostSpans + 8);
}

}  // namespace parallel_pipeline_graph_test
