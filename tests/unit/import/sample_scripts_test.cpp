// Every job script of ../shared/samples/jobs against a table that was written by reading each of them: 95 %
// of the fields are right, what is not is reported as not understood, and none is wrong.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

#include <fmt/format.h>

#include "sim/import/job_script.hpp"
#include "tests/support/catch.hpp"

namespace sample_scripts_test {

using namespace foretrain;
namespace fs = std::filesystem;

namespace {

const fs::path kSamples = FORETRAIN_SOURCE_DIR "/../shared/samples/jobs";

// file: nodes, GPUs per node, tasks, CPUs per task, memory per node (MiB), seconds, partition, launcher,
// processes per node, program.
// "-": the script does not say, "?": it does, but only when it runs.
constexpr const char* kExpected = R"(
cdac_hpcai/current/02_singlegpu_training/01_slurm_submit.sh: 1 1 1 1 - 600 gpu python 1 01_mnist_model.py
cdac_hpcai/current/02_singlegpu_training/03_mnist_AMP.sh: 1 1 1 1 - 600 gpu python 1 03_mnist_AMP.py
cdac_hpcai/current/03_multigpu_dp_training/slurm_submit.sh: 1 2 2 1 - 1200 gpu python 1 mnist_multigpu.py
cdac_hpcai/current/04_multigpu_ddp_training/bert/slurm_bert.sh: 3 2 3 8 - 1800 gpu torchrun 2 bert.py
cdac_hpcai/current/04_multigpu_ddp_training/slurm_submit.sh: 2 2 2 10 - 1200 gpu torchrun 2 mnist_ddpmodel.py
cdac_hpcai/current/06_DL_container/01_mnist_model.sh: 1 1 1 1 - 3600 gpu srun 1 01_mnist_model.py
cdac_hpcai/current/06_DL_container/03_ngc_ddp_multinode.sh: 2 2 2 10 - 1200 gpu torchrun 2 03_mnist_ddp.py
cdac_hpcai/jan2025_376e08e/02_singlegpu_training/slurm_submit.sh: 1 1 1 1 - 600 gpu python 1 mnist_model.py
cdac_hpcai/jan2025_376e08e/03_multigpu_dp_training/slurm_submit.sh: 1 2 2 6 - 1200 gpu python 1 mnist_multigpu.py
cdac_hpcai/jan2025_376e08e/04_multigpu_ddp_training/slurm_submit.sh: 1 2 2 1 - 1200 gpu torchrun 2 mnist_ddpmodel.py
cdac_hpcai/jan2025_376e08e/05_multigpu_fsdp_training/slurm_submit.sh: 1 2 2 10 - 7200 gpu torchrun 2 chess.py
chtc_uw_madison/current/run_parallel.sh: - - - - - - - python 1 model_parallel.py
chtc_uw_madison/current/submit.sub: 1 1 1 4 49152 43200 - python 1 model_parallel.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/four/run_parallel.sh: - - - - - - - python 1 model_parallel.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/four/submit_4.sub: 1 4 1 1 16384 43200 - python 1 model_parallel.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/one/run.sh: - - - - - - - python 1 model.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/one/submit.sub: 1 1 1 1 16384 43200 - python 1 model.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/two/run_parallel.sh: - - - - - - - python 1 model_parallel.py
chtc_uw_madison/orig_one_two_four_960f48f/multi_gpu/two/submit_2.sub: 1 2 1 1 16384 43200 - python 1 model_parallel.py
csc_puhti_mahti/ml-benchmarks/pytorch-accelerate.sh: - - - - - - - accelerate ? benchmarks/pytorch_visionmodel_accelerate.py
csc_puhti_mahti/ml-benchmarks/pytorch-clm-deepspeed.sh: - - - - - - - ? ? benchmarks/run_clm.py
csc_puhti_mahti/ml-benchmarks/pytorch-clm.sh: - - - - - - - torchrun ? benchmarks/run_clm.py
csc_puhti_mahti/ml-benchmarks/pytorch-ddp-lightning.sh: - - - - - - - srun - benchmarks/pytorch_visionmodel_lightning.py
csc_puhti_mahti/ml-benchmarks/pytorch-ddp.sh: - - - - - - - torchrun ? benchmarks/pytorch_visionmodel_ddp.py
csc_puhti_mahti/ml-benchmarks/pytorch-deepspeed.sh: - - - - - - - ? - benchmarks/pytorch_visionmodel_deepspeed.py
csc_puhti_mahti/ml-benchmarks/pytorch-synthetic.sh: - - - - - - - srun - ?
csc_puhti_mahti/ml-benchmarks/run-all-benchmarks.sh: - - - - - - - - - -
csc_puhti_mahti/ml-benchmarks/sglang-inference.sh: - - - - - - - - - -
csc_puhti_mahti/ml-benchmarks/slurm/common.sh: - - - - - - - - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu1.sh: 1 1 1 7 61440 7200 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu16-mpi.sh: 2 8 16 7 491520 900 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu16.sh: 2 8 2 56 491520 1800 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu2.sh: 1 2 1 14 122880 7200 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu32.sh: 4 8 4 56 491520 1800 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu8-mpi.sh: 1 8 8 7 491520 900 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/lumi-gpu8.sh: 1 8 1 56 491520 900 dev-g - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-cpu128.sh: 1 0 1 128 - 3600 test - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu1.sh: 1 1 1 32 - 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu16-mpi.sh: 4 4 16 32 - 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu1_5gb.sh: 1 1 1 4 17500 900 gpusmall - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu2.sh: 1 2 1 32 - 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu24-mpi.sh: 6 4 24 32 - 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu4-mpi.sh: 1 4 4 32 - 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu4.sh: 1 4 1 128 - 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu8-mpi.sh: 2 4 8 32 - 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/slurm/mahti-gpu8.sh: 2 4 2 128 all 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-cpu40.sh: 1 0 1 40 all 900 test - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu1.sh: 1 1 1 10 81920 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu16-mpi.sh: 4 4 16 10 all 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu2-nodes2-mpi.sh: 2 1 2 10 65536 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu2.sh: 1 2 1 20 131072 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu4-mpi.sh: 1 4 4 10 all 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu4.sh: 1 4 1 40 327680 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu8-mpi.sh: 2 4 8 10 all 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/puhti-gpu8.sh: 2 4 2 40 327680 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/roihu-gpu1.sh: 1 1 1 72 122880 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/roihu-gpu4.sh: 1 4 1 288 491520 900 gputest - - -
csc_puhti_mahti/ml-benchmarks/slurm/roihu-gpu8-mpi.sh: 2 4 8 72 491520 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/slurm/roihu-gpu8.sh: 2 4 2 288 491520 900 gpumedium - - -
csc_puhti_mahti/ml-benchmarks/tensorflow-cnn.sh: - - - - - - - srun - benchmarks/tensorflow-benchmarks/scripts/tf_cnn_benchmarks/tf_cnn_benchmarks.py
csc_puhti_mahti/ml-benchmarks/tensorflow-dist.sh: - - - - - - - python 1 benchmarks/tensorflow_visionmodel_distributed.py
csc_puhti_mahti/pytorch-ddp-examples/run-accelerate-gpu8.sh: 2 4 2 40 327680 900 gputest accelerate 4 mnist_accelerate.py
csc_puhti_mahti/pytorch-ddp-examples/run-ddp-gpu1-mlflow.sh: 1 1 1 10 65536 900 gputest torchrun 1 mnist_ddp_mlflow.py
csc_puhti_mahti/pytorch-ddp-examples/run-ddp-gpu4-mlflow.sh: 1 4 1 40 all 900 gputest torchrun 4 mnist_ddp_mlflow.py
csc_puhti_mahti/pytorch-ddp-examples/run-ddp-gpu4-smi-logging.sh: 1 4 1 40 all 900 gputest torchrun 4 mnist_ddp.py
csc_puhti_mahti/pytorch-ddp-examples/run-ddp-gpu4.sh: 1 4 1 40 all 900 gputest torchrun 4 mnist_ddp.py
csc_puhti_mahti/pytorch-ddp-examples/run-ddp-gpu8.sh: 2 4 2 40 all 900 gputest torchrun 4 mnist_ddp.py
csc_puhti_mahti/pytorch-ddp-examples/run-deepspeed-gpu4.sh: 1 4 1 40 all 900 gputest deepspeed 4 mnist_deepspeed.py
csc_puhti_mahti/pytorch-ddp-examples/run-deepspeed-gpu8.sh: 2 4 8 10 all 900 gputest srun 4 mnist_deepspeed.py
massive_m3/mnist_job.bash: 1 1 6 1 56320 1800 m3h python 1 mnist_main.py
massive_m3/mnist_job_multi.bash: 1 2 6 1 56320 1800 m3h python 1 mnist_main.py
massive_m3/resnet_job.bash: 1 1 6 1 56320 1800 m3h python 1 resnet_cifar_main.py
massive_m3/resnet_job_multi.bash: 1 2 6 1 56320 1800 m3h python 1 resnet_cifar_main.py
mpcdf_raven/multi_gpu_single_node.sh: 1 4 4 18 500000 600 - srun 4 src/train.py
mpcdf_raven/multi_node_multi_gpu.sh: 2 4 8 18 500000 600 - srun 4 src/train.py
mpcdf_raven/single_gpu.sh: 1 1 1 18 125000 600 - srun 1 src/train.py
princeton/01_single_gpu/job.slurm: 1 1 1 1 8192 300 - python 1 mnist_classify.py
princeton/02_pytorch_ddp/job.slurm: 2 2 4 8 32768 300 - srun 2 mnist_classify_ddp.py
princeton/02_pytorch_ddp/simple.slurm: 2 2 4 8 32768 60 - srun 2 simple_dpp.py
princeton/03_pytorch_lightning_multi/job.slurm: 1 2 2 8 65536 120 - srun 2 myscript.py
princeton/04_model_parallel_with_fsdp/chess_finetune.sh: 1 4 1 4 262144 3600 - torchrun 4 chess_finetune.py
princeton/tensorflow/job.slurm: 1 2 1 16 65536 300 - python 1 mnist_classify.py
)";

std::optional<SourceText> text_of(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return std::nullopt;
  return SourceText{path.string(), {std::istreambuf_iterator<char>(stream), {}}};
}

std::string number(const Field<int>& field) { return field ? std::to_string(field->value) : "-"; }

std::string memory(const Field<MemoryRequest>& field) {
  if (!field) return "-";
  return field->value.whole_node ? "all" : std::to_string(field->value.bytes.count >> 20);
}

std::vector<std::string> fields_of(const JobScript& script) {
  const JobResources& have = script.resources;
  const JobLaunch& launch = script.launch;
  std::string program = launch.program ? launch.program->value : "-";
  if (program.starts_with("${REPODIR}") || program.find('$') != std::string::npos)
    program = fs::path(program).filename().string();
  return {number(have.nodes),
          number(have.gpus_per_node),
          number(have.tasks),
          number(have.cpus_per_task),
          memory(have.memory_per_node),
          script.request.seconds ? std::to_string(script.request.seconds->value) : "-",
          script.request.partition ? script.request.partition->value : "-",
          launch.started_by ? std::string(name_of(launch.started_by->value)) : "-",
          number(launch.processes_per_node),
          program};
}

/// Scripts beside it are found, as the program does.
JobScript read(const fs::path& path) {
  return read_job_script(*text_of(path), [folder = path.parent_path()](const std::string& name) {
    return text_of(folder / name);
  });
}

}  // namespace

