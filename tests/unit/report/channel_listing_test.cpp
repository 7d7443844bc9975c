// Channels in words: on a DGX-1's mesh, on two nodes, and the trees between many.
#include "sim/report/collective/channel_listing.hpp"

#include "tests/support/catch.hpp"
#include "tests/support/test_clusters.hpp"

namespace channel_listing_test {

using namespace foretrain;

namespace {

std::string channels_of(const ClusterSpec& spec, int gpus, const nccl::Settings& settings = {}) {
  const Placement placement = place_packed(gpus, spec.node.gpus);
  return write_channels(spec.name, nccl::inspect(Cluster::build(spec, placement.nodes), placement, settings));
}

}  // namespace

TEST_CASE("the rings of a DGX-1 are listed with equal ones in one line") {
  CHECK(channels_of(test::cube_mesh_node(), 8) ==
        "Channels of NCCL 2.20.5 for 8 GPUs on 1 node of cube_mesh\n"
        "\n"
        "8 GPUs (0-7) of node 0\n"
        "  ring            6 channels of 20 GB/s over NVL\n"
        "    0-1           0 3 2 1 5 6 7 4\n"
        "    2-3           0 4 7 6 5 1 2 3\n"
        "    4             0 1 3 7 5 4 6 2\n"
        "    5             0 2 6 4 5 7 3 1\n"
        "  balanced tree   6 channels of 20 GB/s over NVL\n"
        "    0-1           0 3 2 1 5 6 7 4\n"
        "    2-3           0 4 7 6 5 1 2 3\n"
        "    4             0 1 3 7 5 4 6 2\n"
        "    5             0 2 6 4 5 7 3 1\n"
        "  NVLS            none\n"
        "  CollNet chain   none\n"
        "  CollNet direct  none\n"
        "\n"
        "Running: 12 channels (channel c takes ring c mod 6), 0 for NVLS, 16 for sends, 2 for each peer\n");
}

TEST_CASE(
    "channels over two nodes say by which NICs they come in and leave, and each tree has another root") {
  const std::string text = channels_of(test::nvlink_cluster(2, 2), 8);
  CHECK_THAT(text, ContainsSubstring("8 GPUs on 2 nodes of nvlink\n\n4 GPUs (0-3) of each of 2 nodes\n"));
  CHECK_THAT(text, ContainsSubstring("GB/s between nodes over PIX"));
  CHECK_THAT(text, ContainsSubstring("nic0 > 0 "));
  CHECK_THAT(text,
             ContainsSubstring("  first\n    node 0\n      node 1\n  second\n    node 1\n      node 0\n"));
}

TEST_CASE("nodes with fewer GPUs of the job are listed by themselves") {
  const std::string text = channels_of(test::nvlink_cluster(3, 1), 9);
  CHECK_THAT(text, ContainsSubstring("\n4 GPUs (0-3) of each of 2 nodes\n"));
  CHECK_THAT(text, ContainsSubstring("\n1 GPU (0) of node 2\n"));
}

TEST_CASE("NVSwitches that multicast are listed by their heads") {
  ClusterSpec spec = test::nvswitch_node();
  spec.node.multicast = true;
  spec.node.gpu.compute_capability = 9.0, spec.node.gpu.architecture = Architecture::hopper;
  CHECK_THAT(channels_of(spec, 8), ContainsSubstring("head 0\n"));
}

TEST_CASE("trees are written out for 32 nodes, not for 33") {
  CHECK_THAT(channels_of(test::star_cluster(32, {1e10}), 32),
             ContainsSubstring("    node 0\n      node 16\n        node 8\n"));
  CHECK_THAT(channels_of(test::star_cluster(33, {1e10}), 33),
             ContainsSubstring("between 33 nodes are not written out"));
}

TEST_CASE("a job of one GPU has channels, too") {
  CHECK_THAT(channels_of(test::star_cluster(1, {1e10}), 1), ContainsSubstring("1 GPU (0) of node 0"));
}

TEST_CASE("numbers that follow each other are a range") {
  CHECK(number_ranges({0, 1, 2, 5, 7, 8}) == "0-2, 5, 7-8");
  CHECK(number_ranges({}).empty());
}

}  // namespace channel_listing_test
