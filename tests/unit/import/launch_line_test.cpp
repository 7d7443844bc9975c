// Launch lines in the forms that people write them.
#include "sim/import/launch_reader.hpp"
#include "sim/import/program_arguments.hpp"
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace launch_line_test {

using namespace foretrain;
using test::launch_of;
using test::open_lines;
using test::script_of;
using test::shown;
using test::slurm;

namespace {

/// On two nodes of four GPUs with four tasks each.
std::string launched(const std::string& commands) {
  return launch_of(slurm("-N 2 --ntasks-per-node=4 -c 8 --gres=gpu:4", commands));
}
/// The same with one task per node.
std::string once_a_node(const std::string& commands) {
  return launch_of(slurm("-N 2 --ntasks-per-node=1 -c 32 --gres=gpu:4", commands));
}

}  // namespace

TEST_CASE("python runs once") {
  CHECK(launched("python train.py") == "python 1 train.py");
  CHECK(launched("python3 -u train.py --epochs 3") == "python 1 train.py");
  CHECK(launched("time python3.11 -W ignore train.py") == "python 1 train.py");
  CHECK(launched("CUDA_VISIBLE_DEVICES=0 OMP_NUM_THREADS=4 python train.py > log 2>&1") ==
        "python 1 train.py");
  CHECK(launched("./train.py") == "python 1 ./train.py");
  CHECK(launched("kernprof -o x.lprof -l train.py --epochs=3") == "python 1 train.py");
  CHECK(launched("python -m mypackage.train --epochs 3") == "python 1 mypackage.train");
  CHECK(launched("conda run -n env python train.py") == "python 1 train.py");
  CHECK(launched("nsys profile -o report python train.py") == "python 1 train.py");
  CHECK(launched("numactl --cpunodebind=0 python train.py") == "python 1 train.py");
  CHECK(launched("timeout 3600 python train.py") == "python 1 train.py");
}

TEST_CASE("srun starts the job's tasks, or its own") {
  CHECK(launched("srun python train.py") == "srun 4 train.py");
  CHECK(launched("srun -n 2 python train.py") == "srun 1 train.py");
  CHECK(launched("srun -N1 -n4 python train.py") == "srun 4 train.py");
  CHECK(
      launched("srun --ntasks-per-node=2 --gpus-per-task 1 --cpu-bind=none --mpi pmix python -u train.py") ==
      "srun 2 train.py");
  CHECK(
      launched(
          "srun --label --kill-on-bad-exit=1 singularity exec --nv -B /scratch image.sif python train.py") ==
      "srun 4 train.py");
  CHECK(launched("srun --container-image=a.sqsh --container-name=b sh -c 'cd /w && python train.py'") ==
        "srun 4 train.py");
  CHECK(launched("srun apptainer run --nv image.sif python train.py") == "srun 4 train.py");
  CHECK(launched("srun bash -c \"python train.py --local_rank \\$SLURM_LOCALID\"") == "srun 4 train.py");
}

TEST_CASE("torchrun in its spellings") {
  CHECK(once_a_node("srun torchrun --nnodes=$SLURM_NNODES --nproc_per_node=4 train.py") ==
        "torchrun 4 train.py");
  CHECK(once_a_node("srun torchrun --nnodes 2 --nproc-per-node 4 --rdzv_backend c10d "
                    "--rdzv-endpoint=$H:29500 train.py --lr 1") == "torchrun 4 train.py");
  CHECK(once_a_node("srun python -m torch.distributed.run --nproc_per_node=gpu train.py") ==
        "torchrun 4 train.py");
  CHECK(once_a_node("python -m torch.distributed.launch --use_env --nproc_per_node=4 train.py") ==
        "torchrun 4 train.py");
  CHECK(once_a_node("torchrun --standalone --nproc_per_node=$SLURM_GPUS_ON_NODE -m pkg.train") ==
        "torchrun 4 pkg.train");
  CHECK(once_a_node("torchrun train.py") == "torchrun 1 train.py");
  CHECK(
      once_a_node("srun torchrun \\\n  --nproc_per_node=$((32 / SLURM_CPUS_PER_TASK * 4)) \\\n  train.py") ==
      "torchrun 4 train.py");
  CHECK(once_a_node("N=$(nvidia-smi -L | wc -l)\nsrun torchrun --nproc_per_node=$N train.py") ==
        "torchrun 4 train.py");
  CHECK(launched("srun torchrun --nproc_per_node=4 train.py") == "torchrun 16 train.py");
}

TEST_CASE("the beginning of an option that no other begins with is the option, as argparse has it") {
  CHECK(once_a_node("torchrun --nnodes=1 --nproc_per_nod=4 train.py") == "torchrun 4 train.py");
  CHECK(once_a_node("torchrun --standal --nproc-per-no 4 train.py") == "torchrun 4 train.py");
  CHECK(once_a_node("deepspeed --num_g=2 train.py") == "deepspeed 2 train.py");
  // rdzv_backend, rdzv_endpoint, …: nobody knows which.
  CHECK(whole_option_name("--rdzv", torchrun_syntax()) == "--rdzv");
  CHECK(whole_option_name("--rdzv-b", torchrun_syntax()) == "--rdzv-backend");
  // accelerate launch takes whole names only (allow_abbrev=False).
  CHECK(whole_option_name("--num-proc", accelerate_syntax()) == "--num-proc");
  const JobScript script = slurm("--gpus-per-n=4\n--cpus-per-t 8\n--parti gpu", "");
  CHECK(script.request.gpus_per_node->value == 4);
  CHECK(script.request.cpus_per_task->value == 8);
  CHECK(script.request.partition->value == "gpu");
  CHECK(slurm("--cpus=4").not_understood.size() == 1);  // per task or per GPU
}

TEST_CASE("a launcher that counts the GPUs itself starts no process where nobody knows them") {
  const JobScript open =
      slurm("-N 2\n-p batch", "HOSTFILE=hosts.txt\ndeepspeed --hostfile=$HOSTFILE train.py");
  CHECK(launch_of(open) == "deepspeed - train.py");
  CHECK(open.launch.follows_gpus);
  CHECK(launch_of(slurm("-N 1", "torchrun --nproc_per_node=gpu train.py")) == "torchrun - train.py");
  CHECK_THAT(open_lines(slurm("--gres=gpu:4", "torchrun --nproc_per_node=0 train.py")),
             ContainsSubstring("is no number of processes"));
}

TEST_CASE("llamafactory-cli starts torchrun on all GPUs, with the settings of its file") {
  const JobScript script =
      slurm("--gres=gpu:4\n-c 32", "FORCE_TORCHRUN=1 llamafactory-cli train a/full.yaml");
  CHECK(launch_of(script) == "torchrun 4 llamafactory-cli");
  CHECK(find_argument(script.launch.arguments, "settings")->value == "a/full.yaml");
  CHECK(launch_of(slurm("--gres=gpu:4", "llamafactory-cli export a.yaml")) == "- - -");
}

TEST_CASE("axolotl starts accelerate on all GPUs, unless it is told another launcher or number") {
  CHECK(once_a_node("axolotl train cfg.yml") == "accelerate 4 axolotl");
  CHECK(once_a_node("axolotl train cfg.yml --num-processes 2") == "accelerate 2 axolotl");
  CHECK(once_a_node("axolotl train cfg.yml --launcher torchrun -- --nproc_per_node=4") ==
        "torchrun 4 axolotl");
  CHECK(once_a_node("axolotl train cfg.yml --launcher=python") == "python 1 axolotl");
  CHECK(once_a_node("accelerate launch -m axolotl.cli.train cfg.yml") == "accelerate 4 axolotl.cli.train");
  CHECK(once_a_node("accelerate launch --num_processes 2 -m axolotl.cli.train cfg.yml") ==
        "accelerate 2 axolotl.cli.train");
  CHECK(once_a_node("accelerate launch --config_file a.yaml -m axolotl.cli.train cfg.yml") ==
        "accelerate - axolotl.cli.train");
  CHECK(once_a_node("python -m axolotl.cli.train cfg.yml") == "python 1 axolotl.cli.train");
  CHECK(once_a_node("axolotl preprocess cfg.yml") == "- - -");
  const JobScript script = slurm("-N 1 --gres=gpu:4", "accelerate launch -m axolotl.cli.train cfg.yml");
  REQUIRE(find_argument(script.launch.arguments, "settings") != nullptr);
  CHECK(find_argument(script.launch.arguments, "settings")->value == "cfg.yml");
}

TEST_CASE("litgpt starts a process for each of its devices, of which there is one unless it is told") {
  CHECK(once_a_node("litgpt pretrain m --devices 4 --train.micro_batch_size 2") == "lightning 4 litgpt");
  CHECK(once_a_node("litgpt finetune_full m --devices=2") == "lightning 2 litgpt");
  CHECK(once_a_node("litgpt pretrain m") == "lightning 1 litgpt");
  CHECK(launched("srun litgpt pretrain m --devices 4 --num_nodes 2") == "srun 4 litgpt");
  CHECK(once_a_node("litgpt download m") == "- - -");
  CHECK_THAT(open_lines(slurm("-N 1 --gres=gpu:4", "litgpt finetune m --devices 4")),
             ContainsSubstring("trains adapters"));
  const JobScript script = slurm("-N 1 --gres=gpu:4", "litgpt pretrain m --devices 4");
  REQUIRE(find_argument(script.launch.arguments, "strategy") != nullptr);
  CHECK(find_argument(script.launch.arguments, "strategy")->value == "fsdp");
}

TEST_CASE("containers of enroot, Podman-HPC and Shifter start the rest of their line") {
  CHECK(launched("srun --container-image=a#b:1 --container-mounts=/a:/a python train.py") ==
        "srun 4 train.py");
  CHECK(once_a_node("enroot start --rw --mount .:/w img torchrun --nproc_per_node=4 train.py") ==
        "torchrun 4 train.py");
  CHECK(once_a_node("podman-hpc run --rm --gpu img torchrun --nproc_per_node=4 train.py") ==
        "torchrun 4 train.py");
  CHECK(launched("srun shifter --image=a:b bash -c 'source env.sh; python train.py'") == "srun 4 train.py");
  CHECK(slurm("-N 1 --gres=gpu:4\n--image=nersc/pytorch:ngc\n--module=gpu", "").not_understood.empty());
}

TEST_CASE("CPUs that srun, jsrun and flux run bind tasks to") {
  CHECK(shown(slurm("-N 2\n--gpus-per-node=8", "srun --ntasks-per-node=8 -c 7 python t.py")
                  .resources.cpus_per_node) == "56");
  CHECK(shown(slurm("-N 1\n--ntasks-per-node=4\n-c 10\n--gres=gpu:4", "srun -c 2 python t.py")
                  .resources.cpus_per_node) == "40");
}

TEST_CASE("mpirun and horovodrun share their processes out over the nodes") {
  CHECK(launched("mpirun -np 8 -x NCCL_DEBUG=INFO --mca btl ^openib --bind-to none python train.py") ==
        "mpirun 4 train.py");
  CHECK(launched("mpirun python train.py") == "mpirun 4 train.py");
  CHECK(launched("mpiexec -n 2 -ppn 1 python train.py") == "mpirun 1 train.py");
  CHECK(launched("horovodrun -np 8 -H a:4,b:4 python train.py") == "horovodrun 4 train.py");
  CHECK(launched("horovodrun -np $SLURM_NTASKS --gloo python train.py") == "horovodrun 4 train.py");
}

TEST_CASE("accelerate, deepspeed and lightning") {
  CHECK(once_a_node("srun accelerate launch --multi_gpu --num_machines=2 --num_processes=8 "
                    "--machine_rank=$SLURM_NODEID train.py") == "accelerate 4 train.py");
  CHECK(once_a_node("accelerate launch --num_processes 4 train.py") == "accelerate 4 train.py");
  const JobScript config = slurm("--gres=gpu:4", "accelerate launch --config_file c.yaml train.py\n");
  CHECK(launch_of(config) == "accelerate - train.py");
  CHECK_THAT(open_lines(config), ContainsSubstring("3: how many processes is said in a configuration file"));
  CHECK(once_a_node("deepspeed --num_gpus=2 train.py --deepspeed ds.json") == "deepspeed 2 train.py");
  CHECK(once_a_node("deepspeed train.py") == "deepspeed 4 train.py");
  CHECK(once_a_node("fabric run --devices=4 --accelerator=cuda train.py") == "lightning 4 train.py");
}

TEST_CASE("what is no training is passed over") {
  CHECK(launched("srun hostname\npython --version\npython -c 'import torch'\npip install x.py\npython -m "
                 "venv v\nsrun --ntasks=1 "
                 "nvidia-smi\nsrun python train.py\n") == "srun 4 train.py");
  CHECK(launched("python prepare_data.py\nsrun python train.py\npython plot.py") == "srun 4 train.py");
  CHECK(launched("cat > train.sh <<'EOF'\npython other.py\nEOF\nsrun python train.py") == "srun 4 train.py");
  CHECK(launched("echo python train.py\n# python train.py") == "- - -");
}

TEST_CASE("several trainings one after the other are one, with a remark") {
  const JobScript script =
      slurm("--gres=gpu:1", "python train.py --lr 1 --epochs 5\npython train.py --lr 2 --epochs 5\n");
  CHECK(launch_of(script) == "python 1 train.py");
  CHECK(find_argument(script.launch.arguments, "epochs")->value == "5");
  REQUIRE(script.remarks.size() == 1);
  CHECK_THAT(script.remarks[0].why, ContainsSubstring("lines 3, 4 start programs one after the other"));
}

TEST_CASE("trainings in different ways are not understood") {
  const JobScript script =
      slurm("-N 1 --ntasks-per-node=2 --gres=gpu:2", "srun python a.py\ntorchrun --nproc_per_node=2 b.py\n");
  CHECK(launch_of(script) == "- 2 -");
  CHECK_THAT(open_lines(script), ContainsSubstring("lines 3, 4 start programs in different ways"));
}

TEST_CASE("conditions on what the request decides are followed, others are not guessed") {
  const std::string branches =
      "if [ \"$SLURM_NNODES\" -gt 1 ]; then\n srun torchrun --nproc_per_node=4 many.py\nelse\n python "
      "one.py\nfi\n";
  CHECK(once_a_node(branches) == "torchrun 4 many.py");
  CHECK(launch_of(slurm("--gres=gpu:1", branches)) == "python 1 one.py");
  CHECK(launch_of(slurm("--gres=gpu:1",
                        "if [ -f x ]; then\n N=2\nelse\n N=4\nfi\ntorchrun --nproc_per_node=$N train.py")) ==
        "torchrun - train.py");
  CHECK(once_a_node("W=$((SLURM_CPUS_PER_TASK / 4))\nif (( W > 4 )); then W=4; fi\ntorchrun "
                    "--nproc_per_node=$W train.py") == "torchrun 4 train.py");
}

TEST_CASE("variables are put in where the script sets them") {
  CHECK(once_a_node("GPUS=4\nLAUNCH=\"torchrun --nproc_per_node=$GPUS\"\nARGS=\"--epochs 3\"\nARGS+=\" "
                    "--workers 2\"\nsrun $LAUNCH train.py $ARGS") == "torchrun 4 train.py");
  CHECK(once_a_node("torchrun --nproc_per_node=${GPUS:-4} train.py") == "torchrun 4 train.py");
  CHECK(once_a_node("for lr in 1 2; do\n  python train.py --lr $lr\ndone") == "python 1 train.py");
  const JobScript open = slurm("--gres=gpu:4", "torchrun --nproc_per_node=$GPUS train.py\n");
  CHECK(launch_of(open) == "torchrun - train.py");
  CHECK(open_lines(open) == "3: its value is not known before the script runs");
}

TEST_CASE("launchers that are not known are named, and nothing is guessed") {
  const JobScript script = slurm("--gres=gpu:4", "lrun -n 4 -g 1 python train.py\n");
  CHECK(launch_of(script) == "- - -");
  CHECK(open_lines(script) == "3: lrun is no launcher that is read here");
}

TEST_CASE("scripts that are started by name are read when they lie beside") {
  const ScriptFinder find = [](const std::string& name) -> std::optional<SourceText> {
    if (name != "inner.sh") return std::nullopt;
    return SourceText{name, "#!/bin/bash\ntorchrun --nproc_per_node=$1 train.py\n"};
  };
  const JobScript script = script_of("#!/bin/bash\n#SBATCH --gres=gpu:2\nsrun bash inner.sh 2\n", find);
  CHECK(launch_of(script) == "torchrun 2 train.py");
  CHECK(script.launch.file == "inner.sh");
  const JobScript missing = script_of("#!/bin/bash\n#SBATCH --gres=gpu:2\nsource outer.sh\n", find);
  CHECK(open_lines(missing) == "3: starts another script, which is not read here");
}

TEST_CASE("arguments of the program that say something about the run are collected") {
  const JobScript script = slurm(
      "--gres=gpu:1",
      "python train.py -b 64 --max-epochs=9 --num-workers 4 --fp16 --strategy ddp --lr 0.1 --workers $W\n");
  const auto value = [&](const char* key) {
    const ProgramArgument* found = find_argument(script.launch.arguments, key);
    return found == nullptr ? std::string("-") : found->value;
  };
  CHECK(value("batch") == "64");
  CHECK(value("epochs") == "9");
  CHECK(value("workers") == "4");
  CHECK(value("fp16") == "true");
  CHECK(value("strategy") == "ddp");
  CHECK(open_lines(script) == "3: its value is not known before the script runs");
}

TEST_CASE("nothing that doubles itself makes the reader slow or large") {
  std::string text = "#!/bin/bash\n#SBATCH --gres=gpu:1\nA=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 200; ++i) text += "A=$A$A\n";
  text += "B='bash -c \"$B\"; bash -c \"$B\"'\nbash -c \"$B\"\n";
  for (int i = 0; i < 2000; ++i) text += "echo $A $A $A\n";
  CHECK(launch_of(script_of(text)) == "- - -");
}

}  // namespace launch_line_test
