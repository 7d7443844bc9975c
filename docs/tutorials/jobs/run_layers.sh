#!/bin/bash
set -e
python cifar.py --epochs=10 --batch-size=256 --workers=4
