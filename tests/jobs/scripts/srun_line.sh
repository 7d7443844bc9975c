#!/bin/bash
srun -p gpumedium -N 2 --gres=gpu:a100:4 --ntasks-per-node=4 -c 32 python train.py --batch-size 64
