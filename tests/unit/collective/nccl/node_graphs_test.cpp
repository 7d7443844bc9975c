// What is kept of a node's search is what a search finds, and only what NCCL reads makes another question.
#include "sim/collective/nccl/node_graphs.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/one_job.hpp"
#include "tests/support/test_clusters.hpp"

namespace node_graphs_test {

using namespace foretrain;
using namespace foretrain::nccl;
using namespace foretrain::test;

namespace {

Settings of_version(const char* version) {
  Settings settings;
  settings.version = parse_version(version).value();
  return settings;
}

}  // namespace

TEST_CASE("graphs from the book are those of a search, on every node, set of GPUs and version") {
  NodeGraphCache book;
  int asked = 0;
  for (int round = 0; round < 2; ++round) {
    for (const ClusterSpec& spec :
         {nvlink_cluster(2, 2), pcie_cluster(2, 4), cube_mesh_node(), h100_cluster(2)}) {
      for (const std::vector<int>& gpus : {std::vector<int>{0}, {0, 1}, {1, 3}, {0, 1, 2, 3}}) {
        for (const bool several : {false, true}) {
          for (const char* version : {"2.7.8", "2.20.5"}) {
            if (several && spec.node.nics == 0) continue;
            const NodeGraphRequest question = question_of(spec, gpus, several, of_version(version));
            REQUIRE(book.graphs(question) == search_node(question));
            asked += round == 0 ? 1 : 0;
          }
        }
      }
    }
  }
  CHECK(book.searches() == asked);
}

TEST_CASE(
    "names, plain rates, efficiencies and what is forced do not make another question, booked rates and GPUs "
    "do") {
  const ClusterSpec spec = nvlink_cluster(2, 2);
  const std::vector<int> gpus{0, 1, 2, 3};
  const NodeGraphRequest question = question_of(spec, gpus, true, {});
  ClusterSpec other = spec;
  other.name = "other", other.node.gpu.name = "other", other.node.host.cores = 7;
  other.fabric.link.collective_efficiency = 0.1, other.fabric.link.latency = Time{7};
  for (NodeLink& link : other.node.links)
    link.type.name = "other", link.type.latency = Time{7}, link.type.collective_efficiency = 0.1;
  Settings forced;
  forced.algorithm = nccl::Algorithm::tree, forced.protocol = Protocol::ll, forced.max_channels = 3;
  CHECK(question_of(other, gpus, true, forced) == question);
  CHECK_FALSE(question_of(spec, {0, 1}, true, {}) == question);
  CHECK_FALSE(question_of(spec, gpus, false, {}) == question);
  other.fabric.link.bandwidth = {1e9}, other.fabric.link.nccl_bandwidth = {1e9};
  CHECK_FALSE(question_of(other, gpus, true, {}) == question);
}

}  // namespace node_graphs_test
