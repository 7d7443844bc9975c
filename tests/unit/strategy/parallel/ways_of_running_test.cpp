// Further tokens, layers that stay in 16 bit and activations in the host's memory, in passes, stages and
// memory.
#include "sim/strategy/parallel/stage_memory.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_ways_of_running_test {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

StepOfJob four_layers(const Degrees& degrees = {}) {
  return StepOfJob(job_of(test::four_layers_shape(), degrees, 4));
}

double parameters_held(const LargeModelRun& job) {
  double sum = 0;
  for (const StageChunk& chunk : stage_chunks(job)) sum += stage_parameters(job, chunk).all();
  return sum * job.degrees.tensor;
}

}  // namespace

TEST_CASE("a further token costs a layer, what joins it, and the head's FLOPs once more") {
  for (const Degrees& degrees : {Degrees{}, {.tensor = 2}, {.pipeline = 2}}) {
    StepOfJob one = four_layers(degrees), two = one;
    two.job.next_tokens = 1;
    const ParameterCount counts = parameters_of(one.job.shape);
    const auto h = static_cast<double>(one.job.shape.hidden);
    const auto layer = static_cast<double>(counts.attention + counts.dense);
    CHECK(parameters_held(two.job) - parameters_held(one.job) == Approx(layer + 2 * h * h));
    const LargeStep before = one.run(), after = two.run();
    StepOfJob five = one;
    five.job.shape.layers = 5;
    const double of_layer = degrees.pipeline == 1 ? five.run().model_flops - before.model_flops : 0;
    const double tokens = static_cast<double>(one.job.tokens_per_step());
    const double of_ends = 6 * tokens * (2 * h * h + static_cast<double>(one.job.shape.vocabulary) * h);
    if (degrees.pipeline == 1)
      CHECK(after.model_flops - before.model_flops == Approx(of_layer + of_ends).epsilon(1e-3));
    CHECK(after.step_s > before.step_s);
    CHECK(stage_memory(two.job).back().total() > stage_memory(one.job).back().total());
  }
}

TEST_CASE("of a network in 4 bit the last four layers stay in 16, by stage") {
  StepOfJob site = four_layers();
  site.job.shape.layers = 12, site.job.precision = KernelPrecision::fp4;
  site.job.degrees.pipeline = 3;
  const auto wide = [&] {
    std::vector<int> counts;
    for (const StageChunk& chunk : stage_chunks(site.job)) counts.push_back(chunk.wide_layers);
    return counts;
  };
  CHECK(wide() == std::vector{0, 0, 4});
  site.job.wide_layers = 6;
  CHECK(wide() == std::vector{0, 2, 4});
  site.job.precision = KernelPrecision::fp8;
  CHECK(wide() == std::vector{0, 0, 0});
}

TEST_CASE("wide layers take longer than narrow ones, and all of them as long as 16 bit and no shorter") {
  StepOfJob site = four_layers();
  site.spec.node.gpu.architecture = Architecture::blackwell;
  site.spec.node.gpu.compute_capability = 10.0;
  const auto step = [&](KernelPrecision precision, int layers) {
    site.job.precision = precision, site.job.wide_layers = layers;
    return site.run().step_s;
  };
  const double none = step(KernelPrecision::fp4, 0), half = step(KernelPrecision::fp4, 2),
               all = step(KernelPrecision::fp4, 4);
  CHECK(none < half);
  CHECK(half < all);
  CHECK(all == Approx(step(KernelPrecision::bf16, 0)));
  CHECK(half == Approx((none + all) / 2).epsilon(0.02));
}

TEST_CASE("copies of activations are hidden on a fast link and bound a pass on a slow one") {
  StepOfJob site = four_layers();
  site.job.shape.layers = 6;
  const double usual = site.run().step_s;
  site.job.offload = Offload::activations;
  const auto with_rate = [&](double rate) {
    StepOfJob other = site;
    for (NodeLink& link : other.spec.node.links)
      if (link.type.kind == LinkKind::pcie) link.type.bandwidth = {rate};
    return other.run().step_s;
  };
  CHECK(with_rate(1e16) == Approx(usual).epsilon(1e-3));
  const double slow = with_rate(1e9), slower = with_rate(0.5e9);
  CHECK(slow > 2 * usual);
  // What waits for copies alone grows with them.
  CHECK(slower / slow > 1.7);
  CHECK(slower / slow < 2.05);
  CHECK(stage_memory(site.job).front().activations < stage_memory(four_layers().job).front().activations);
}

TEST_CASE("all-to-alls behind another micro-batch's kernels are exposed as far as they are longer") {
  ChunkTime time;
  time.forward = {.total = 5, .compute = 2, .expert = 3},
  time.backward = {.total = 7, .compute = 4, .expert = 3};
  ChunkTime same = time;
  hide_expert_exchanges(same, 0);
  CHECK(same.forward.expert + same.backward.expert == Approx(0));
  CHECK(same.forward.total + same.backward.total == Approx(6));
  ChunkTime longer = time;
  longer.forward.expert = 9, longer.forward.total = 11;
  hide_expert_exchanges(longer, 0.1);
  // Six of twelve behind six of kernels, which last a tenth of that longer.
  CHECK(longer.forward.expert + longer.backward.expert == Approx(6));
  CHECK(longer.forward.compute + longer.backward.compute == Approx(6.6));
  CHECK(longer.forward.total + longer.backward.total == Approx(12.6));
  ChunkTime none;
  none.forward = none.backward = {.total = 2, .compute = 2};
  hide_expert_exchanges(none, 0.5);
  CHECK(none.forward.total == 2);
}

TEST_CASE("a pipeline's skew is the framework's unless it is told") {
  StepOfJob site = four_layers({.tensor = 2, .pipeline = 2});
  const double none = site.run().step_s;
  site.job.pipeline_skew = microseconds(100);
  const double some = site.run().step_s;
  site.job.pipeline_skew = microseconds(200);
  CHECK(some > none);
  CHECK(site.run().step_s - some == Approx(some - none).epsilon(0.35));
  site.job.pipeline_skew.reset();
  CHECK(site.job.skew() == Time{});
  site.job.framework = LlmFramework::nanotron;
  CHECK(site.job.skew() == microseconds(205));
}

}  // namespace parallel_ways_of_running_test
