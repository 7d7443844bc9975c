// Job scripts on the command line: predict, compare and job show, with their exit codes.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/program_text.hpp"
#include "tests/unit/app/temporary_folder.hpp"

namespace job_test {

using namespace foretrain;
using test::ProgramRun;
using test::TemporaryFolder;

namespace {

constexpr const char* kScript =
    "#!/bin/bash\n#SBATCH --partition=gputest\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:4\n#SBATCH "
    "--cpus-per-task=40\n#SBATCH --time=1\n"
    "srun torchrun --standalone --nproc_per_node=2 train.py --epochs 2 --batch-size 64\n";

ProgramRun predict(const std::string& text, const std::string& options) {
  const TemporaryFolder folder;
  folder.write("job.sbatch", text);
  return folder.run("foretrain predict job.sbatch " + options);
}

}  // namespace

TEST_CASE("predict reads a job script: reserved GPUs and one, its warnings with their lines") {
  const ProgramRun run = predict(kScript, "--model mnist_net --set data.samples=60000");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, StartsWith("This job uses 2 of its 4 GPUs. With one process for each GPU, "));
  CHECK_THAT(run.output, ContainsSubstring("mnist_net on puhti with ddp"));
  CHECK_THAT(run.output,
             ContainsSubstring("job.sbatch:7: 2 of 4 GPUs on a node will idle: 2 processes there"));
  CHECK_THAT(run.output, ContainsSubstring("job.sbatch:2: gputest is for tests"));
}

TEST_CASE("a time limit that is too short is said with its line") {
  const ProgramRun run = predict(kScript, "--model resnet50 --set data.samples=1281167");
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("job.sbatch:6: a time limit of 0:01:00 is too short"));
}

TEST_CASE("options of predict count over what the script says") {
  const ProgramRun run = predict(
      kScript, "--model mnist_net --cluster mahti --gpus 2 --strategy horovod --set launch.with=horovodrun");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output, ContainsSubstring("mnist_net on mahti with horovod"));
}

TEST_CASE("without a model, a cluster or a GPU the script cannot be predicted") {
  CHECK_THAT(predict(kScript, "").output,
             ContainsSubstring("job.sbatch does not say which network it trains") &&
                 ContainsSubstring("--model NAME"));
  const ProgramRun no_cluster =
      predict("#!/bin/bash\n#SBATCH --gres=gpu:1\npython t.py\n", "--model mnist_net");
  CHECK(no_cluster.exit_code == 1);
  CHECK_THAT(no_cluster.output,
             ContainsSubstring("which cluster is it for?") && ContainsSubstring("--cluster NAME"));
  const ProgramRun no_gpu =
      predict("#!/bin/bash\n#SBATCH --gres=gpu:0\npython t.py\n", "--model mnist_net --cluster puhti");
  CHECK(no_gpu.exit_code == 1);
  CHECK_THAT(no_gpu.output, ContainsSubstring("job.sbatch:2:9: error: reserves no GPU"));
}

TEST_CASE("a job script whose program was recorded is predicted and checked by the recording") {
  const TemporaryFolder folder;
  folder.write("job.sbatch",
               "#!/bin/bash\n#SBATCH --partition=gpumedium\n#SBATCH --nodes=2\n#SBATCH --gres=gpu:a100:4\n"
               "#SBATCH --cpus-per-task=128\n#SBATCH --time=1:00:00\nsrun torchrun --nnodes 2 "
               "--nproc-per-node 4 --rdzv_backend c10d --rdzv_endpoint $H:29500 train.py --batch-size 64\n");
  folder.write("step.toml", test::program_text({.ranks = 8}));
  const ProgramRun predicted = folder.run("foretrain predict job.sbatch --cluster mahti --program step.toml");
  INFO(predicted.output);
  CHECK(predicted.exit_code == 0);
  CHECK_THAT(predicted.output, StartsWith("On 8 GPUs, a step takes "));
  CHECK_THAT(predicted.output, ContainsSubstring("as it was recorded"));
  const ProgramRun checked = folder.run("foretrain job check job.sbatch --cluster mahti --program step.toml");
  INFO(checked.output);
  CHECK(checked.exit_code == 0);
  CHECK_THAT(checked.output,
             StartsWith("On 8 GPUs, a step takes ") && !ContainsSubstring("that takes the network"));
  const ProgramRun missing = folder.run("foretrain job check job.sbatch --cluster mahti --program no.toml");
  CHECK(missing.exit_code == 1);
  CHECK_THAT(missing.output, ContainsSubstring("no.toml"));
}

