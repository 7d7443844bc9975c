#!/bin/sh
# Written after t4.gsic.titech.ac.jp/docs/handbook.en/jobs: resource types.
#$ -cwd
#$ -l node_f=2
#$ -l h_rt=0:10:00
#$ -N sample

module load cuda openmpi
mpirun -npernode 4 -n 8 -x LD_LIBRARY_PATH python train.py
