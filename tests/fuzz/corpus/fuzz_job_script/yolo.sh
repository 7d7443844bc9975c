#!/bin/bash
#SBATCH --gres=gpu:a100:4
export OMP_NUM_THREADS=8
yolo detect train model=yolo11m.pt data=coco.yaml batch=64 imgsz=640 device=0,1,2,3 epochs=100
