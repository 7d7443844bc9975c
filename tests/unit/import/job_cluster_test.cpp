// From what a script says of its site to a cluster of the catalog.
#include "sim/import/job_cluster.hpp"

#include "sim/import/jobs/whole_nodes.hpp"
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
  CHECK(under_slurm("--partition=standard-g\n--gpus-per-node=8") == "lumi-g");
  CHECK(under_slurm("--partition=gpuA100x4\n--gpus-per-node=4") == "delta-a100");
  CHECK(under_slurm("-p GPU-shared\n--gpus=v100-32:2") == "bridges2-v100-32gb");
  CHECK(under_slurm("-p gpu -C volta32\n--gres=gpu:4") == "iris-v100-32gb");
}

TEST_CASE("queues of PBS and resource types of Grid Engine lead to their machines") {
  CHECK(matched(test::script_of("#!/bin/bash\n#PBS -q rt_HF\n#PBS -l select=2\npython a.py\n")) == "abci3");
  CHECK(matched(test::script_of("#!/bin/bash\n#PBS -q gpuvolta\n#PBS -l ngpus=4\npython a.py\n")) ==
        "gadi-v100");
  CHECK(matched(test::script_of("#!/bin/bash\n#$ -l node_f=2\n#$ -l h_rt=1:00:00\npython a.py\n")) ==
        "tsubame4");
}

TEST_CASE("several clusters are all named, and none is said why") {
  CHECK(under_slurm("--partition=gpu\n--gres=gpu:1") ==
        "adroit-v100 anvil-a100 expanse iris-v100-16gb iris-v100-32gb m3-a100 m3-a40 meluxina param-rudra "
        "puhti raven "
        "setonix-gpu");
  CHECK(under_slurm("--gres=gpu:1").empty());
  CHECK(match_cluster(test::slurm("--partition=pvc\n--nodes=2"), catalog()).why ==
        "partition pvc is of Stampede3, whose GPUs (Intel) are in no catalog");
  CHECK_THROWS_WITH(choose_cluster(test::slurm("--partition=gpu\n--gres=gpu:1"), ""),
                    ContainsSubstring("Several have partition gpu: adroit-v100, anvil-a100, expanse, iris") &&
                        ContainsSubstring("give --cluster NAME"));
  CHECK(choose_cluster(test::slurm("--partition=gpu"), "mahti").name == "mahti");
}

TEST_CASE("where jobs get whole nodes and ask for no GPUs, they have those of their nodes") {
  const auto granted = [](const std::string& directives, const std::string& cluster) {
    JobScript script = test::slurm(directives);
    take_whole_nodes(script, choose_cluster(script, cluster));
    return script.resources;
  };
  const JobResources frontier = granted("--partition=batch\n--nodes=2", "");
  CHECK(frontier.gpus_per_node->value == 8);
  CHECK(frontier.gpus->value == 16);
  CHECK(granted("-p gh -N 4 --ntasks-per-node=1", "").gpus->value == 4);
  CHECK(granted("-p batch -N 2 --gpus-per-node=4", "").gpus->value == 8);
  // LUMI's scripts name GPUs, although its standard-g hands out whole nodes.
  CHECK(granted("-p standard-g -N 2", "").gpus->value == 0);
  CHECK(granted("-p regular -C gpu -N 2", "perlmutter").gpus->value == 0);
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
