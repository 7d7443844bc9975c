// The exposed communication of DDP against its closed form on an idle star of single-GPU nodes.
#include <algorithm>

#include "sim/collective/communicator.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/unit/strategy/small_plan.hpp"

namespace ddp_physics {

using namespace foretrain;
using test::run_plan;
using test::SmallPlan;

namespace {

/// VGG-16 with one bucket for everything: it is complete only when backward has ended, so nothing overlaps.
SmallPlan one_bucket(int gpus, ByteRate network) {
  SmallPlan small(test::vgg16(), 4);
  small.spec = test::star_cluster(16, network);
  small.knobs.edit<DdpOptions>().first_bucket =
      small.knobs.edit<DdpOptions>().bucket_cap = {std::int64_t{1} << 40};
  small.collective = test::forced(nccl::Algorithm::ring, Protocol::simple);
  small.gpus = gpus;
  return small;
}

/// Latency of the plan plus 2 (n - 1) / n of the gradients through the narrowest place: the NIC, or the
/// thread blocks of all channels.
double closed_form(const SmallPlan& small, double gradient_bytes, double network) {
  const test::OneJob job(small.spec, small.gpus, small.collective);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, static_cast<std::int64_t>(gradient_bytes));
  const double blocks = plan.channels * of(job.communicator.costs().channel_rate, plan.protocol).per_second;
  return to_seconds(plan.latency) +
         2.0 * (small.gpus - 1) / small.gpus * gradient_bytes / std::min(network, blocks);
}

constexpr double kVggGradients = 4.0 * 138'357'544;

}  // namespace

TEST_CASE("one bucket of all gradients is exposed for latency + 2(n-1)/n S/B") {
  for (const int gpus : {2, 4, 8, 16}) {
    for (const double network : {1e9, 12.3e9}) {
      const SmallPlan small = one_bucket(gpus, {network});
      const test::Ran ran = run_plan(small, "ddp");
      REQUIRE(ran.plan.buckets.size() == 1);
      INFO(gpus << " GPUs, " << network << " B/s");
      CHECK(ran.share(Account::exposed_communication) ==
            Approx(closed_form(small, kVggGradients, network)).epsilon(0.03));
    }
  }
}

TEST_CASE("with one bucket the step is that of one wrapped GPU plus the exposed time") {
  SmallPlan alone = one_bucket(1, {12.3e9});
  alone.knobs.edit<DdpOptions>().wrap_one_gpu = true;
  const SmallPlan four = one_bucket(4, {12.3e9});
  const double expected = run_plan(alone, "ddp").last_step_s() + closed_form(four, kVggGradients, 12.3e9);
  CHECK(run_plan(four, "ddp").last_step_s() == Approx(expected).epsilon(0.02));
}

TEST_CASE("buckets that overlap backward make a shorter step than one that cannot") {
  SmallPlan many = one_bucket(8, {12.3e9});
  many.knobs = {};
  CHECK(run_plan(many, "ddp").last_step_s() < run_plan(one_bucket(8, {12.3e9}), "ddp").last_step_s());
}

TEST_CASE(
    "behind a network slower than backward the step is the traffic of all buckets, one after the other") {
  SmallPlan small = one_bucket(4, {0.05e9});
  small.knobs = {};
  // Backward of 4 images is a few percent of 2 x 3/4 x 553 MB / 50 MB/s = 16.6 s.
  CHECK(run_plan(small, "ddp").last_step_s() == Approx(2.0 * 3 / 4 * kVggGradients / 0.05e9).epsilon(0.03));
}

TEST_CASE("halving the bandwidth doubles the exposed time of a large bucket") {
  const double fast = run_plan(one_bucket(4, {5e9}), "ddp").share(Account::exposed_communication);
  const double slow = run_plan(one_bucket(4, {2.5e9}), "ddp").share(Account::exposed_communication);
  CHECK(slow / fast == Approx(2).epsilon(0.02));
}

}  // namespace ddp_physics