TEST_CASE("a script is never run") {
  const TemporaryFolder folder;
  folder.write("job.sbatch",
               "#!/bin/bash\n#SBATCH --gres=gpu:$(touch a)\nX=$(touch b)\ntouch c\n`touch d`\npython t.py "
               "$(touch e)\n");
  const std::size_t before = folder.entries();
  folder.run("foretrain predict job.sbatch --model mnist_net --cluster puhti");
  CHECK(folder.run("foretrain job show job.sbatch").exit_code == 0);
  CHECK(folder.entries() == before);
}

TEST_CASE("job show prints fields, scenario and what was not understood, and JSON of the same") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", kScript);
  folder.write(
      "odd.sh",
      "#!/bin/bash\n#SBATCH --gres=gpu:2\n#SBATCH --colour=red\ntorchrun --nproc_per_node=$N train.py\n");
  const ProgramRun table = folder.run("foretrain job show job.sbatch");
  CHECK(table.exit_code == 0);
  CHECK_THAT(table.output, ContainsSubstring("  processes per node  2                            line 7\n"));
  CHECK_THAT(table.output, ContainsSubstring("Cluster: puhti"));
  const ProgramRun odd = folder.run("foretrain job show odd.sh --cluster puhti");
  CHECK_THAT(odd.output, ContainsSubstring("warning: odd.sh:3: not understood: \"--colour=red\""));
  CHECK_THAT(odd.output, ContainsSubstring("warning: odd.sh:4: not understood: \"--nproc-per-node $N\""));
  const ProgramRun json = folder.run("foretrain job show odd.sh --format json");
  CHECK_THAT(json.output, ContainsSubstring("\"schema\": \"foretrain.job/1\""));
  CHECK_THAT(json.output, ContainsSubstring("\"processes_per_node\": null"));
  CHECK(folder.run("foretrain job show missing.sh").exit_code == 1);
  folder.write("s.toml", "[model]\nname = \"mnist_net\"\n");
  CHECK_THAT(folder.run("foretrain job show s.toml").output, ContainsSubstring("is no job script"));
}

TEST_CASE("the network that the training program is told is taken for the catalog's, with a note") {
  const auto script = [](const std::string& arguments) {
    return std::string(
               "#!/bin/bash\n#SBATCH --partition=gpu\n#SBATCH --nodes=1\n#SBATCH --gres=gpu:v100:4\n") +
           "#SBATCH --cpus-per-task=40\nsrun torchrun --nproc_per_node=4 main.py " + arguments + "\n";
  };
  for (const char* arguments : {"-a resnet101", "--arch=ResNet-101", "--model resnet101 -b 64"}) {
    const ProgramRun run = predict(script(arguments), "--gpus 4");
    INFO(run.output);
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.output, ContainsSubstring("resnet101 on puhti") &&
                               ContainsSubstring("is taken for the catalog's model resnet101"));
  }
  CHECK_THAT(predict(script("-a resnet101"), "--gpus 4 --model resnet18").output,
             ContainsSubstring("resnet18 on puhti") && !ContainsSubstring("is taken for"));
  const ProgramRun unknown = predict(script("--arch resnet77"), "");
  CHECK(unknown.exit_code == 1);
  CHECK_THAT(unknown.output, ContainsSubstring("line 6 says --arch resnet77, did you mean \"resnet"));
  CHECK(predict(script("--model ../../etc/passwd"), "").exit_code == 1);

  const TemporaryFolder folder;
  folder.write("job.sbatch", script("-a resnet101"));
  CHECK_THAT(folder.run("foretrain job show job.sbatch").output,
             ContainsSubstring("name = \"resnet101\"") && ContainsSubstring("# line 6: -a\n"));
}

