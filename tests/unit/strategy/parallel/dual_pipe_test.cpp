// DualPipe: the order of dualpipe.py, its published bubble and memory, and a step whose halves come from both
// ends.
#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "sim/strategy/parallel/pipeline_graph.hpp"
#include "sim/strategy/parallel/rank_groups.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_dual_pipe_test {

using namespace foretrain;
using test::StepOfJob;

namespace {

LargeModelRun both_ends(const TransformerShape& shape, const Degrees& degrees, std::int64_t micro_batches) {
  LargeModelRun job = test::job_of(shape, degrees, micro_batches);
  job.schedule = PipelineSchedule::dualpipe;
  return job;
}

/// "F0", "b1" for a backward pass that leaves its weights, "F2&B0" for a pair.
std::string text_of(const std::vector<StageAction>& order) {
  std::string text;
  bool joins = false;
  for (const StageAction& action : order) {
    text += text.empty() ? "" : joins ? "&" : " ";
    const char work = "FBW"[static_cast<int>(action.work)];
    text += (action.leaves_weights ? "b" : std::string(1, work)) + std::to_string(action.micro_batch);
    joins = action.is_paired;
  }
  return text;
}

/// Stages that take as long each: a second of forward, one more for inputs and one for weights backward;
/// a pair saves so much of the sum.
struct MadeUp {
  LargeModelRun job;
  PipelineCosts costs;

  MadeUp(int stages, double saved) : job(both_ends(test::llama3_8b_shape(), {.pipeline = stages}, 8)) {
    for (const StageChunk& chunk : stage_chunks(job)) {
      PricedChunk priced;
      priced.chunk = chunk, priced.time.weight_share = 0.5;
      priced.time.forward.total = 1, priced.time.backward.total = 2;
      priced.paired_forward.total = 1 - saved / 3, priced.paired_backward.total = 2 - 2 * saved / 3;
      costs.chunks.push_back(priced);
    }
    costs.stages.resize(static_cast<std::size_t>(stages));
  }
};

}  // namespace

// By hand from the eight steps of dualpipe.py. Micro-batches 0 and 1 come from stage 0, 2 and 3 from stage 1.
TEST_CASE("DualPipe of two stages and four micro-batches is as its source has it") {
  const auto two = dual_pipe_orders(2, 4);
  CHECK(text_of(two[0]) == "F0 F2 F1 B2 F3&B0 B3 b1 W1");
  CHECK(text_of(two[1]) == "F2 F0 F3 B0 F1&B2 B1 b3 W3");
}

// Four stages, micro-batches 0 to 3 and 4 to 7: stage 0 runs two ahead, sees its first from the other end,
// and fills the end with weights.
TEST_CASE("DualPipe of four stages warms up, alternates and cools down") {
  const auto four = dual_pipe_orders(4, 8);
  CHECK(text_of(four[0]) == "F0 F1 F2 F4 b4 W4 F5 F3&B5 F6&B0 B6 F7&B1 B7 b2 W2 b3 W3");
  CHECK(text_of(four[1]) == "F0 F4 F1 F5 F2 B4 F6&B0 F3&B5 F7&B1 B6 B2 b7 b3 W7 W3");
}

TEST_CASE("DualPipe runs every pass once, never waits for ever, and keeps one more in flight than 1F1B") {
  for (const int stages : {2, 4, 8, 16}) {
    for (const int micro_batches : {2 * stages, 2 * stages + 2, 6 * stages}) {
      INFO(stages << " stages, " << micro_batches << " micro-batches");
      const auto orders = dual_pipe_orders(stages, micro_batches);
      std::set<std::tuple<StageWork, int, int>> seen;
      std::size_t all = 0, left = 0, later = 0;
      for (const auto& order : orders) {
        all += order.size();
        for (const StageAction& a : order) {
          seen.insert({a.work, a.micro_batch, a.chunk});
          left += a.leaves_weights ? 1U : 0U, later += a.work == StageWork::weight_gradient ? 1U : 0U;
        }
      }
      CHECK(seen.size() == all);
      CHECK(left == later);
      CHECK(all == static_cast<std::size_t>(2 * stages * micro_batches) + later);
      const auto placed = executable_order(orders, 2 * stages, 2);
      REQUIRE(placed);
      CHECK(placed->size() == all);
      for (const int kept : most_in_flight(orders))
        CHECK(kept == stages + 1);  // DualPipe's own table: PP + 1
    }
  }
}

