// A cluster and the communicator of one job on it, which belong together; jobs and settings as tests spell
// them.
#pragma once

#include <optional>

#include "sim/collective/communicator.hpp"
#include "tests/support/test_clusters.hpp"

namespace foretrain::test {

/// NCCL_ALGO and NCCL_PROTO.
inline CollectiveSettings forced(std::optional<nccl::Algorithm> algorithm,
                                 std::optional<Protocol> protocol = std::nullopt) {
  CollectiveSettings settings;
  settings.nccl.algorithm = algorithm, settings.nccl.protocol = protocol;
  return settings;
}

/// All nodes of the description are built; the ranks need not use all of them.
struct OneJob {
  OneJob(const ClusterSpec& spec, const Placement& placement, const CollectiveSettings& settings = {})
      : cluster(Cluster::build(spec, spec.nodes)), communicator(cluster, placement, settings) {}
  OneJob(const ClusterSpec& spec, int gpus, const CollectiveSettings& settings = {})
      : OneJob(spec, place_packed(gpus, spec.node.gpus), settings) {}
  OneJob(const OneJob&) = delete;

  CollectivePlan plan(CollectiveOp op, std::int64_t bytes) const { return communicator.plan(op, {bytes}); }

  Cluster cluster;
  Communicator communicator;
};

/// Eight H100, each with eighteen NVLinks to an NVSwitch that sums and multicasts, and a NIC of 400 Gbps each
/// beside every GPU.
inline ClusterSpec h100_cluster(int nodes) {
  Gpu gpu = a100();
  gpu.name = "H100-SXM5-80GB", gpu.architecture = Architecture::hopper, gpu.compute_capability = 9.0;
  ClusterSpec spec;
  spec.name = "h100", spec.nodes = nodes;
  spec.node.gpus = 8, spec.node.cpus = 2, spec.node.switches = 8, spec.node.nvswitches = 1,
  spec.node.nics = 8;
  spec.node.gpu = gpu, spec.node.host = test_host();
  spec.node.multicast = true;
  spec.node.links = {connect("cpu0", "cpu1", upi(), 2)};
  const LinkType pcie5 = link_type("pcie5_x16", LinkKind::pcie, 55, 1.0),
                 nvlink4 = link_type("nvlink4", LinkKind::nvlink, 22, 3.1, 0.92);
  for (int g = 0; g < 8; ++g) {
    const std::string number = std::to_string(g);
    spec.node.links.push_back(connect("switch" + number, g < 4 ? "cpu0" : "cpu1", pcie5));
    spec.node.links.push_back(connect("gpu" + number, "switch" + number, pcie5));
    spec.node.links.push_back(connect("nic" + number, "switch" + number, pcie5));
    spec.node.links.push_back(connect("gpu" + number, "nvswitch0", nvlink4, 18));
  }
  spec.fabric = star_fabric(link_type("ndr", LinkKind::network, 49, 0.6));
  return spec;
}

}  // namespace foretrain::test
