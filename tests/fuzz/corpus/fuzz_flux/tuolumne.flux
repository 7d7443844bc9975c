#!/bin/bash
# Written after hpc-tutorials.llnl.gov/flux and flux-batch(1).
#flux: -N 2
#flux: -n 2
#flux: --gpus-per-slot=4
#flux: --cores-per-slot=96
#flux: -t 30m
#flux: --queue=pbatch
#flux: --bank=guests

flux run -N 2 -n 8 -c 24 -g 1 python train.py --batch-size 16
