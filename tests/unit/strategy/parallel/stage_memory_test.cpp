// Bytes of stages, added up by hand.
#include "sim/strategy/parallel/stage_memory.hpp"

#include "sim/strategy/parallel/chunk_timing.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/language_shapes.hpp"

namespace parallel_stage_memory_test {

using namespace foretrain;

namespace {

LargeModelRun llama(const Degrees& degrees, std::int64_t micro_batches = 8) {
  return test::job_of(test::llama3_8b_shape(), degrees, micro_batches);
}

constexpr double kParameters = 8'030'261'248;

}  // namespace

TEST_CASE("a parameter takes 18 bytes: 2 of weight, 4 of gradient, 12 of master and moments") {
  const StageMemory one = stage_memory(llama({})).front();
  CHECK(one.weights == Approx(2 * kParameters));
  CHECK(one.gradients == Approx(4 * kParameters));
  CHECK(one.optimizer == Approx(12 * kParameters));
  CHECK(one.buckets == 0);
}

TEST_CASE("what is shared out is cut by the ranks that share it") {
  LargeModelRun job = llama({.data = 8});
  CHECK(stage_memory(job)[0].optimizer == Approx(12 * kParameters / 8));
  CHECK(stage_memory(job)[0].gradients == Approx(4 * kParameters));
  job.shard_group = 2;
  CHECK(stage_memory(job)[0].optimizer == Approx(12 * kParameters / 2));
  job.shard_group = 0, job.sharding = ModelSharding::none;
  CHECK(stage_memory(job)[0].optimizer == Approx(12 * kParameters));
  job.sharding = ModelSharding::gradients;
  CHECK(stage_memory(job)[0].gradients == Approx(4 * kParameters / 8));
  job.sharding = ModelSharding::parameters;
  const StageMemory all = stage_memory(job)[0];
  CHECK(all.weights == 0);  // masters are the weights
  CHECK(all.optimizer + all.gradients == Approx(16 * kParameters / 8));
  // Two layers gathered in 16 bit, and one layer's gradients in fp32: 8 bytes of (8.03 - 2 x 0.525) / 32
  // billion.
  const ParameterCount count = parameters_of(job.shape);
  CHECK(all.buckets == Approx(8.0 * static_cast<double>(count.attention + count.dense)));
}

TEST_CASE("parameters of stages and tensor ranks sum to the network's") {
  for (const Degrees& degrees : {Degrees{.pipeline = 4}, {.tensor = 8}, {.tensor = 2, .pipeline = 8}}) {
    const LargeModelRun job = llama(degrees);
    double sum = 0;
    for (const StageChunk& chunk : stage_chunks(job)) sum += stage_parameters(job, chunk).all();
    CHECK(sum * degrees.tensor == Approx(kParameters));
  }
  LargeModelRun mixtral = test::job_of(test::mixtral_8x7b_shape(), {.expert = 8, .data = 8}, 1);
  const StageParameters held = stage_parameters(mixtral, stage_chunks(mixtral).front());
  // An eighth of the experts, and everything else whole.
  const double experts = 32 * 8.0 * 3 * 4096 * 14336;
  CHECK(held.expert == Approx(experts / 8));
  CHECK(held.dense == Approx(46'702'792'704 - experts));
}

TEST_CASE("both ends of a pipeline hold a tied matrix, one stage holds it once") {
  LargeModelRun job = test::job_of(test::bench_1b_shape(), {}, 8);
  CHECK(stage_parameters(job, stage_chunks(job).front()).all() ==
        Approx(1'342'244'864).epsilon(1e-5));  // but for the final norm
  job.degrees.pipeline = 2;
  double sum = 0;
  for (const StageChunk& chunk : stage_chunks(job)) sum += stage_parameters(job, chunk).all();
  CHECK(sum == Approx(1'342'244'864 + 131072.0 * 2048));
}

TEST_CASE("a stage keeps as many micro-batches as its schedule has in flight") {
  LargeModelRun job = llama({.pipeline = 4}, 16);
  const double middle = stage_memory(llama({.pipeline = 4}, 1))[1].activations;
  CHECK(stage_memory(job)[1].activations == Approx(3 * middle));
  job.schedule = PipelineSchedule::afab;
  CHECK(stage_memory(job)[1].activations == Approx(16 * middle));
}

TEST_CASE("activations of a GPT are about those that Korthikanti et al. count, without scores and masks") {
  // 34 bytes for each of s b h values, two of them masks of dropout; fused attention keeps no scores.
  const LargeModelRun job = test::job_of(test::gpt_shape(24, 2048, 16, 50257, 4096), {}, 1);
  const double values = 24 * 4096.0 * 2048;
  CHECK(stage_memory(job)[0].activations / values == Approx(32).margin(4));
}

TEST_CASE("tensor ranks with sequence parallelism share activations out, without it not all of them") {
  LargeModelRun job = llama({.tensor = 8}, 1);
  const double alone = stage_memory(llama({}, 1))[0].activations;
  CHECK(stage_memory(job)[0].activations == Approx(alone / 8).epsilon(1e-9));
  job.sequence_parallel = false;
  CHECK(stage_memory(job)[0].activations > 1.5 * alone / 8);
}

TEST_CASE("recomputation and offloading make activations smaller, some layers alone less so") {
  LargeModelRun job = llama({}, 4);
  const double none = stage_memory(job)[0].activations;
  job.recompute = Recompute::full;
  const double full = stage_memory(job)[0].activations;
  job.recomputed_layers = 16;
  const double half = stage_memory(job)[0].activations;
  CHECK(full < half);
  CHECK(half < none);
  job = llama({}, 4);
  job.offload = Offload::activations;
  CHECK(stage_memory(job)[0].activations < none / 10);  // 2 of 32 layers, and the head's
  job.offload = Offload::optimizer;
  CHECK(stage_memory(job)[0].optimizer == 0);
}

TEST_CASE(
    "Megatron-LM adds gradients up in the type that is summed, and moments have the width that is said") {
  LargeModelRun job = llama({.data = 8});
  job.gradient_bytes = 2;
  CHECK(stage_memory(job)[0].gradients == Approx(2 * kParameters));
  job.moment_bytes = 2;
  CHECK(stage_memory(job)[0].optimizer == Approx((4 + 2 * 2) * kParameters / 8));
  job.master_bytes = 2;
  CHECK(stage_memory(job)[0].optimizer == Approx((2 + 2 * 2) * kParameters / 8));
  job.framework = LlmFramework::nanotron;  // fp32 sums whatever is sent
  CHECK(stage_memory(job)[0].gradients == Approx(4 * kParameters));
}

TEST_CASE("a share of the layers is so many of them") {
  LargeModelRun share = llama({}, 4);
  share.recompute = Recompute::full;
  LargeModelRun count = share;
  share.recomputed_share = 0.5, count.recomputed_layers = 16;
  CHECK(stage_memory(share)[0].activations == stage_memory(count)[0].activations);
  CHECK(share.recomputed_of(32) == 16);
  share.recomputed_share = 1.0 / 3;
  CHECK(share.recomputed_of(32) == 11);
}

TEST_CASE("offload of some layers leaves the others' activations on the GPU") {
  const double none = stage_memory(llama({}, 4))[0].activations;
  LargeModelRun job = llama({}, 4);
  job.offload = Offload::activations;
  const double all = stage_memory(job)[0].activations;
  job.offloaded_layers = 16;
  // 16 of 32 layers stay, and of the other 16 two: 18 layers instead of 2.
  CHECK(none - stage_memory(job)[0].activations == Approx((none - all) * 14 / 30));
  job.offloaded_layers = 64;
  CHECK(stage_memory(job)[0].activations == Approx(all));
}

TEST_CASE("offloaded activations leave two layers' on the GPU, however many layers there are") {
  TransformerShape shape = test::llama3_8b_shape();
  const auto activations = [&](int layers, Offload offload) {
    shape.layers = layers;
    LargeModelRun job = test::job_of(shape, {}, 1);
    job.offload = offload;
    return stage_memory(job).front().activations;
  };
  const double two = activations(2, Offload::none);
  CHECK(activations(4, Offload::none) > 1.5 * two);
  for (const int layers : {2, 4, 32}) CHECK(activations(layers, Offload::activations) == Approx(two));
  CHECK(activations(1, Offload::activations) == Approx(activations(1, Offload::none)));  // of one layer, that
}

TEST_CASE("a further token keeps what the head, its join and its layer keep") {
  LargeModelRun job = llama({});
  const auto activations = [&](int tokens) {
    job.next_tokens = tokens;
    return stage_memory(job).front().activations;
  };
  const LayerSlice slice = job.slice();
  const double more = head_program(job.shape, slice, job.kernels()).saved_bytes +
                      join_program(job.shape, slice, job.kernels()).saved_bytes +
                      layer_program(job.shape, slice, false, job.kernels()).saved_bytes;
  CHECK(activations(1) - activations(0) == Approx(more));
  CHECK(activations(2) - activations(1) == Approx(more));
}

TEST_CASE("the largest part of a stage's memory is named with what makes it smaller") {
  LargeModelRun job = llama({});
  CHECK_THAT(stage_memory(job)[0].largest_part(job), ContainsSubstring("the optimizer's state"));
  job = llama({.tensor = 8, .data = 64}, 1);
  job.micro_batch = 16, job.global_batch = 16 * 64;
  CHECK_THAT(stage_memory(job)[0].largest_part(job), ContainsSubstring("activations (recompute"));
}

// A pass each way of 100 launches that scatter 50 MB, of which the host needs a quarter of the time.
TEST_CASE("with record_streams what is scattered stays reserved as far as the host is ahead") {
  LargeModelRun job = llama({.tensor = 8}, 4);
  ChunkTime passes;
  passes.forward.total = 1, passes.backward.total = 3, passes.issue_s = 1;
  passes.launches = 100, passes.scattered_bytes = 50e6;
  CHECK(held_bytes(job, passes) == 0);
  job.record_streams = true;
  CHECK(held_bytes(job, passes) == Approx(300 * 0.5e6));  // three quarters of 4 x 100 launches
  job.global_batch = 64;
  CHECK(held_bytes(job, passes) == Approx(1024 * 0.5e6));  // the GPU's queue
  passes.issue_s = 4.2;
  CHECK(held_bytes(job, passes) == 0);  // the host sets the pace
}

TEST_CASE("what is allocated and what lies outside are all of a stage") {
  for (const StageMemory& stage : stage_memory(llama({.tensor = 2, .pipeline = 2, .data = 2}))) {
    CHECK(stage.total() == stage.allocated() + stage.outside);
    CHECK(stage.allocated() == Approx(stage.weights + stage.gradients + stage.optimizer + stage.buckets +
                                      stage.activations + stage.logits + stage.workspace));
  }
}

}  // namespace parallel_stage_memory_test
