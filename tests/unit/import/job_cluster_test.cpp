// From what a script says of its site to a cluster of the catalog.
#include "sim/import/job_cluster.hpp"

#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace job_cluster_test {

using namespace foretrain;

namespace {

const std::vector<ClusterSpec>& catalog() {
  static const std::vector<ClusterSpec> clusters = [] {
    setenv("FORETRAIN_PATH", FORETRAIN_SOURCE_DIR, 1);
    return clusters_with_site();
  }();
  return clusters;
}

/// Names with blanks between them.
std::string matched(const JobScript& script) {
  std::string out;
  for (const std::string& name : match_cluster(script, catalog()).names)
    out += (out.empty() ? "" : " ") + name;
  return out;
}

std::string under_slurm(const std::string& directives) { return matched(test::slurm(directives)); }
std::string under_condor(const std::string& requirements) {
  return matched(test::script_of("request_gpus = 1\n" + requirements + "\nqueue\n"));
}

}  // namespace

TEST_CASE("partition, type of GPU and constraint lead to one cluster") {
  CHECK(under_slurm("--partition=gputest\n--gres=gpu:v100:4") == "puhti");
  CHECK(under_slurm("--partition=gpusmall\n--gres=gpu:a100:1") == "mahti");
  CHECK(under_slurm("--partition=gpumedium\n--gres=gpu:gh200:4") == "roihu");
  CHECK(under_slurm("--partition=gpusmall\n--gres=gpu:a100_1g.5gb:1") == "mahti");
  CHECK(under_slurm("--constraint=gpu\n--gres=gpu:a100:4") == "raven");
  CHECK(under_slurm("--partition=m3h\n--gres=gpu:2") == "m3-p100");
  CHECK(under_slurm("--constraint=v100-32g\n--gres=gpu:4") == "jean-zay-v100");
  CHECK(under_slurm("-p gpu_p5 -C a100 --gres=gpu:8") == "jean-zay-a100");
}

TEST_CASE("several clusters are all named, and none is said why") {
  CHECK(under_slurm("--partition=gpu\n--gres=gpu:1") == "adroit-v100 param-rudra puhti raven");
  CHECK(under_slurm("--gres=gpu:1").empty());
  CHECK(match_cluster(test::slurm("--partition=dev-g\n--gpus-per-node=8"), catalog()).why ==
        "partition dev-g is of LUMI, whose GPUs (AMD) are in no catalog");
  CHECK_THROWS_WITH(choose_cluster(test::slurm("--partition=gpu\n--gres=gpu:1"), ""),
                    ContainsSubstring("Several have partition gpu: adroit-v100, param-rudra, puhti, raven") &&
                        ContainsSubstring("give --cluster NAME"));
  CHECK(choose_cluster(test::slurm("--partition=gpu"), "mahti").name == "mahti");
}

TEST_CASE("GPUs of HTCondor are chosen by capability, memory and name") {
  CHECK(under_condor("require_gpus = (Capability == 7.5) && (DriverVersion >= 11.3)") == "chtc-2080ti");
  CHECK(under_condor("requirements = (CUDACapability == 7.5)&&(11.1 <= Target.CUDADriverVersion)") ==
        "chtc-2080ti");
  CHECK(under_condor("gpus_minimum_capability = 9.0\ngpus_minimum_memory = 100000") == "chtc-h200");
  CHECK(under_condor("Requirements = regexp(\"H200\", TARGET.CUDADeviceName)") == "chtc-h200");
  CHECK(under_condor("gpus_minimum_capability = 8.0") ==
        "chtc-a100-40gb chtc-a100-80gb chtc-h100 chtc-h200 chtc-l40 chtc-l40s");
}

TEST_CASE("the requirements written in the catalog select their own GPUs") {
  for (const ClusterSpec& cluster : catalog()) {
    if (cluster.site.system != BatchSystem::htcondor) continue;
    INFO(cluster.name);
    CHECK(under_condor("require_gpus = " + cluster.site.requirements).find(cluster.name) !=
          std::string::npos);
  }
}

}  // namespace job_cluster_test
