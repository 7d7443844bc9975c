// Drawings of nodes against tests/golden/approved; a wanted change is approved by copying what the failing
// test prints.

#include <fmt/format.h>

#include "sim/cluster/cluster.hpp"
#include "sim/report/drawing/topology_drawing.hpp"
#include "tests/support/approved.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace topology_drawings {

using namespace foretrain;
using test::approved;

namespace {

nccl::Job job_on(const ClusterSpec& spec) {
  const Placement placement = place_packed(spec.nodes * spec.node.gpus, spec.node.gpus);
  return nccl::inspect(Cluster::build(spec, spec.nodes), placement);
}

}  // namespace

TEST_CASE("the drawing of two nodes with NVLink is as approved") {
  const ClusterSpec spec = test::nvlink_cluster(2, 2);
  const nccl::Job job = job_on(spec);
  CHECK(draw_topology({spec, &job}) == approved("topology.svg"));
}

TEST_CASE("the graph of two nodes with NVLink is as approved") {
  const ClusterSpec spec = test::nvlink_cluster(2, 2);
  const nccl::Job job = job_on(spec);
  CHECK(write_topology_dot({spec, &job}) == approved("topology.dot"));
}

}  // namespace topology_drawings
