// Rings from RCCL's lists: which boards have them, and that they load every link alike.
#include <map>
#include <numeric>

#include "sim/collective/nccl/link_bandwidth.hpp"
#include "sim/collective/nccl/node_graphs.hpp"
#include "tests/support/catch.hpp"

namespace listed_rings_test {

using namespace foretrain;
using namespace foretrain::nccl;

namespace {

/// Eight GPUs joined two by two, each with an adapter behind a switch of its own; 0: links do not say what is
/// booked.
ClusterSpec mesh(double booked, int gpus = 8) {
  LinkType xgmi, pcie, network;
  xgmi.kind = LinkKind::nvlink, xgmi.bandwidth = {48e9}, xgmi.nccl_bandwidth = {booked};
  pcie.kind = LinkKind::pcie, pcie.bandwidth = {50e9};
  network.kind = LinkKind::network, network.bandwidth = {50e9};
  ClusterSpec cluster;
  cluster.nodes = 2, cluster.fabric.link = network;
  NodeSpec& node = cluster.node;
  node.gpus = gpus, node.cpus = 1, node.switches = gpus, node.nics = gpus;
  node.gpu.compute_capability = 9;
  for (int a = 0; a < gpus; ++a) {
    const std::string gpu = "gpu" + std::to_string(a), on = "switch" + std::to_string(a);
    for (int b = a + 1; b < gpus; ++b) node.links.push_back({gpu, "gpu" + std::to_string(b), xgmi, 1, {}});
    node.links.push_back({gpu, on, pcie, 1, {}});
    node.links.push_back({"nic" + std::to_string(a), on, pcie, 1, {}});
    node.links.push_back({on, "cpu0", pcie, 1, {}});
  }
  return cluster;
}

NodeGraphs graphs_of(const ClusterSpec& cluster, bool several_nodes, int gpus = 8) {
  std::vector<int> all(static_cast<std::size_t>(gpus));
  std::iota(all.begin(), all.end(), 0);
  return search_node(question_of(cluster, all, several_nodes, {}));
}

/// How often each direction of each link is used.
std::map<std::pair<int, int>, int> uses_of(const GraphResult& rings, bool closes) {
  std::map<std::pair<int, int>, int> uses;
  for (const ChannelPath& path : rings.paths) {
    for (std::size_t i = 0; i + 1 < path.gpus.size(); ++i) ++uses[{path.gpus[i], path.gpus[i + 1]}];
    if (closes) ++uses[{path.gpus.back(), path.gpus.front()}];
  }
  return uses;
}

}  // namespace

TEST_CASE("seven rings use every direction of every link of eight GPUs once") {
  const NodeGraphs graphs = graphs_of(mesh(48e9), false);
  CHECK(graphs.ring.channels == 7);
  CHECK(graphs.ring.bw_intra == 48);
  CHECK(graphs.tree.channels == 7);
  const auto uses = uses_of(graphs.ring, true);
  CHECK(uses.size() == 56);
  for (const auto& [link, count] : uses) CHECK(count == 1);
}

TEST_CASE("between nodes eight rings come in and leave at every adapter once") {
  const NodeGraphs graphs = graphs_of(mesh(48e9), true);
  CHECK(graphs.ring.channels == 8);
  CHECK(graphs.ring.bw_inter == 48);
  CHECK(graphs.ring.cross_nic);
  const auto uses = uses_of(graphs.ring, false);
  CHECK(uses.size() == 56);
  for (const auto& [link, count] : uses) CHECK(count == 1);
  std::map<int, int> in, out;
  for (const ChannelPath& path : graphs.ring.paths) {
    ++in[path.nic_in], ++out[path.nic_out];
    CHECK(path.nic_in == path.gpus.front());  // each GPU's own adapter has its number
    CHECK(path.nic_out == path.gpus.back());
  }
  CHECK(in.size() == 8);
  CHECK(out.size() == 8);
}

TEST_CASE("links that leave their figure to the GPU, fewer GPUs and other boards are searched") {
  CHECK(graphs_of(mesh(0), false).ring.channels != 7);
  CHECK(graphs_of(mesh(48e9), false, 4).ring.channels != 7);
  ClusterSpec torn = mesh(48e9);
  torn.node.links.erase(torn.node.links.begin());  // gpu0 to gpu1
  CHECK(graphs_of(torn, false).ring.channels != 7);
  ClusterSpec shared = mesh(48e9);
  for (NodeLink& link : shared.node.links) {
    if (link.a == "nic1") link.b = "switch0";
  }
  CHECK(graphs_of(shared, false).ring.channels == 7);
  CHECK(graphs_of(shared, true).ring.channels != 8);
}

TEST_CASE("a link's own figure counts before that of its GPU") {
  LinkType link;
  link.kind = LinkKind::nvlink, link.bandwidth = {25e9};
  CHECK(nvlink_bandwidth(link, Version{2, 20, 5}, 90) == 20600);
  link.nccl_bandwidth = {24e9};
  CHECK(nvlink_bandwidth(link, Version{2, 20, 5}, 90) == 24000);
}

}  // namespace listed_rings_test
