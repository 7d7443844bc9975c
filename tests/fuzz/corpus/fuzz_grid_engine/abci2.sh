#!/bin/bash
# Written after docs.abci.ai/v2/en/job-execution and its Horovod page: resource types.
#$ -l rt_F=4
#$ -l h_rt=1:23:45
#$ -j y
#$ -cwd
#$ -g gaa50000

source /etc/profile.d/modules.sh
module load python/3.11 cuda/12.1 nccl/2.18 hpcx/2.12

NUM_GPUS_PER_NODE=4
NUM_PROCS=$(expr ${NHOSTS} \* ${NUM_GPUS_PER_NODE})
mpirun -np ${NUM_PROCS} --map-by ppr:${NUM_GPUS_PER_NODE}:node --mca pml ob1 python3 pytorch_imagenet_resnet50.py --batch-size 64