// README of deepseek-ai/DualPipe: (PP / 2 - 1) (F&B + B - 3 W), drawn for F = W and B = 2 W. The stages in
// the middle wait just so long; where a pair is shorter than its two passes the outer ones wait less.
TEST_CASE("DualPipe's bubble is the published one") {
  for (const int stages : {2, 4, 8, 16}) {
    for (const double saved : {0.0, 0.3, 0.75}) {
      const double published = (stages / 2 - 1) * ((3 - saved) + 2 - 3 * 1);
      for (const int micro_batches : {2 * stages, 4 * stages + 2}) {
        const MadeUp made(stages, saved);
        const PipelineRun run = run_pipeline(made.costs, made.job, micro_batches);
        INFO(stages << " stages, " << micro_batches << " micro-batches, pairs save " << saved);
        double most = 0;
        for (const StageRun& stage : run.stages) most = std::max(most, run.end_s - stage.busy_s);
        CHECK(most == Approx(published).margin(1e-9));
        CHECK(run.end_s - run.stages[static_cast<std::size_t>(stages / 2)].busy_s ==
              Approx(published).margin(1e-9));
      }
    }
  }
}

// stage 0  F0 F2 F1 B2 B2 [F3   B0 B0] B3 B3 b1 W1      micro-batches 2 and 3 come from stage 1,
// stage 1  F2 F0 F3 B0 B0 [F1   B2 B2] B1 B1 b3 W3      which does the same with the others
TEST_CASE("a step of DualPipe takes the times that are drawn by hand") {
  const MadeUp made(2, 0);
  const PipelineRun run = run_pipeline(made.costs, made.job, 4);
  const auto check = [&](int stage, char work, int micro_batch, double begin_s, double end_s) {
    const auto found = std::ranges::find_if(run.spans, [&](const StageSpan& s) {
      return s.stage == stage && s.work == work && s.micro_batch == micro_batch;
    });
    INFO("stage " << stage << ": " << work << micro_batch);
    REQUIRE(found != run.spans.end());
    CHECK(found->begin_s == Approx(begin_s).margin(1e-9));
    CHECK(found->end_s == Approx(end_s));
  };
  for (const int stage : {0, 1}) {
    const int own = 2 * stage, other = 2 - own;  // the first of those from this end, and from the other
    check(stage, 'F', own, 0, 1), check(stage, 'F', other, 1, 2), check(stage, 'F', own + 1, 2, 3);
    check(stage, 'B', other, 3, 5);
    check(stage, 'F', other + 1, 5, 8), check(stage, 'B', own, 5, 8);  // a pair is shown as long as both
    check(stage, 'B', other + 1, 8, 10), check(stage, 'B', own + 1, 10, 11);
    check(stage, 'W', own + 1, 11, 12);
  }
  CHECK(run.end_s == Approx(12));
}