TEST_CASE("compare takes a job script") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", kScript);
  const ProgramRun run = folder.run("foretrain compare job.sbatch --model mnist_net --strategies ddp,dp");
  INFO(run.output);
  CHECK(run.exit_code == 0);
}

TEST_CASE("hostile job scripts are reported within seconds") {
  const TemporaryFolder folder;
  std::string big = "#!/bin/bash\n#SBATCH --gres=gpu:1\n";
  while (big.size() < 10'000'000) big += "echo $HOME $(date) \"$(cat x)\" <<EOF\nEOF\n";
  folder.write("big.sbatch", big);
  CHECK_THAT(folder.run("foretrain predict big.sbatch --model mnist_net").output,
             ContainsSubstring("big.sbatch: error: is larger than 4194304 bytes"));
  folder.write("large.sbatch", big.substr(0, 4'000'000));
  CHECK(folder.run("foretrain predict large.sbatch --model mnist_net --cluster puhti").exit_code == 0);
  std::string wrong = "#!/bin/bash\n";
  for (int i = 0; i < 50'000; ++i) wrong += "#SBATCH --wrong" + std::to_string(i) + "=1\n";
  folder.write("wrong.sbatch", wrong);
  const ProgramRun run = folder.run("foretrain job show wrong.sbatch");
  CHECK(run.exit_code == 0);
  CHECK(run.output.size() < 50'000);
}

TEST_CASE("job check says what is wrong before the job is submitted, each with its line") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", kScript);
  const ProgramRun run =
      folder.run("foretrain job check job.sbatch --model resnet50 --set data.samples=1281167");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.output,
             ContainsSubstring("warning: job.sbatch:7: 2 of 4 GPUs on a node will idle: 2 processes there"));
  CHECK_THAT(run.output,
             ContainsSubstring("warning: job.sbatch:7: --batch-size 64 is of each process: 2 of them train "
                               "on 128 samples a step"));
  CHECK_THAT(run.output, ContainsSubstring("warning: job.sbatch:6: a time limit of 0:01:00 is too short"));
  const ProgramRun json = folder.run("foretrain job check job.sbatch --format json");
  CHECK_THAT(json.output, ContainsSubstring("\"schema\": \"foretrain.job_check/1\""));
  CHECK_THAT(json.output,
             ContainsSubstring("\"message\": \"2 of 4 GPUs on a node will idle: 2 processes there\""));
  CHECK_THAT(json.output, ContainsSubstring("\"what\": \"the time limit\""));
  folder.write("open.sh", "#!/bin/bash\n#SBATCH --time=10\n#SBATCH --gres=gpu:a100:2\nsrun python t.py\n");
  const ProgramRun open = folder.run("foretrain job check open.sh");
  INFO(open.output);
  CHECK_THAT(open.output, ContainsSubstring("not checked: nodes and partitions; "));
  CHECK_THAT(open.output,
             ContainsSubstring("the time limit; that takes the cluster (--cluster NAME), the network "
                               "(--model NAME), the data set's size (--set data.samples=N)"));
  CHECK_THAT(open.output, !ContainsSubstring("error:"));
  const ProgramRun bare = folder.run("foretrain job check job.sbatch");
  CHECK_THAT(bare.output, ContainsSubstring("not checked: the time limit; that takes "));
}

TEST_CASE("job check ends with 1 for what the batch system would refuse, and says when nothing is wrong") {
  const TemporaryFolder folder;
  folder.write("bad.sbatch",
               "#!/bin/bash\n#SBATCH --partition=gpusmall\n#SBATCH --gres=gpu:a100:4\n#SBATCH "
               "--cpus-per-task=32\nsrun torchrun --nproc_per_node=4 t.py\n");
  const ProgramRun bad = folder.run("foretrain job check bad.sbatch");
  CHECK(bad.exit_code == 1);
  CHECK_THAT(
      bad.output,
      ContainsSubstring("bad.sbatch:3:9: error: 4 GPUs, but a job gets at most 2 in partition gpusmall"));
  folder.write("good.sbatch",
               "#!/bin/bash\n#SBATCH --partition=gpumedium\n#SBATCH --gres=gpu:a100:4\n#SBATCH "
               "--cpus-per-task=128\nsrun torchrun --nproc_per_node=4 t.py\n");
  const ProgramRun good = folder.run("foretrain job check good.sbatch");
  INFO(good.output);
  CHECK(good.exit_code == 0);
  CHECK_THAT(good.output, ContainsSubstring("good.sbatch: nothing wrong is seen\n"));
}

