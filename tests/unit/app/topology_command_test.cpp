// `foretrain topology show --channels` and `topology draw`, as typed.
#include "tests/support/catch.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace topology_command_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

TEST_CASE("channels are shown for a node, for several and for a version of NCCL") {
  const TemporaryFolder folder;
  const ProgramRun node = folder.run("foretrain topology show dgx1-v100 --channels");
  CHECK(node.exit_code == 0);
  CHECK_THAT(node.output, ContainsSubstring("Channels of NCCL 2.20.5 for 8 GPUs on 1 node of dgx1-v100\n"));
  CHECK_THAT(node.output, ContainsSubstring("  ring            6 channels of 20 GB/s over NVL\n"));
  const ProgramRun two =
      folder.run("foretrain topology show dgx1-v100 --channels --nodes 2 --nccl-version 2.8.4");
  CHECK(two.exit_code == 0);
  CHECK_THAT(two.output, ContainsSubstring("Channels of NCCL 2.8.4 for 16 GPUs on 2 nodes of dgx1-v100\n"));
  CHECK_THAT(two.output, ContainsSubstring("Trees between nodes"));
}

TEST_CASE("a drawing is written whole, as SVG or for Graphviz") {
  const TemporaryFolder folder;
  CHECK(folder.run("foretrain topology draw puhti --channels -o node.svg").exit_code == 0);
  CHECK(folder.read("node.svg").starts_with("<svg "));
  CHECK(folder.read("node.svg").ends_with("</svg>\n"));
  CHECK(folder.run("foretrain topology draw puhti -o node.dot").exit_code == 0);
  CHECK(folder.read("node.dot").starts_with("graph \"puhti\" {"));
}

TEST_CASE("channels and drawings that cannot be are refused with the reason") {
  const TemporaryFolder folder;
  const auto refused = [&](const std::string& arguments, const std::string& reason) {
    const ProgramRun run = folder.run("foretrain topology " + arguments);
    INFO(arguments);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.output, ContainsSubstring(reason));
  };
  refused("show dgx1-v100 --channels --gpus 999999999", "GPUs, not 999999999");
  refused("show dgx1-v100 --channels --gpus 9 --nodes 1", "do not fit on 1 node");
  refused("show dgx1-v100 --channels --nodes 2147483647", "nodes, not 2147483647");
  refused("show dgx1-v100 --channels --nccl-version newest", "nccl.version");
  refused("show dgx1-v1000 --channels", "did you mean");
  refused("draw dgx1-v100 -o node.png", "the name ends in .svg or .dot");
  CHECK(folder.run("foretrain topology draw dgx1-v100 -o /nowhere/node.svg").exit_code == 3);
  CHECK(folder.run("foretrain topology show dgx1-v100 --gpus 4").exit_code == 2);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a new cluster is written to a file that reads, and warnings of a cluster are shown") {
  const TemporaryFolder folder;
  const std::string made = "foretrain topology new --gpu l40s --gpus-per-node 4 --nodes 2 --network roce_100";
  CHECK(folder.run(made + " -o mine.toml").exit_code == 0);
  CHECK_THAT(folder.read("mine.toml"), ContainsSubstring("# assumed"));
  const ProgramRun check = folder.run("foretrain topology check ./mine.toml");
  CHECK(check.exit_code == 0);
  CHECK(check.output ==
        "mine: 2 nodes, 8 GPUs, 12 links per node: no faults\n"
        "  node    4 l40s, no NVLink; 1 NIC, at cpu0\n"
        "  routes  pairs of GPUs: 2 PHB (gpu0-gpu1, gpu2-gpu3), 4 SYS (gpu0-gpu2, gpu0-gpu3, gpu1-gpu2, "
        "gpu1-gpu3); GPUs to their NICs: 2 PHB (gpu0 to nic0, gpu1 to nic0), 2 SYS (gpu2 to nic0, gpu3 to "
        "nic0)\n"
        "  host    2 CPUs, 64 cores, 512 GB\n"
        "  fabric  star of roce_100 (11.9 GBps per NIC), one switch that never blocks\n");
  folder.run(
      "foretrain topology new --gpu rtx-3090 --gpus-per-node 4 --nvlink pairs | sed '/^count/d' > thin.toml");
  const ProgramRun thin = folder.run("foretrain topology check ./thin.toml");
  CHECK(thin.exit_code == 0);
  CHECK_THAT(thin.output, ContainsSubstring("warning: thin: the NVLinks of gpu0 carry 12 GBps in sum"));
  CHECK(folder.run("foretrain topology new --gpu l40s --gpus-per-node 4 --nodes 2").exit_code == 1);
  CHECK(folder.run("foretrain topology new --gpu l40s --gpus-per-node 0").exit_code == 2);
  CHECK(folder.run("foretrain topology new --gpu l40s --gpus-per-node 4 --nvlink ring").exit_code == 2);
}

TEST_CASE("check says where a doubt stands, and diff names what differs") {
  const TemporaryFolder folder;
  folder.run(
      "foretrain topology new --gpu l40s --gpus-per-node 2 --nodes 2 --network roce_100 -o good.toml; "
      "sed '/^\\[\\[node.links/,$s/pcie4_x16/pcie4_x8/' good.toml > narrow.toml");
  const ProgramRun check = folder.run("foretrain topology check ./narrow.toml");
  CHECK(check.exit_code == 0);
  CHECK_THAT(check.output,
             ContainsSubstring("warning: ./narrow.toml:23: GPUs hang at pcie4_x8 (13.2 GBps), where "
                               "l40s takes pcie4_x16 (26.3 GBps)\n  hint: right in an older server"));
  const ProgramRun diff = folder.run("foretrain topology diff ./good.toml ./narrow.toml");
  CHECK(diff.exit_code == 0);
  CHECK_THAT(diff.output,
             ContainsSubstring("good | narrow\n") &&
                 ContainsSubstring("  places of GPUs of gpu0, gpu1: cpu0 by pcie4_x16 | cpu0 by pcie4_x8\n"));
  CHECK(folder.run("foretrain topology diff puhti puhti").output == "puhti and puhti are alike\n");
  CHECK(folder.run("foretrain topology diff puhti nowhere").exit_code == 1);
  CHECK(folder.run("foretrain topology diff puhti").exit_code == 2);
}

}  // namespace topology_command_test
