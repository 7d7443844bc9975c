// Which commands a cluster file's assumptions lead to, and in which order.
#include "sim/import/pasted/cluster_questions.hpp"

#include <algorithm>

#include "sim/import/machines/machine_cluster.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/machine_texts.hpp"

namespace cluster_questions_test {

using namespace foretrain;

namespace {

std::vector<std::string> commands_for(const std::string& toml) {
  std::vector<std::string> out;
  for (const ClusterQuestion& question : cluster_questions(toml)) out.push_back(question.command);
  return out;
}

std::string imported(const std::string& text, const ImportAnswers& answers = {}) {
  return cluster_of(test::machine(text), answers).text;
}

bool asks(const std::vector<std::string>& commands, std::string_view beginning) {
  return std::ranges::any_of(commands, [&](const std::string& one) { return one.starts_with(beginning); });
}

}  // namespace

TEST_CASE("a list of names leads to network, links and processor, in this order") {
  const std::string list = "GPU 0: NVIDIA A100-SXM4-80GB (UUID: 1)\nGPU 1: NVIDIA A100-SXM4-80GB (UUID: 2)\n";
  const auto commands = commands_for(imported(list, {"", 0, 2, ""}));
  REQUIRE(commands.size() >= 4);
  CHECK(commands[0] == "ibstat");
  CHECK(commands[1] == "nvidia-smi topo -m");
  CHECK(asks(commands, "lscpu"));
  CHECK_FALSE(asks(commands, "nvidia-smi -L"));  // the names are known
  CHECK(commands.size() <= kMostQuestions);
}

TEST_CASE("what is answered is asked no more") {
  const std::string matrix = "GPU0\t X \tNV12\t0-31\t0\nGPU1\tNV12\t X \t32-63\t1\n";
  const auto before = commands_for(imported(matrix)),
             after = commands_for(imported(matrix, {"a100-sxm4-80gb", 0, 3, "ib_hdr"}));
  CHECK(asks(before, "nvidia-smi -L"));
  CHECK(asks(before, "sinfo"));
  CHECK_FALSE(asks(after, "nvidia-smi -L"));
  CHECK_FALSE(asks(before, "nvidia-smi topo -m"));
}

TEST_CASE("sockets lead to the rate of their port") {
  const std::string log =
      read_text_file(FORETRAIN_SOURCE_DIR "/tests/fuzz/corpus/fuzz_nccl_log/sockets.txt").text;
  CHECK(asks(commands_for(imported(log, {"v100-sxm2-16gb", 0, 0, ""})), "ethtool"));
}

TEST_CASE("a command is named once with all that it settles, and a file without assumptions has none") {
  const auto questions = cluster_questions(
      "[node.host]\ncores = 4  # assumed\nfamily = \"amd\"  # assumed\n[fabric]\nlink = \"ib_hdr\"\n");
  REQUIRE(questions.size() == 1);
  CHECK(questions[0] == ClusterQuestion{"lscpu", "cores of a node, its processor"});
  CHECK(cluster_questions("nodes = 3\n").empty());
  CHECK(cluster_questions("").empty());
}

}  // namespace cluster_questions_test
