// What ZeRO and FSDP send against the closed forms, and what of it an endless compute exposes.
#include "sim/collective/communicator.hpp"
#include "sim/strategy/fsdp/fsdp_options.hpp"
#include "sim/strategy/zero/zero_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/strategy/named_blocks.hpp"

namespace sharding_physics {

using namespace foretrain;
using test::blocks_on;
using test::kLinear;
using test::plan_of;
using test::run_plan;
using test::sent_per_step;
using test::SmallPlan;

namespace {

/// Bytes that each GPU must put on the wire in a step for gradients and parameters, by the lower bound of
/// each collective.
double wire_bytes(const Plan& plan, int gpus) {
  const auto part = [&](std::string_view label, CollectiveOp op) {
    return busbw_factor(op, gpus) * static_cast<double>(sent_per_step(plan, label).bytes);
  };
  return part("all_gather", CollectiveOp::all_gather) + part("all_reduce", CollectiveOp::all_reduce) +
         part("reduce_scatter", CollectiveOp::reduce_scatter);
}

SmallPlan blocks(int gpus, bool half) {
  SmallPlan small = blocks_on(gpus);
  small.spec = test::star_cluster(8, {12.3e9});
  if (half) small.workload.precision = Precision::bf16, small.workload.half_weights = true;
  return small;
}

constexpr double kParameters = 6.0 * kLinear, kRoot = 2.0 * kLinear;

/// Latency and data of one collective by itself.
double alone(const SmallPlan& small, CollectiveOp op, double bytes) {
  const test::OneJob job(small.spec, small.gpus, small.collective);
  return to_seconds(job.plan(op, static_cast<std::int64_t>(bytes)).alone);
}

}  // namespace

TEST_CASE("DeepSpeed's stages 1 and 2 send three times the parameters, stage 0 and DDP twice") {
  for (const int gpus : {2, 4, 8}) {
    for (const bool half : {false, true}) {
      INFO(gpus << " GPUs, half " << half);
      const SmallPlan small = blocks(gpus, half);
      const double once = (half ? 2 : 4) * kParameters * (gpus - 1) / gpus;
      CHECK(wire_bytes(plan_of(small, "zero0"), gpus) == Approx(2 * once));
      CHECK(wire_bytes(plan_of(small, "ddp"), gpus) == Approx(2 * once));
      CHECK(wire_bytes(plan_of(small, "zero1"), gpus) == Approx(3 * once));
      CHECK(wire_bytes(plan_of(small, "zero2"), gpus) == Approx(3 * once));
    }
  }
}

TEST_CASE("ZeRO stage 3 sends twice the parameters when all stay for backward, three times when none does") {
  for (const int gpus : {2, 8}) {
    SmallPlan small = blocks(gpus, true);
    const double once = 2 * kParameters * (gpus - 1) / gpus;
    CHECK(wire_bytes(plan_of(small, "zero3"), gpus) == Approx(2 * once));
    small.knobs.edit<ZeroOptions>().max_reuse_distance = 0,
    small.knobs.edit<ZeroOptions>().prefetch_bucket_size = 1,
    small.knobs.edit<ZeroOptions>().max_live_parameters = 1;
    small.knobs.edit<ZeroOptions>().param_persistence_threshold = 0;
    CHECK(wire_bytes(plan_of(small, "zero3"), gpus) == Approx(3 * once));
  }
}

TEST_CASE(
    "FSDP sends parameters twice, but the root's once, and gradients once, with shard_grad_op all once") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    for (const int gpus : {2, 4, 8}) {
      for (const bool half : {false, true}) {
        INFO(strategy << ", " << gpus << " GPUs, half " << half);
        SmallPlan small = blocks(gpus, half);
        const double element = half ? 2 : 4, share = (gpus - 1.0) / gpus;
        CHECK(wire_bytes(plan_of(small, strategy), gpus) ==
              Approx(element * share * (3 * kParameters - kRoot)));
        small.knobs.edit<FsdpOptions>().sharding = Sharding::shard_grad_op;
        CHECK(wire_bytes(plan_of(small, strategy), gpus) == Approx(element * share * 2 * kParameters));
      }
    }
  }
}

