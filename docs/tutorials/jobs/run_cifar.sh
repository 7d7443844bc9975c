#!/bin/bash
set -e
torchrun --standalone --nproc_per_node=$1 cifar.py --epochs=10 --batch-size=64
