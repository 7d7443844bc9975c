// Which nodes of a site with several kinds a job script leads to, and what is said where it leads nowhere.
#include "sim/import/jobs/node_choice.hpp"

#include "sim/cluster/site_kinds.hpp"
#include "sim/scenario/schema/schemas.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace node_choice_test {

using namespace foretrain;

namespace {

const std::vector<ClusterSpec>& kinds() {
  static const std::vector<ClusterSpec> all = [] {
    setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
    return clusters_of_site(read_or_throw(
        SourceText{"lab.toml",
                   "node_kind = \"v100\"\nnodes = 10\nnode = \"dgx1-v100\"\n"
                   "[fabric]\nkind = \"star\"\nlink = \"ib_edr\"\n"
                   "[site]\nbatch_system = \"slurm\"\ngpu_type = \"v100\"\nconstraints = [\"nvlink\"]\n"
                   "partitions = [{ name = \"old\", kinds = [\"v100\"] }, "
                   "{ name = \"new\", kinds = [\"a100\", \"small\"], default = true }, { name = \"all\" }]\n"
                   "[[more_nodes]]\nname = \"a100\"\nnodes = 20\nnode = \"dgx-a100\"\ngpu_type = \"a100\"\n"
                   "constraints = [\"nvlink\", \"nvswitch\"]\n"
                   "[[more_nodes]]\nname = \"small\"\nnodes = 4\nnode = \"a100-4gpu-2cpu\"\n"
                   "gpu_type = \"a100\"\n"},
        read_cluster));
  }();
  return all;
}

/// The kind, or the message and hint.
std::string chosen(const JobScript& script) {
  try {
    return std::string(part_name(nodes_for_job(script, kinds(), "./lab.toml")));
  } catch (const InputError& error) {
    const Diagnostic& first = error.diagnostics().front();
    return std::to_string(first.span.line) + ": " + first.message + "; " + first.hint;
  }
}
std::string under_slurm(const std::string& directives) { return chosen(test::slurm(directives)); }

}  // namespace

TEST_CASE("partition, type, feature and number of GPUs lead to one kind of a site's nodes") {
  CHECK(under_slurm("-p old\n--gres=gpu:8") == "v100");
  CHECK(under_slurm("-p new\n--gres=gpu:8") == "a100");
  CHECK(under_slurm("-p new\n--gres=gpu:4") == "small");
  CHECK(under_slurm("-p all\n--gres=gpu:v100:8") == "v100");
  CHECK(under_slurm("-p all\n--gres=gpu:a100:8") == "a100");
  CHECK(under_slurm("-p old,new\n--gres=gpu:tesla_v100:2") == "v100");
  CHECK(under_slurm("--gres=gpu:8\n-C nvswitch") == "a100");
  CHECK(under_slurm("--gres=gpu:8\n-C v100") == "v100");
  // A job that names no partition gets the default one.
  CHECK(under_slurm("--gres=gpu:8") == "a100");
}

TEST_CASE("what a site does not have is refused at the word that asks for it") {
  CHECK(under_slurm("--gres=gpu:8\n-p gpu") == "3: ./lab.toml has no partition gpu; known: all, new, old");
  CHECK(under_slurm("-p old\n--gres=gpu:a100:8") ==
        "3: GPUs of type a100 are asked for, but partition old of ./lab.toml has v100: 10 nodes with 8x "
        "v100-sxm2-16gb; partition new has 8x a100-sxm4-40gb");
  CHECK(under_slurm("-p all\n--gres=gpu:h100:8").find("2: GPUs of type h100 are asked for") ==
        std::string::npos);
  CHECK(under_slurm("-p all\n--gres=gpu:h100:8").starts_with("3: GPUs of type h100 are asked for"));
  CHECK(under_slurm("--gres=gpu:8\n-C skylake") ==
        "3: ./lab.toml has no nodes with the feature skylake; known: nvlink, nvswitch");
}

TEST_CASE("a job that may get several kinds is refused with the kinds and how to say which") {
  const std::string several = under_slurm("-p all\n--gres=gpu:8");
  CHECK_THAT(
      several,
      Catch::Matchers::StartsWith(
          "2: the job may get 2 kinds of nodes of partition all of ./lab.toml: v100: 10 nodes with 8x "));
  CHECK(several.ends_with(
      "say a type of GPU in the script, or --cluster ./lab.toml/v100, or ./lab.toml/a100; or "
      "--partition NAME"));
}

TEST_CASE("a cluster whose nodes are all alike needs no word") {
  const std::vector<ClusterSpec> one{kinds().front()};
  CHECK(nodes_for_job(test::slurm("-p nowhere\n--gres=gpu:h100:2"), one, "x").name == "lab/v100");
}

}  // namespace node_choice_test