TEST_CASE("with endless compute FSDP exposes the first gather and the last reduction, those of the root") {
  for (const char* strategy : {"fsdp", "fsdp2"}) {
    for (const double network : {1e9, 12.3e9}) {
      INFO(strategy << ", " << network << " B/s");
      SmallPlan small = blocks(4, false);
      small.spec = test::star_cluster(4, {network});
      small.device.kernel.time_scale = 3000;
      const double expected = alone(small, CollectiveOp::all_gather, 4 * kRoot) +
                              alone(small, CollectiveOp::reduce_scatter, 4 * kRoot);
      CHECK(run_plan(small, strategy).share(Account::exposed_communication) ==
            Approx(expected).epsilon(0.05));
    }
  }
}

TEST_CASE("without prefetch every gather of backward stands behind a reduction, and both are exposed") {
  // PyTorch 1.13: the reduction of block k waits for its compute, the gather of block k - 1 for that
  // reduction, the next compute for the gather. The first block of backward is asked for while the head
  // computes; behind the last there is only the root, which is whole.
  SmallPlan small = blocks(4, false);
  small.workload.framework.version = {1, 13};
  small.workload.optimizer.form = OptimizerForm::foreach;
  small.device.kernel.time_scale = 3000;
  const double gather = alone(small, CollectiveOp::all_gather, 4.0 * kLinear);
  const double reduce = alone(small, CollectiveOp::reduce_scatter, 4.0 * kLinear);
  const double root = alone(small, CollectiveOp::all_gather, 4 * kRoot) +
                      alone(small, CollectiveOp::reduce_scatter, 4 * kRoot);
  CHECK(run_plan(small, "fsdp").share(Account::exposed_communication) ==
        Approx(root + 3 * (gather + reduce)).epsilon(0.05));
}

TEST_CASE("hybrid_shard sends between nodes twice the shard, full_shard three times the parameters") {
  SmallPlan small = blocks_on(8);
  small.spec = test::nvlink_cluster(2, 2);
  small.knobs.edit<FsdpOptions>().sharding = Sharding::hybrid_shard;
  const Plan plan = plan_of(small, "fsdp");
  // Inside the node as full_shard among four; between two nodes each GPU all-reduces a quarter of the
  // gradients.
  CHECK(wire_bytes(plan, 4) == Approx(4 * 0.75 * (3 * kParameters - kRoot)));
  const double across = busbw_factor(CollectiveOp::all_reduce, 2) *
                        static_cast<double>(sent_per_step(plan, "shards between replicas").bytes);
  CHECK(across == Approx(4 * kParameters / 4));
}

TEST_CASE("stage 3 hides its gathers behind endless compute, and its one reduction not at all") {
  SmallPlan small = blocks(4, false);
  small.workload.batch_per_gpu = 100'000;  // seconds of compute in every layer
  small.spec = test::star_cluster(4, {1e9});
  small.knobs.edit<ZeroOptions>().prefetch_bucket_size = 1024 * 1024;  // a weight ahead at every module
  const double first = alone(small, CollectiveOp::all_gather, 4.0 * 1024 * 1024);  // the stem's weight
  const double reduce = alone(small, CollectiveOp::reduce_scatter, 4 * kParameters);
  CHECK(run_plan(small, "zero3").share(Account::exposed_communication) ==
        Approx(first + reduce).epsilon(0.05));
}

TEST_CASE("DeepSpeed's stages 0 to 2 expose all they send, however long backward is") {
  for (const double scale : {1.0, 100.0}) {
    SmallPlan small = blocks(4, false);
    small.spec = test::star_cluster(4, {1e9});
    small.device.kernel.time_scale = scale;
    const double reduce = alone(small, CollectiveOp::all_reduce, 4 * kParameters);
    const double gather = alone(small, CollectiveOp::all_gather, 4 * kParameters);
    INFO("kernels " << scale << " times as long");
    CHECK(run_plan(small, "zero0").share(Account::exposed_communication) == Approx(reduce).epsilon(0.03));
    CHECK(run_plan(small, "zero1").share(Account::exposed_communication) ==
          Approx(reduce + gather).epsilon(0.03));
    CHECK(run_plan(small, "zero2").share(Account::exposed_communication) ==
          Approx(reduce + gather).epsilon(0.03));
  }
}

TEST_CASE("behind a slow network the step is the bytes on the wire") {
  for (const char* strategy : {"zero0", "zero1", "fsdp", "fsdp2"}) {
    INFO(strategy);
    SmallPlan small = blocks(4, false);
    small.spec = test::star_cluster(4, {0.02e9});
    const test::Ran ran = run_plan(small, strategy);
    CHECK(ran.last_step_s() == Approx(wire_bytes(ran.plan, 4) / 0.02e9).epsilon(0.05));
  }
}

}  // namespace sharding_physics
