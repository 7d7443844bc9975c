#!/bin/bash
# Nothing that is read here.
llamafactory-cli train examples/train_full/qwen3_full_sft.yaml
