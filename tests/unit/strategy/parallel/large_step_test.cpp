// Steps of large models on a small cluster: where their time goes, and what is said of their stages.
#include "sim/strategy/parallel/large_step.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_large_step_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

LargeStep step_of(const LargeModelRun& job) { return StepOfJob(job).run(); }

}  // namespace

TEST_CASE("FLOPs of a step are three times those of forward, whatever the degrees") {
  const TransformerShape shape = test::four_layers_shape();
  for (const Degrees& degrees :
       {Degrees{}, {.tensor = 8}, {.tensor = 2, .pipeline = 2, .data = 2}, {.context = 4}}) {
    const LargeModelRun job = job_of(shape, degrees, 4);
    INFO(to_string(degrees));
    // Attention's backward has two and a half times its forward's arithmetic, 1 % of all here.
    const double forward =
        forward_flops_per_token(shape, 4096, true) * static_cast<double>(job.tokens_per_step());
    CHECK(step_of(job).model_flops == Approx(3 * forward).epsilon(0.02));
  }
}

TEST_CASE("stages are told with their layers, ends, passes and memory") {
  const LargeStep step = step_of(job_of(test::four_layers_shape(), {.pipeline = 4, .data = 2}, 8));
  REQUIRE(step.stages.size() == 4);
  for (const StageReport& stage : step.stages) {
    CHECK(stage.layers == 1);
    CHECK(stage.forward_s > 0);
    CHECK(stage.backward_s > stage.forward_s);
    CHECK(stage.memory.total() > 0);
  }
  CHECK(step.stages.front().embedding);
  CHECK(step.stages.back().head);
  CHECK(step.busiest_stage == 3);  // a head of 128,256 words is more than two layers
}

TEST_CASE("the busiest stage computes all the step but for the bubble of the others") {
  const LargeStep step = step_of(job_of(test::four_layers_shape(), {.pipeline = 4}, 32));
  const StageReport& last = step.stages.back();
  CHECK(step.compute_s + step.host_s <= 1.02 * 32 * (last.forward_s + last.backward_s));
  CHECK(step.bubble_s > 0);
  CHECK(step.bubble_s < step.step_s / 4);
}

TEST_CASE("steps are linear in micro-batches beyond those that are simulated") {
  const auto step_s = [](std::int64_t micro_batches) {
    return step_of(job_of(test::four_layers_shape(), {.pipeline = 2, .data = 2}, micro_batches)).step_s;
  };
  const double turn = step_s(12) - step_s(10);
  CHECK(step_s(200) - step_s(198) == Approx(turn).epsilon(1e-6));
  CHECK(step_s(200) == Approx(step_s(12) + 94 * turn).epsilon(1e-6));
}

TEST_CASE("a deep stage takes as long as its layers one by one would") {
  TransformerShape shape = test::four_layers_shape();
  const auto passes = [&](int layers) {
    shape.layers = layers;
    const LargeStep step = step_of(job_of(shape, {.tensor = 2}, 1));
    return step.stages[0].forward_s + step.stages[0].backward_s;
  };
  const double two_layers = passes(6) - passes(4);
  CHECK(passes(32) == Approx(passes(6) + 13 * two_layers).epsilon(1e-6));
}

TEST_CASE("experts' exchanges and those of a sequence are told apart") {
  const TransformerShape mixture = test::with_experts(test::four_layers_shape(), 8, 2, 14336);
  const LargeStep experts = step_of(job_of(mixture, {.expert = 8, .data = 8}, 2));
  CHECK(experts.expert_s > 0);
  CHECK(experts.tensor_s == 0);
  CHECK(experts.context_s == 0);
  LargeModelRun ulysses = job_of(test::four_layers_shape(), {.context = 8}, 2);
  ulysses.context_exchange = ContextExchange::ulysses;
  const LargeStep context = step_of(ulysses);
  CHECK(context.context_s > 0);
  CHECK(context.expert_s == 0);
}

TEST_CASE("exchanges over nodes are told apart from those inside") {
  CHECK(step_of(job_of(test::four_layers_shape(), {.tensor = 8}, 2)).between_s == 0);
  const LargeStep wide = step_of(job_of(test::four_layers_shape(), {.tensor = 16}, 2));
  CHECK(wide.between_s >= wide.tensor_s);
  CHECK(wide.tensor_s > 0);
}

TEST_CASE("graphs of CUDA leave the host nothing to launch") {
  LargeModelRun job = job_of(test::four_layers_shape(), {.tensor = 8}, 4);
  job.sequence = 512;  // so short that the host sets the pace
  const LargeStep launched = step_of(job);
  job.cuda_graphs = true;
  const LargeStep replayed = step_of(job);
  CHECK(replayed.host_s < 0.2 * launched.host_s);
  CHECK(replayed.step_s < launched.step_s);
}

TEST_CASE("recomputation costs about a third more, selective little") {
  LargeModelRun job = job_of(test::four_layers_shape(), {}, 4);
  job.shape.vocabulary = 1024;  // nothing of the head is computed anew
  job.cuda_graphs = true;
  const double none = step_of(job).compute_s;
  job.recompute = Recompute::selective;
  const double selective = step_of(job).compute_s;
  job.recompute = Recompute::full;
  const double full = step_of(job).compute_s;
  CHECK(full / none == Approx(4.0 / 3).epsilon(0.05));
  CHECK(selective > none);
  CHECK(selective < 1.1 * none);
}

TEST_CASE("what was decided is told where it is asked for") {
  StepOfJob site(job_of(test::four_layers_shape(), {.tensor = 2, .pipeline = 2, .data = 2}, 4));
  CHECK(site.run().decisions.list().empty());
  const LargeStep step = site.run(true);
  CHECK_FALSE(step.decisions.list().empty());
  CHECK_FALSE(step.spans.empty());
}

TEST_CASE(
    "only what a job has is told: exchanges of tensor ranks, messages of stages, gradients of replicas") {
  const auto told = [](const Degrees& degrees) {
    return StepOfJob(job_of(test::four_layers_shape(), degrees, 4)).run(true).decisions.list();
  };
  const auto has = [](const std::vector<Decision>& all, std::string_view subject) {
    return std::ranges::find(all, subject, &Decision::subject) != all.end();
  };
  const std::vector<Decision> alone = told({}), stages = told({.pipeline = 2}), tensor = told({.tensor = 2}),
                              data = told({.data = 2});
  CHECK_THAT(alone.front().why, ContainsSubstring("through one stage"));
  CHECK_THAT(stages.front().why, ContainsSubstring("through 2 stages"));
  for (const auto& [subject, with] :
       {std::pair{"tensor exchange", &tensor}, {"message between stages", &stages}, {"gradients", &data}}) {
    for (const std::vector<Decision>* all : {&alone, &stages, &tensor, &data}) {
      CAPTURE(subject);
      CHECK(has(*all, subject) == (all == with));
    }
  }
}

}  // namespace parallel_large_step_test