TEST_CASE("the job scripts of six sites are read without a wrong field") {
  if (!fs::exists(kSamples)) FORETRAIN_SKIP("no ../shared/samples/jobs");
  std::istringstream table(kExpected);
  int fields = 0, right = 0, files = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty()) continue;
    const std::string file = line.substr(0, line.find(':'));
    const JobScript script = read(kSamples / file);
    const std::vector<std::string> ours = fields_of(script);
    std::istringstream expected(line.substr(line.find(':') + 1));
    std::string wanted;
    for (std::size_t i = 0; expected >> wanted; ++i) {
      INFO(file << " field " << i);
      const bool open = wanted == "?";
      CHECK(ours[i] == (open ? "-" : wanted));
      if (wanted != "-") ++fields, right += open ? 0 : ours[i] == wanted;
      if (open) CHECK_FALSE(script.not_understood.empty());
    }
    ++files;
  }
  CHECK(files == 82);
  INFO(right << " of " << fields);
  CHECK(right >= 0.95 * fields);
}

TEST_CASE("the table of job scripts has a row for every sample") {
  if (!fs::exists(kSamples)) FORETRAIN_SKIP("no ../shared/samples/jobs");
  for (const auto& entry : fs::recursive_directory_iterator(kSamples)) {
    if (!entry.is_regular_file()) continue;
    const std::string row = "\n" + fs::relative(entry.path(), kSamples).string() + ": ";
    INFO(row);
    CHECK(std::string(kExpected).find(row) != std::string::npos);
  }
}

}  // namespace sample_scripts_test