TEST_CASE("job check answers first, in the words of predict, and its JSON says the same") {
  const TemporaryFolder folder;
  folder.write("job.sbatch", kScript);
  const std::string known = " --model resnet50 --set data.samples=1281167";
  const auto answer_of = [&](const std::string& command) {
    const std::string text = folder.run("foretrain " + command + " --format json").output;
    const std::size_t begin = text.find('{'), end = text.rfind("\n}\n") + 2;  // warnings stand beside it
    return nlohmann::json::parse(text.substr(begin, end - begin))["answer"];
  };
  const auto first = [&](const std::string& command) {
    std::string text = folder.run("foretrain " + command).output;
    std::ranges::replace(text, '\n', ' ');
    return text;
  };
  const nlohmann::json checked = answer_of("job check job.sbatch" + known);
  CHECK(checked == answer_of("predict job.sbatch" + known));
  CHECK(checked["kind"] == "idle_gpus");
  CHECK_THAT(first("job check job.sbatch" + known), StartsWith(checked["verdict"].get<std::string>()));
  // Without the network only its time is unknown.
  const nlohmann::json unknown = answer_of("job check job.sbatch");
  CHECK(unknown["kind"] == "idle_gpus");
  CHECK_THAT(checked["verdict"].get<std::string>(), StartsWith(unknown["verdict"].get<std::string>()));
  CHECK(checked["action"] == unknown["action"]);
  folder.write("bad.sbatch",
               "#!/bin/bash\n#SBATCH --partition=gpusmall\n#SBATCH --gres=gpu:a100:4\nsrun torchrun "
               "--nproc_per_node=4 t.py\n");
  CHECK_THAT(
      first("job check bad.sbatch"),
      ContainsSubstring("The job would not start: 4 GPUs, but a job gets at most 2 in partition gpusmall"));
  folder.write("open.sh", "#!/bin/bash\n#SBATCH --gres=gpu:a100:2\nsrun python t.py\n");
  CHECK(answer_of("job check open.sh")["kind"] == "cannot_say");
}

TEST_CASE("job check of a container: /dev/shm that nobody enlarged, and one that is too small") {
  const TemporaryFolder folder;
  const std::string head =
      "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - name: a\n    command: [torchrun, "
      "--nproc_per_node=4, "
      "train.py, --batch-size=64, --workers=8]\n    resources: {limits: {nvidia.com/gpu: 4, cpu: 32}}\n";
  folder.write("none.yaml", head);
  CHECK_THAT(folder.run("foretrain job check none.yaml").output,
             ContainsSubstring("warning: none.yaml:6: 8 loader workers hand their batches over in /dev/shm"));
  folder.write("small.yaml",
               head +
                   "    volumeMounts: [{name: shm, mountPath: /dev/shm}]\n  volumes:\n  - {name: shm, "
                   "emptyDir: {medium: Memory, sizeLimit: 1Gi}}\n");
  // 4 processes x 8 workers x 2 batches x 64 samples x (3 x 224 x 224 x 4 + 8) bytes = 2.47 GB.
  const ProgramRun run = folder.run("foretrain job check small.yaml --cluster dgx-a100 --model resnet50");
  INFO(run.output);
  CHECK_THAT(run.output,
             ContainsSubstring("of /dev/shm is too small: each of 4 processes has 8 loader workers, which "
                               "keep 2 batches ready each, 2.47 GB in all"));
}

