// Nodes that NVLink joins to one: what NCCL sees of them, and what a collective over them takes.
#include "sim/collective/nccl/nvlink_domain.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"

namespace nvlink_domain_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

constexpr double kPort = 400e9;  ///< of a GPU, into its NVSwitch and into the domain's

/// Four GPUs a host, each with a port of the domain as its adapter; `hosts` are one domain.
ClusterSpec rack(int nodes, int hosts) {
  ClusterSpec spec;
  spec.name = "rack", spec.nodes = nodes;
  spec.node.gpus = 4, spec.node.cpus = 1, spec.node.nvswitches = 1, spec.node.nics = 4;
  spec.node.gpu = a100(), spec.node.host = test_host();
  spec.node.gpu.architecture = Architecture::blackwell, spec.node.gpu.compute_capability = 10.0;
  spec.node.multicast = true;
  for (int g = 0; g < 4; ++g) {
    const std::string number = std::to_string(g);
    spec.node.links.push_back(
        connect("gpu" + number, "nvswitch0", link_type("nvlink", LinkKind::nvlink, kPort * 1e-10, 1), 10));
    spec.node.links.push_back(
        connect("nic" + number, "gpu" + number, link_type("port", LinkKind::nvlink, kPort * 1e-9, 1)));
    spec.node.links.push_back(connect("gpu" + number, "cpu0", link_type("pcie5_x16", LinkKind::pcie, 55, 1)));
    spec.node.links.push_back(connect("nic" + number, "cpu0", link_type("pcie5_x16", LinkKind::pcie, 55, 1)));
  }
  spec.node.gpudirect_reach = PathClass::phb;
  spec.fabric = star_fabric(link_type("domain", LinkKind::network, kPort * 1e-9, 1));
  spec.fabric.uplink = link_type("ib", LinkKind::network, 50, 1);
  spec.fabric.nvlink_domain = hosts;
  return spec;
}

CollectiveSettings newest() {
  CollectiveSettings settings;
  settings.nccl.version = parse_version("2.27.7").value();
  return settings;
}

CollectiveSettings newest_ring() {
  CollectiveSettings settings = newest();
  settings.nccl.algorithm = Algorithm::ring, settings.nccl.protocol = Protocol::simple;
  return settings;
}

constexpr std::int64_t kLarge = 4LL << 30;

}  // namespace

TEST_CASE("a domain is one node with the GPUs, CPUs and adapters of its hosts and one NVSwitch") {
  const ClusterSpec domains = as_domains(rack(6, 3), 3);
  CHECK(domains.node.gpus == 12);
  CHECK(domains.node.cpus == 3);
  CHECK(domains.node.nics == 12);
  CHECK(domains.node.nvswitches == 1);
  CHECK(domains.fabric.link.name == "ib");
  const auto has = [&](const char* a, const char* b) {
    return std::ranges::any_of(domains.node.links,
                               [&](const NodeLink& link) { return link.a == a && link.b == b; });
  };
  CHECK(has("gpu0", "nvswitch0"));
  CHECK(has("gpu11", "nvswitch0"));
  CHECK(has("gpu11", "cpu2"));
  CHECK(has("nic11", "cpu2"));
  CHECK_FALSE(has("nic11", "gpu11"));  // the port into the domain is NVSwitch traffic now
  CHECK(domains.node.links.size() == 3 * 4 * 3);
}

TEST_CASE("ranks keep their places in a domain, which goes by its first node") {
  Placement hosts;
  hosts.ranks = {{0, 1}, {2, 3}, {4, 0}};
  const Placement domains = as_domains(hosts, 3, 4);
  CHECK(domains.ranks[0].node == 0);
  CHECK(domains.ranks[0].gpu == 1);
  CHECK(domains.ranks[1].node == 0);
  CHECK(domains.ranks[1].gpu == 2 * 4 + 3);
  CHECK(domains.ranks[2].node == 3);
  CHECK(domains.ranks[2].gpu == 4);
}

TEST_CASE("hosts of a domain are one node to NCCL, domains are several, and one host needs none") {
  const OneJob two_hosts(rack(4, 2), 8, newest()), four_hosts(rack(4, 2), 16, newest()),
      one_host(rack(4, 2), 4, newest()), no_domain(rack(4, 1), 8, newest());
  CHECK(two_hosts.communicator.nodes() == 1);
  CHECK(four_hosts.communicator.nodes() == 2);
  CHECK(one_host.communicator.nodes() == 1);
  CHECK(one_host.communicator.job().hosts == 1);
  CHECK(no_domain.communicator.nodes() == 2);
  const GpuPlace place = two_hosts.communicator.job().place(0, 5);
  CHECK(place.node == 1);
  CHECK(place.gpu == 1);
}

// Every GPU sends 1 + 1/8 of the message to the switch at the multicast efficiency of its port; with 4 GiB
// the rest is under two per cent.
TEST_CASE("NVLS runs over all GPUs of a domain") {
  const OneJob job(rack(2, 2), 8, newest());
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, kLarge);
  REQUIRE(plan.algorithm == Algorithm::nvls);
  const double efficiency = multicast_efficiency(job.communicator.costs(), 8);
  CHECK(to_seconds(plan.timing.data) ==
        Approx(static_cast<double>(kLarge) * (1 + 1.0 / 8) / (kPort * efficiency)).epsilon(1e-9));
}

// Each GPU sends to one other and receives from one, over its port or its host's switch: 2 x 7/8 of the
// message.
TEST_CASE("a ring over a domain runs at the rate of NVLink, as if its hosts were one") {
  const OneJob job(rack(2, 2), 8, newest_ring());
  const CollectivePlan plan = job.plan(CollectiveOp::all_reduce, kLarge);
  const double blocks =
      plan.channels * of(job.communicator.costs().channel_rate, Protocol::simple).per_second;
  CHECK(to_seconds(plan.timing.data) ==
        Approx(2.0 * 7 / 8 * static_cast<double>(kLarge) / std::min(kPort, blocks)).epsilon(1e-9));
  CHECK(plan.timing.network_steps == 0);
}

TEST_CASE("sends and receives of a domain are told host by host") {
  const OneJob domain(rack(2, 2), 8, newest()), hosts(rack(2, 1), 8, newest());
  for (const CollectiveOp op : {CollectiveOp::alltoall, CollectiveOp::sendrecv}) {
    const CollectivePlan plan = domain.plan(op, kLarge);
    CHECK(plan.alone > Time::zero());
    CHECK(plan.alone <= hosts.plan(op, kLarge).alone);
    CHECK_FALSE(domain.communicator.flows(plan).empty());
  }
}

TEST_CASE("what NVLS reaches falls with the GPUs on the switch: 0.60 over 72 where 8 have 0.74") {
  CollectiveCosts costs;
  costs.multicast_efficiency = 0.74;
  CHECK(multicast_efficiency(costs, 4) == Approx(0.74));
  CHECK(multicast_efficiency(costs, 8) == Approx(0.74));
  CHECK(multicast_efficiency(costs, 72) == Approx(0.60).epsilon(0.01));
  CHECK(multicast_efficiency(costs, 1 << 20) == Approx(0.37));
}

}  // namespace nvlink_domain_test
