// Steps of several degrees as lines of a table: accounts, memory, and what people compare large models by.
#include "sim/analysis/step/parallel_step.hpp"

#include <algorithm>
#include <numeric>

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_step_test {

using namespace foretrain;
using test::StepOfJob;

namespace {

StepOfJob wide() {
  return StepOfJob(test::job_of(test::four_layers_shape(), {.tensor = 8, .pipeline = 2, .data = 2}, 8));
}

double share(const Breakdown& breakdown, Account account) {
  return breakdown[static_cast<std::size_t>(account)];
}

}  // namespace

TEST_CASE("accounts of a step of several degrees sum to it, and so do its parts") {
  const StepOfJob site = wide();
  const LargeStep step = site.run(true);
  const SimulatedStep out = as_simulated(step, site.spec.node, Reading::parts);
  CHECK(out.step_s == step.step_s);
  CHECK(std::accumulate(out.breakdown.begin(), out.breakdown.end(), 0.0) ==
        Approx(step.step_s).epsilon(1e-6));
  CHECK(share(out.breakdown, Account::other) == step.bubble_s);
  CHECK(share(out.breakdown, Account::compute) == step.compute_s);
  double parts = 0;
  for (const StepPart& part : out.parts) parts += part.seconds;
  CHECK(parts == Approx(step.step_s).epsilon(1e-6));
  CHECK(std::ranges::is_sorted(out.parts, std::greater{}, &StepPart::seconds));
  CHECK(out.decisions == step.decisions);
}

TEST_CASE("what is exposed waits for NVLink inside nodes, for the network between them") {
  const StepOfJob site = wide();
  const LargeStep step = site.run();
  const SimulatedStep out = as_simulated(step, site.spec.node, Reading::accounts);
  const double network = out.waits[static_cast<std::size_t>(LinkKind::network)];
  const double nvlink = out.waits[static_cast<std::size_t>(LinkKind::nvlink)];
  CHECK(network == step.between_s);
  CHECK(nvlink > 0);  // tensor ranks are eight of a node
  CHECK(network + nvlink == Approx(share(out.breakdown, Account::exposed_communication)));
}

TEST_CASE("where only the time is read nothing else is filled") {
  const StepOfJob site = wide();
  const SimulatedStep out = as_simulated(site.run(), site.spec.node, Reading::time);
  CHECK(out.step_s > 0);
  CHECK(out.breakdown == Breakdown{});
  CHECK(out.parts.empty());
}

TEST_CASE("memory of a line is that of the fullest stage") {
  const LargeModelRun job = test::job_of(test::llama3_8b_shape(), {.pipeline = 4}, 16);
  double most = 0;
  for (const StageMemory& stage : stage_memory(job)) most = std::max(most, stage.total());
  const MemoryUse use = memory_of(job);
  // Six parts are cut to whole bytes.
  CHECK(static_cast<double>(use.total().count) == Approx(most).margin(6));
}

TEST_CASE("the largest micro-batch fits, and the next one does not") {
  const LargeModelRun job = test::job_of(test::llama3_8b_shape(), {.tensor = 8}, 64);
  const auto needs = [&](std::int64_t micro_batch) {
    LargeModelRun other = job;
    other.micro_batch = micro_batch;
    return stage_memory(job_on(other, job.gpus()))[0].total();
  };
  const std::int64_t fits = largest_micro_batch(job, job.gpus(), {80LL << 30});
  REQUIRE(fits >= 1);
  CHECK(needs(fits) <= 80.0 * (1LL << 30));
  CHECK(needs(fits + 1) > 80.0 * (1LL << 30));
  CHECK(largest_micro_batch(job, job.gpus(), {1LL << 30}) == 0);
}

TEST_CASE("tokens, FLOPs and their share of the peak follow from the time of a step") {
  const StepOfJob site = wide();
  const LargeStep step = site.run();
  const LargeModelPoint point = large_point(site.job, step, site.spec.node.gpu);
  CHECK(point.layout == "TP 8 x PP 2 x DP 2");
  CHECK(point.micro_batches == 8);
  // 8 micro-batches of 4096 tokens for each of 2 replicas, on 32 GPUs.
  CHECK(point.tokens_per_s_per_gpu == Approx(16 * 4096 / step.step_s / 32));
  const double forward = forward_flops_per_token(site.job.shape, 4096, true);
  CHECK(point.model_tflops == Approx(3 * forward * point.tokens_per_s_per_gpu / 1e12));
  CHECK(point.mfu == Approx(point.model_tflops / 989.4));
  CHECK(point.mfu < 1);
  CHECK(point.bubble == Approx(step.bubble_s / step.step_s));
  CHECK_FALSE(point.largest_memory.empty());
}

TEST_CASE("what tensor ranks over nodes cost is a share of the step, inside a node nothing") {
  const StepOfJob over(test::job_of(test::four_layers_shape(), {.tensor = 16}, 4));
  const LargeStep step = over.run();
  const LargeModelPoint point = large_point(over.job, step, over.spec.node.gpu);
  CHECK(point.tensor_between == Approx(step.tensor_s / step.step_s));
  CHECK(point.tensor_between > 0.1);
  const StepOfJob inside = wide();
  CHECK(large_point(inside.job, inside.run(), inside.spec.node.gpu).tensor_between == 0);
}

TEST_CASE("products in 8 bit are compared with the peak of 8 bit") {
  StepOfJob site(test::job_of(test::four_layers_shape(), {.tensor = 2}, 4));
  site.job.precision = KernelPrecision::fp8;
  const LargeStep step = site.run();
  const LargeModelPoint point = large_point(site.job, step, site.spec.node.gpu);
  CHECK(point.mfu == Approx(point.model_tflops / 1978.9));
}

}  // namespace parallel_step_test
