"""`foretrain record`: a training script, unchanged, runs as one pretend rank of N, without a GPU and without
computing; what it would issue in one optimizer step is written as a program file."""
