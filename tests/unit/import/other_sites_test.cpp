// Job scripts as other sites write them: nodes, GPUs, GPUs per node, tasks, CPUs per task, launch.
#include "tests/support/catch.hpp"
#include "tests/unit/import/scripts.hpp"

namespace other_sites_test {

using namespace foretrain;
using test::shown;

namespace {

std::string read(const std::string& text) {
  const JobScript script = test::script_of(text);
  const JobResources& have = script.resources;
  return shown(have.nodes) + " " + shown(have.gpus) + " " + shown(have.gpus_per_node) + " " +
         shown(have.tasks) + " " + shown(have.cpus_per_task) + ": " + test::launch_of(script);
}

}  // namespace

TEST_CASE("NERSC: constraint and QOS, tasks with GPUs of their own, a container, hardware threads") {
  CHECK(read(R"(#!/bin/bash
#SBATCH -A m1234_g
#SBATCH -C gpu&hbm80g
#SBATCH -q regular
#SBATCH -t 1-00:00
#SBATCH -N2 --ntasks-per-node=4 -c 32
#SBATCH --gpus-per-task=1
export SLURM_CPU_BIND="cores"
srun -l --gpu-bind=none shifter --image=nersc/pytorch:24 bash -c "source setup.sh; python train.py --config=x --num_workers=8"
)") == "2 8 4 8 32: srun 4 train.py");
}

TEST_CASE("IDRIS: cores without hardware threads, an array, a pipe") {
  CHECK(read(R"(#!/usr/bin/env bash
#SBATCH --partition=gpu_p13
#SBATCH --constraint=v100-16g
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=4
#SBATCH --gres=gpu:4
#SBATCH --cpus-per-task=10
#SBATCH --hint=nomultithread
#SBATCH --array=0-3
#SBATCH --time=20:00:00
set -x
srun python -u script.py --batch-size 64 --epochs 10 | tee log.txt
)") == "4 16 4 16 10: srun 4 script.py");
}

TEST_CASE("a loop around mpirun, two options on a line, any kind of GPU") {
  CHECK(read(R"(#!/bin/bash
#SBATCH --gres=gpu:tesla:2
#SBATCH -n 8 -c 4
#SBATCH --mem-per-cpu=2G
module load mpi
for s in 1 2 3
do
  mpirun -np 8 -x NCCL_DEBUG -x LD_LIBRARY_PATH python train.py --seed $s
done
)") == "1 2 2 8 4: mpirun 8 train.py");
}

TEST_CASE("arguments in variables, letters for options, an inner shell") {
  CHECK(read(R"(#!/bin/bash
#SBATCH -p gpu -G 4 -N 1
#SBATCH --exclusive
GPUS_PER_NODE=${SLURM_GPUS_ON_NODE:-4}
WORLD_SIZE=$(($GPUS_PER_NODE*$SLURM_NNODES))
DISTRIBUTED_ARGS="
    --nproc_per_node $GPUS_PER_NODE \
    --nnodes $SLURM_NNODES \
    --master_port 6000
"
CMD="torchrun $DISTRIBUTED_ARGS pretrain_gpt.py --micro-batch-size 4 --global-batch-size 64 --bf16"
export LAUNCHER="python -u -m torch.distributed.run --nproc_per_node $GPUS_PER_NODE"
srun --jobid $SLURM_JOBID bash -c "$LAUNCHER --node_rank \$SLURM_PROCID train_b.py" 2>&1 | tee x
)") == "1 4 4 1 1: torchrun 4 train_b.py");
}

TEST_CASE("a launcher that a case decides is not guessed") {
  CHECK(read(R"(#!/bin/bash
#SBATCH --nodes=1
#SBATCH --gpus-per-node=a100:2
#SBATCH --time=90
case "$1" in
  ddp) LAUNCH="torchrun --nproc_per_node=2" ;;
  *) LAUNCH="python" ;;
esac
$LAUNCH train.py
)") == "1 2 2 1 1: - - -");
}

TEST_CASE("a launch line in a function with arguments") {
  CHECK(read(R"(#!/bin/bash
#SBATCH --job-name=x --nodes=2 --gres=gpu:8 --ntasks-per-node=1
train() {
  local nproc=$1
  srun torchrun --nnodes 2 --nproc_per_node 8 "$@" train.py \
     --accumulate_grad_batches 2  # comment
}
train 8 || { echo failed; exit 1; }
wait
)") == "2 16 8 2 1: torchrun 8 train.py");
}

TEST_CASE("Horovod over two nodes with hosts from a command") {
  CHECK(read(R"(#!/bin/bash
#SBATCH --nodes=2 --ntasks-per-node=2 --gres=gpu:k80:2 --cpus-per-task=6
HOSTS=$(scontrol show hostnames | sed 's/$/:2/' | paste -sd,)
horovodrun -np $SLURM_NTASKS -H $HOSTS --network-interface ib0 python3 train.py --epochs=4
)") == "2 4 2 4 6: horovodrun 2 train.py");
}

TEST_CASE("DeepSpeed with a host file, Lightning's own launcher, profiling of ranks") {
  CHECK(read("#!/bin/bash\n#SBATCH -N 2 --gpus-per-node=8 -c 64\ndeepspeed --hostfile=hosts "
             "--master_port=29500 train.py --deepspeed "
             "--deepspeed_config c.json\n") == "2 16 8 2 64: deepspeed 8 train.py");
  CHECK(read("#!/bin/bash\n#SBATCH -N 1 --gpus=2\nlightning run model --devices=2 --accelerator=cuda "
             "train.py\n") == "1 2 2 1 1: lightning 2 train.py");
  CHECK(read("#!/bin/bash\n#SBATCH -N 1 --gpus=2 -n 2\nsrun nsys profile -t cuda,nvtx -o r%q{SLURM_PROCID} "
             "python -m trainer.main --epochs "
             "1\n") == "1 2 2 2 1: srun 2 trainer.main");
}

TEST_CASE("an interactive allocation and its step") {
  CHECK(read("salloc -N 1 --gres=gpu:1 -t 30 srun python train.py\n") == "1 1 1 1 1: srun 1 train.py");
}

}  // namespace other_sites_test
