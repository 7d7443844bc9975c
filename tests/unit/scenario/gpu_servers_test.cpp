// A GPU's name as a cluster: one reading is opened, several are asked for, none brings near names.
#include "sim/scenario/gpu_servers.hpp"

#include "sim/scenario/named_cluster.hpp"
#include "tests/support/catch.hpp"

namespace gpu_servers_test {

using namespace foretrain;

namespace {

std::string refused(const std::string& name) {
  try {
    gpu_named(name);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a GPU is found however its name is written") {
  CHECK(gpu_named("a100-sxm4-40gb") == "a100-sxm4-40gb");
  CHECK(gpu_named("RTX3090") == "rtx-3090");
  CHECK(gpu_named("rtx 3090") == "rtx-3090");
  CHECK(gpu_named("gh200") == "gh200-96gb");
}

TEST_CASE("a GPU name with several readings asks with all of them") {
  CHECK_THAT(refused("v100-pcie"),
             ContainsSubstring("\"v100-pcie\" may be one of 2 GPUs: v100-pcie-16gb, v100-pcie-32gb"));
  CHECK_THAT(refused("v100"), ContainsSubstring("v100-pcie-16gb") && ContainsSubstring("v100-sxm2-32gb") &&
                                  ContainsSubstring("which of them is it"));
}

TEST_CASE("an unknown GPU name brings near ones") {
  CHECK_THAT(refused("rtx-3091"),
             ContainsSubstring("unknown GPU \"rtx-3091\"") && ContainsSubstring("rtx-3090"));
}

TEST_CASE("a server of one kind of GPUs is a node with their usual links") {
  const ClusterSpec board = open_cluster("gpu:v100-sxm2-32gb"), cards = open_cluster("gpu:rtx3090");
  CHECK(board.node.gpu.name == "v100-sxm2-32gb");
  CHECK(board.node.gpus == 8);
  CHECK(cards.node.gpu.name == "rtx-3090");
  CHECK(cards.node.gpus == 4);
  CHECK(gpu_server_words("gpu:rtx3090") ==
        "gpu:rtx-3090 is one node with 4 of these GPUs and the links that such nodes usually have");
  CHECK_FALSE(gpu_server_text("mahti"));
}

}  // namespace gpu_servers_test
