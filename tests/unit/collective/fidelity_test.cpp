// The three ways to look at one collective, by name and on one small machine.
#include "sim/collective/fidelity.hpp"

#include "sim/base/diagnostics.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace fidelity_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("fidelities are found by their names") {
  for (const Fidelity fidelity : kFidelities) CHECK(find_fidelity(name_of(fidelity)) == fidelity);
  CHECK(name_of(Fidelity::analytic) == "analytic");
  CHECK_FALSE(find_fidelity("packet"));
  CHECK_FALSE(find_fidelity(""));
}

TEST_CASE("one rank takes its kernel at every fidelity") {
  const OneJob job(nvlink_cluster(1, 1), 1);
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 20);
  for (const Fidelity fidelity : kFidelities)
    CHECK(simulate(job.communicator, plan, fidelity) == job.communicator.costs().kernel);
}

TEST_CASE("two nodes exchange halves: two messages of S/2 one after the other at every fidelity") {
  const OneJob job(star_cluster(2, {1e9}), 2, forced(nccl::Algorithm::ring, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 10'000'000);
  const CollectiveCosts& costs = job.communicator.costs();
  const double step = to_seconds(costs.default_network_step) * of(costs.network_factor, Protocol::simple) +
                      to_seconds(of(costs.network_step, Protocol::simple));
  const double copied = 5e6 / (plan.channels * costs.copy_rate.per_second);  // out of the buffer, in the end
  const double expected = to_seconds(costs.kernel) + 2 * step + 2 * 5e6 / 1e9 + copied;
  for (const Fidelity fidelity : kFidelities) {
    INFO(name_of(fidelity));
    CHECK(to_seconds(simulate(job.communicator, plan, fidelity)) == Approx(expected).epsilon(1e-6));
  }
}

TEST_CASE("what exists as flows only has no chunk level, and says which fidelity it has") {
  const OneJob job(h100_cluster(2), 16, forced(nccl::Algorithm::nvls_tree, Protocol::simple));
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, 1 << 28);
  REQUIRE(plan.algorithm == nccl::Algorithm::nvls_tree);
  CHECK_THROWS_AS(simulate(job.communicator, plan, Fidelity::chunk), InputError);
  CHECK_NOTHROW(simulate(job.communicator, plan, Fidelity::flow));
}

}  // namespace fidelity_test
