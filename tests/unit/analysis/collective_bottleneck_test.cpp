// Links in words.
#include "sim/analysis/collective/collective_curve.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace collective_bottleneck_test {

using namespace foretrain;

TEST_CASE("a link inside a node names its node once, one between nodes at each device that has one") {
  const Cluster cluster = Cluster::build(test::star_cluster(2, {12.5e9}), 2);
  std::vector<std::string> names;
  for (LinkId link = 0; link < cluster.links().size(); ++link) names.push_back(describe_link(cluster, link));
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  CHECK(has("gpu0 to cpu0 in node 0"));
  CHECK(has("cpu0 to nic0 in node 1"));
  CHECK(has("nic0 of node 1 to leaf0"));
  CHECK(has("leaf0 to nic0 of node 0"));
}

}  // namespace collective_bottleneck_test