TEST_CASE("each stage of DualPipe has the layers of two places, and gradients are summed over both holders") {
  const LargeModelRun job = both_ends(test::llama3_8b_shape(), {.tensor = 2, .pipeline = 4, .data = 2}, 8);
  const std::vector<StageChunk> chunks = stage_chunks(job);
  REQUIRE(chunks.size() == 8);
  for (std::size_t k = 0; k < 4; ++k) {
    CHECK(chunks[k].is_like(chunks[k + 4]));
    CHECK(chunks[k].stage == static_cast<int>(k));
    CHECK(chunks[k + 4].stage == 3 - static_cast<int>(k));
  }
  // Rank 0 is on the first of four stages of four ranks; the last has the same layers.
  CHECK(group_ranks(job, RankGroup::gradients, 0) == std::vector<int>{0, 2, 12, 14});
  CHECK(group_ranks(job, RankGroup::gradients, 14) == std::vector<int>{0, 2, 12, 14});
  CHECK(job.shards() == 4);
  LargeModelRun pairs = job;
  pairs.shard_group = 2;
  CHECK(group_ranks(pairs, RankGroup::shards, 12) == std::vector<int>{12, 14});
  CHECK(group_ranks(pairs, RankGroup::replicas, 12) == std::vector<int>{0, 12});
}

TEST_CASE("DualPipe holds parameters twice, and as many FLOPs as any schedule") {
  const TransformerShape shape = test::four_layers_shape();
  const LargeModelRun twice = both_ends(shape, {.pipeline = 2, .data = 2}, 8);
  LargeModelRun once = twice;
  once.schedule = PipelineSchedule::one_f_one_b;
  double weights = 0, of_one = 0;
  for (const StageMemory& stage : stage_memory(twice)) weights += stage.weights;
  for (const StageMemory& stage : stage_memory(once)) of_one += stage.weights;
  CHECK(weights == Approx(2 * of_one));
  const LargeStep step = StepOfJob(twice).run();
  CHECK(step.model_flops == Approx(StepOfJob(once).run().model_flops));
  CHECK(step.compute_s + step.host_s + step.data_s + step.optimizer_s + step.bubble_s ==
        Approx(step.step_s).epsilon(1e-6));
}

TEST_CASE("DualPipe hides the all-to-alls of experts where forward and backward meet") {
  TransformerShape shape = test::with_experts(test::four_layers_shape(), 8, 2, 14336);
  shape.vocabulary = 1024;
  StepOfJob both(both_ends(shape, {.pipeline = 2, .expert = 8, .data = 8}, 32)), plain(both.job);
  plain.job.schedule = PipelineSchedule::one_f_one_b;
  for (StepOfJob* site : {&both, &plain}) site->device.communication_time_scale = 4;
  const LargeStep step = both.run(), usual = plain.run();
  CHECK(step.expert_s < usual.expert_s / 3);  // what is left is at both ends of the step
  CHECK(step.expert_s > 0);
}

TEST_CASE("DualPipe needs an even number of stages, and an even one of micro-batches, two for each of them") {
  const auto fault_of = [](int stages, std::int64_t micro_batches, int chunks = 1) {
    LargeModelRun job = both_ends(test::llama3_8b_shape(), {.pipeline = stages}, micro_batches);
    job.degrees.virtual_stages = chunks;
    const std::vector<JobFault> faults = faults_of(job, stages);
    return faults.empty() ? std::string()
                          : faults[0].key + ": " + faults[0].message + " (" + faults[0].hint + ")";
  };
  CHECK(fault_of(4, 8).empty());
  CHECK(fault_of(1, 1).empty());  // no pipeline
  CHECK(
      fault_of(3, 8) ==
      "schedule: dualpipe folds a pipeline in the middle, and 3 stages have none (an even number of stages)");
  CHECK(fault_of(4, 7) ==
        "schedule: dualpipe deals 7 micro-batches out to both ends of 4 stages (an even number of "
        "micro-batches, "
        "8 at least)");
  CHECK(fault_of(4, 8, 2) ==
        "virtual_stages: schedule dualpipe has one chunk a stage (schedule = \"interleaved\")");
  LargeModelRun asked = both_ends(test::llama3_8b_shape(), {.pipeline = 2, .data = 0}, 1);
  asked.global_batch = 41;
  CHECK(job_on(asked, 8).global_batch == 48);  // four replicas, two micro-batches each at a time
}

}  // namespace parallel_dual_pipe_test
