// Losses that a cluster measured, in the place of those of its GPU's generation.
#include "sim/strategy/process/losses.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace loss_constants_test {

using namespace foretrain;
using namespace foretrain::test;

TEST_CASE("a cluster without a calibration has the losses of its GPU's generation, one with some its own") {
  ClusterSpec cluster = nvlink_cluster(1, 1);
  const Losses volta = losses_of(Architecture::volta);
  for (const ConstantOf<Losses>& row : loss_constants()) CHECK(row.get(losses_of(cluster)) == row.get(volta));
  cluster.calibration.constants = {{"loss.collective_share", 0.5, 0, 0, 0, 0, 0}};
  CHECK(losses_of(cluster).collective_share == 0.5);
  CHECK(losses_of(cluster).rank_spread == volta.rank_spread);
  CHECK(losses_of(cluster).busy_node == volta.busy_node);
}

}  // namespace loss_constants_test