TEST_CASE("job check says that pods are nodes to NCCL, where there are several") {
  const TemporaryFolder folder;
  const auto checked = [&](int pods) {
    folder.write(
        "job.yaml",
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec:\n  pytorchReplicaSpecs:\n    Worker:\n      "
        "replicas: " +
            std::to_string(pods) +
            "\n      template:\n        spec:\n          containers:\n          - name: pytorch\n            "
            "command: [python, train.py]\n            resources: {limits: {nvidia.com/gpu: 1}}\n");
    return folder.run("foretrain job check job.yaml").output;
  };
  const std::string four = checked(4);
  INFO(four);
  CHECK_THAT(four, ContainsSubstring("warning: job.yaml:6: 4 pods of 1 GPU each are so many nodes to NCCL"));
  CHECK(checked(1).find("nodes to NCCL") == std::string::npos);
}

TEST_CASE("predict writes a job script for the batch system that is asked for") {
  const TemporaryFolder folder;
  const ProgramRun run = folder.run(
      "foretrain predict --model resnet50 --cluster polaris --gpus 1,8 --set data.samples=1281167 --epochs "
      "90 "
      "--recommend --job-script job.pbs --job-system pbs");
  INFO(run.output);
  CHECK(run.exit_code == 0);
  const ProgramRun shown = folder.run("foretrain job show job.pbs");
  CHECK_THAT(shown.output, ContainsSubstring("job.pbs: a job script of PBS"));
  CHECK(folder.run("foretrain job check job.pbs --cluster polaris").exit_code == 0);
}

TEST_CASE(
    "job check --brief says at most three lines, none of a good job, and exits as the job would start") {
  const TemporaryFolder folder;
  const auto brief = [&](const std::string& text, const std::string& options = "") {
    folder.write("job.sh", text);
    return folder.run("foretrain job check job.sh --brief " + options);
  };
  const std::string asks = "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=32\n";
  const ProgramRun idle = brief(asks + "srun torchrun --nproc_per_node=2 train.py\n");
  CHECK(idle.output == "foretrain: 2 of 4 GPUs on a node will idle: 2 processes there\n");
  CHECK(idle.exit_code == 0);
  const ProgramRun refused = brief(asks + "srun torchrun --nproc_per_node=8 train.py\n");
  CHECK(refused.output ==
        "foretrain: error: 8 processes on a node for 4 GPUs: NCCL refuses two on one GPU\n");
  CHECK(refused.exit_code == 1);
  CHECK(brief(asks + "srun torchrun --nproc_per_node=4 train.py --batch-size 64\n").output.empty());
  CHECK(brief("#!/bin/bash\n#SBATCH --ntasks=4\nsrun ./solver\n").output.empty());
  const ProgramRun other = brief("nothing of a job\n");
  CHECK(other.output.empty());
  CHECK(other.exit_code == 0);
  const ProgramRun many = brief(
      "#!/bin/bash\n#SBATCH --partition=gputest\n#SBATCH --gres=gpu:v100:4\n#SBATCH --nodes=2\n"
      "#SBATCH --time=3-00:00:00\ntorchrun --nnodes=2 --nproc_per_node=2 train.py\n",
      "--cluster puhti");
  INFO(many.output);
  CHECK(std::ranges::count(many.output, '\n') == 3);
  CHECK_THAT(many.output, ContainsSubstring("more: foretrain job check job.sh\n"));
}

TEST_CASE("options of sbatch's line come before the script's own in --brief") {
  const TemporaryFolder folder;
  folder.write("job.sh",
               "#!/bin/bash\n#SBATCH --gres=gpu:4\n#SBATCH --cpus-per-task=32\n\n"
               "srun torchrun --nproc_per_node=2 train.py\n");
  const std::string check = "foretrain job check job.sh --brief ";
  CHECK(folder.run(check + "--options='--gres=gpu:2'").output.empty());
  CHECK_THAT(folder.run(check + "--options='--gres=gpu:8 -c 4'").output,
             ContainsSubstring("4 CPUs for 8 GPUs") && ContainsSubstring("6 of 8 GPUs on a node will idle"));
  CHECK(folder.run("foretrain job check job.sh --options=--gres=gpu:2").exit_code == 2);
}

}  // namespace job_test
