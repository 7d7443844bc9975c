// The compact list of links against the links written out.
#include "sim/cluster/cluster.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace cluster_links_test {

using namespace foretrain;
using namespace foretrain::test;

namespace {

ClusterLink pcie_link(VertexId from, VertexId to) {
  return {from, to, LinkKind::pcie, {12e9}, 0.95, microseconds(1)};
}

}  // namespace

TEST_CASE("links of a node repeat with their ends shifted") {
  const ClusterLinks links({pcie_link(0, 1), pcie_link(1, 0), pcie_link(2, 1)}, 3, 5);
  REQUIRE(links.size() == 9);
  CHECK(links.of_first_node().size() == 3);
  for (std::size_t id = 0; id < 9; ++id) {
    const ClusterLink &first = links.of_first_node()[id % 3], link = links[id];
    CHECK(link.from == first.from + 5 * (id / 3));
    CHECK(link.to == first.to + 5 * (id / 3));
    CHECK(link.bandwidth == first.bandwidth);
    CHECK(link.kind == LinkKind::pcie);
  }
}

TEST_CASE("links of the fabric follow those of the nodes and keep their type") {
  ClusterLinks links({pcie_link(0, 1)}, 2, 2);
  LinkType slow = hdr100(), fast = hdr100();
  fast.bandwidth = {50e9}, fast.latency = microseconds(2);
  links.add(1, 4, slow, 1);
  links.add(4, 1, fast, 1);
  links.add(3, 4, slow, 2);
  links.add(4, 3, slow, 1);
  REQUIRE(links.size() == 6);
  CHECK(links[2].from == 1);
  CHECK(links[2].to == 4);
  CHECK(links[2].kind == LinkKind::network);
  CHECK(links[2].bandwidth == slow.bandwidth);
  CHECK(links[3].bandwidth == fast.bandwidth);
  CHECK(links[3].latency == fast.latency);
  CHECK(links[4].bandwidth == slow.bandwidth * 2);
  CHECK(links[5].bandwidth == slow.bandwidth);
  CHECK(links[5].collective_efficiency == slow.collective_efficiency);
}

TEST_CASE("no links are no links") { CHECK(ClusterLinks().size() == 0); }

}  // namespace cluster_links_test
