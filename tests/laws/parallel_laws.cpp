// What holds for every layout of a large model: links that cost nothing, ranks that are alike, parts that
// sum.
#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/catch.hpp"
#include "tests/unit/strategy/parallel/step_of_job.hpp"

namespace parallel_laws {

using namespace foretrain;
using test::job_of;
using test::StepOfJob;

namespace {

TransformerShape dense() { return test::four_layers_shape(); }
TransformerShape mixture() { return test::with_experts(dense(), 8, 2, 14336); }

std::string name_of_job(const LargeModelRun& job) {
  return to_string(job.degrees) + ", " + std::string(job.kernels().name) + ", " +
         std::string(name_of(job.schedule)) + ", shard " + std::string(name_of(job.sharding)) +
         (job.shape.experts ? ", experts" : "");
}

LargeModelRun with(LargeModelRun job, PipelineSchedule schedule) {
  job.schedule = schedule;
  return job;
}
LargeModelRun with(LargeModelRun job, ModelSharding sharding, int group = 0) {
  job.sharding = sharding, job.shard_group = group;
  return job;
}
LargeModelRun with(LargeModelRun job, ContextExchange exchange) {
  job.context_exchange = exchange;
  return job;
}
LargeModelRun with(LargeModelRun job, LlmFramework framework) {
  job.framework = framework;
  return job;
}

/// One degree above 1 each, on one node and on two.
std::vector<LargeModelRun> of_one_degree() {
  return {job_of(dense(), {.tensor = 8}, 4),
          job_of(dense(), {.tensor = 16}, 4),
          job_of(dense(), {.pipeline = 4}, 8),
          job_of(dense(), {.context = 8}, 4),
          with(job_of(dense(), {.context = 8}, 4), ContextExchange::ulysses),
          with(job_of(dense(), {.context = 16}, 4), ContextExchange::all_gather),
          job_of(dense(), {.data = 16}, 4),
          with(job_of(dense(), {.data = 16}, 4), ModelSharding::parameters),
          job_of(mixture(), {.expert = 8, .data = 8}, 4)};
}

/// Several at once, every schedule, framework and way to share out.
std::vector<LargeModelRun> layouts() {
  std::vector<LargeModelRun> all = of_one_degree();
  const LargeModelRun mixed = job_of(dense(), {.tensor = 2, .pipeline = 2, .context = 2, .data = 2}, 8);
  for (const LayerKernels& kernels : layer_kernels()) all.push_back(with(mixed, kernels.framework));
  for (const auto schedule :
       {PipelineSchedule::afab, PipelineSchedule::zb_h1, PipelineSchedule::zbv, PipelineSchedule::dualpipe})
    all.push_back(with(mixed, schedule));
  all.push_back(job_of(dense(), {.tensor = 2, .pipeline = 2, .virtual_stages = 2, .data = 4}, 8));
  all.push_back(with(job_of(dense(), {.tensor = 2, .data = 8}, 2), ModelSharding::parameters, 4));
  all.push_back(with(job_of(dense(), {.tensor = 2, .data = 8}, 2), ModelSharding::none));
  all.push_back(job_of(mixture(), {.tensor = 2, .expert = 4, .expert_tensor = 2, .data = 8}, 2));
  all.push_back(job_of(mixture(), {.tensor = 2, .pipeline = 2, .expert = 8, .data = 4}, 8));
  all.push_back(with(all.back(), PipelineSchedule::dualpipe));
  return all;
}

double exposed_s(const LargeStep& step) {
  return step.tensor_s + step.context_s + step.expert_s + step.data_s + step.pipeline_s;
}

double sum_of_parts(const LargeStep& step) {
  return step.compute_s + step.host_s + step.optimizer_s + exposed_s(step) + step.bubble_s;
}

void speed_up_links(ClusterSpec& spec, double times) {
  for (NodeLink& link : spec.node.links) link.type.bandwidth = link.type.bandwidth * times;
  spec.fabric.link.bandwidth = spec.fabric.link.bandwidth * times;
}

double most_memory(const LargeModelRun& job) {
  double most = 0;
  for (const StageMemory& stage : stage_memory(job)) most = std::max(most, stage.total());
  return most;
}

}  // namespace

TEST_CASE("every layout of the laws is without faults") {
  for (const LargeModelRun& job : layouts()) {
    INFO(name_of_job(job));
    for (const JobFault& fault : faults_of(job, job.gpus())) FAIL_CHECK(fault.key << ": " << fault.message);
  }
}

TEST_CASE("the parts of a large model's step sum to the step") {
  for (const LargeModelRun& job : layouts()) {
    INFO(name_of_job(job));
    const LargeStep step = StepOfJob(job).run();
    CHECK(sum_of_parts(step) == Approx(step.step_s).epsilon(1e-6));
    for (const double part : {step.compute_s, step.host_s, step.optimizer_s, step.tensor_s, step.context_s,
                              step.expert_s, step.data_s, step.pipeline_s, step.bubble_s, step.between_s})
      CHECK(part >= -1e-12);  // what is left of a sum
    CHECK(step.between_s <= exposed_s(step) * (1 + 1e-9));
  }
}

TEST_CASE("with links that cost nothing one degree leaves compute, host and bubble") {
  for (const LargeModelRun& job : of_one_degree()) {
    INFO(name_of_job(job));
    StepOfJob site(job);
    site.job.cuda_graphs = true;  // a host that waits for nobody
    site.device.communication_time_scale = 1e-9;
    const LargeStep step = site.run();
    CHECK(exposed_s(step) <= 1e-3 * step.step_s);
    CHECK(step.compute_s + step.host_s + step.optimizer_s + step.bubble_s ==
          Approx(step.step_s).epsilon(1e-3));
    if (job.degrees.pipeline == 1) CHECK(step.bubble_s <= 1e-3 * step.step_s);
  }
}

TEST_CASE("with such links replicas train as fast as one of them would") {
  for (const auto sharding : {ModelSharding::none, ModelSharding::gradients}) {
    StepOfJob one(with(job_of(dense(), {}, 4), sharding)),
        many(with(job_of(dense(), {.data = 16}, 4), sharding));
    many.device.communication_time_scale = 1e-9;
    const LargeStep alone = one.run(), step = many.run();
    INFO(name_of(sharding));
    CHECK(step.step_s - step.optimizer_s == Approx(alone.step_s - alone.optimizer_s).epsilon(1e-3));
    CHECK(step.optimizer_s <= alone.optimizer_s * (1 + 1e-9));
  }
}

// Kernels lose at small sizes, and every context rank adds up gradients of all weights.
TEST_CASE("with such links tensor and context ranks compute at least their share of one rank's work") {
  const LargeStep alone = StepOfJob(job_of(dense(), {}, 4)).run();
  for (const Degrees& degrees : {Degrees{.tensor = 8}, {.context = 8}, {.tensor = 2}, {.context = 2}}) {
    StepOfJob site(job_of(dense(), degrees, 4));
    site.device.communication_time_scale = 1e-9;
    const double share = alone.compute_s / degrees.model();
    INFO(to_string(degrees));
    const LargeStep step = site.run();
    CHECK(step.compute_s >= share * 0.99);
    CHECK(step.compute_s <= share * 2.5);
  }
}

TEST_CASE("numbers of ranks that are alike mean nothing") {
  for (const LargeModelRun& job : layouts()) {
    INFO(name_of_job(job));
    StepOfJob site(job);
    const LargeStep before = site.run();
    // The GPUs of each node the other way round: all have the same links.
    for (GpuPlace& place : site.ranks.ranks) place.gpu = 7 - place.gpu;
    if (job.gpus() % 8 == 0) CHECK(site.run().step_s == Approx(before.step_s).epsilon(1e-9));
    for (GpuPlace& place : site.ranks.ranks)
      place.gpu = 7 - place.gpu, place.node = site.spec.nodes - 1 - place.node;
    CHECK(site.run().step_s == Approx(before.step_s).epsilon(1e-9));
  }
}

TEST_CASE("two runs of a large step are equal to the last bit") {
  for (const LargeModelRun& job : layouts()) {
    INFO(name_of_job(job));
    const LargeStep a = StepOfJob(job).run(true), b = StepOfJob(job).run(true);
    CHECK(a.step_s == b.step_s);
    CHECK(a.compute_s == b.compute_s);
    CHECK(exposed_s(a) == exposed_s(b));
    CHECK(a.bubble_s == b.bubble_s);
    CHECK(a.decisions == b.decisions);
    CHECK(std::ranges::equal(a.spans, b.spans, [](const StageSpan& x, const StageSpan& y) {
      return x.begin_s == y.begin_s && x.end_s == y.end_s && x.work == y.work && x.stage == y.stage;
    }));
  }
}

// With NCCL's choice held and a GPU that does not feel channels, as for the strategies (strategy_laws.cpp).
TEST_CASE("faster links never make a large model slower") {
  for (const LargeModelRun& job : layouts()) {
    StepOfJob site(job);
    site.collective = test::forced(nccl::Algorithm::ring, Protocol::simple);
    site.spec.node.gpu.sm_count = 100'000;
    double before = site.run().step_s;
    for (const double times : {2.0, 4.0}) {
      INFO(name_of_job(job) << ", links " << times << " times as fast");
      speed_up_links(site.spec, 2);
      const double now = site.run().step_s;
      CHECK(now <= before * (1 + 1e-5));  // exchanges may meet other kernels
      before = now;
    }
  }
}

TEST_CASE("a faster GPU or host never makes a large model slower") {
  for (const LargeModelRun& job : layouts()) {
    INFO(name_of_job(job));
    StepOfJob site(job);
    const double usual = site.run().step_s;
    site.device.kernel.time_scale = 1.5;
    CHECK(site.run().step_s >= usual * (1 - 1e-9));
  }
}

TEST_CASE("computing activations anew shortens neither the kernels' time nor the step") {
  constexpr double kRounding = 1.001;
  std::vector<LargeModelRun> jobs = layouts();
  LargeModelRun deep = job_of(test::llama3_8b_shape(), {.tensor = 2, .data = 8}, 8);
  jobs.push_back(with(deep, ModelSharding::parameters));
  for (const LargeModelRun& kept : jobs) {
    INFO(name_of_job(kept));
    LargeModelRun anew = kept;
    anew.recompute = Recompute::full;
    for (const double links : {0.2, 1.0}) {  // slow ones, which a step waits for
      StepOfJob without(kept), with_it(anew);
      speed_up_links(without.spec, links), speed_up_links(with_it.spec, links);
      const LargeStep less = without.run(), more = with_it.run();
      CHECK(less.compute_s <= kRounding * more.compute_s);
      CHECK(less.step_s <= kRounding * more.step_s);
    }
  }
}

TEST_CASE("1F1B never needs more memory than all forward passes first") {
  for (const int stages : {1, 2, 4}) {
    for (const std::int64_t micro_batches : {4, 8, 32}) {
      const LargeModelRun job = job_of(dense(), {.pipeline = stages}, micro_batches);
      CHECK(most_memory(job) <= most_memory(with(job, PipelineSchedule::afab)));
      CHECK(most_memory(with(job, PipelineSchedule::zb_h1)) <=
            most_memory(with(job, PipelineSchedule::afab)));
    }
  }
}

TEST_CASE("more tensor ranks never need more memory, nor do more replicas or shards of them") {
  const LargeModelRun small = job_of(test::llama3_8b_shape(), {.pipeline = 2, .data = 2}, 8);
  for (const bool sequence_parallel : {true, false}) {
    for (const auto recompute : {Recompute::none, Recompute::selective, Recompute::full}) {
      double before = 1e18;
      for (const int tensor : {1, 2, 4, 8}) {
        LargeModelRun job = small;
        job.degrees.tensor = tensor, job.sequence_parallel = sequence_parallel, job.recompute = recompute;
        CHECK(most_memory(job) < before);
        before = most_memory(job);
      }
    }
  }
  double before = 1e18;
  for (const auto sharding : {ModelSharding::none, ModelSharding::optimizer, ModelSharding::gradients}) {
    LargeModelRun job = with(job_of(test::llama3_8b_shape(), {.data = 8}, 8), sharding);
    CHECK(most_memory(job) < before);
    before = most_memory(job);
    job.degrees.data = 16, job.global_batch *= 2;
    CHECK(most_memory(job) <= before);
  }
}

}  // namespace parallel_laws
