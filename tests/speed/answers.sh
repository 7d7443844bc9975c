#!/bin/bash
# What answers cost as whole processes, as the table of docs/speed.md: answers.sh [--instructions] AFTER [BEFORE], two programs.
# CPU seconds (user and system) are the least of three runs; instructions are callgrind's, which other work on the machine does not change.
set -euo pipefail

cd "$(dirname "$0")/../.."
export FORETRAIN_PATH=$PWD
counts=0
[[ ${1:-} == --instructions ]] && counts=1 && shift
after=${1:?program} before=${2:-}
command -v valgrind >/dev/null || [[ $counts == 0 ]] || { echo "answers: valgrind is not installed" >&2; exit 3; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT

cpu_seconds() {
  for _ in 1 2 3; do
    /usr/bin/time -f '%U %S' -o "$log" "$@" >/dev/null 2>&1 && awk '{ print $1 + $2 }' "$log" || echo failed
  done | sort -g | head -n 1
}

million_instructions() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$@" >/dev/null 2>"$log" && awk '/Collected/ { printf "%.0f", $NF / 1e6 }' "$log" || echo failed
}

figure() { if [[ $counts == 1 ]]; then million_instructions "$@"; else cpu_seconds "$@"; fi; }

row() {
  local old=""
  [[ -n $before ]] && old=" $(figure "$before" "$@") |"
  echo "| \`$*\` |$old $(figure "$after" "$@") |"
}

unit=$([[ $counts == 1 ]] && echo "million instructions" || echo "CPU s")
if [[ -n $before ]]; then echo "| foretrain … | $unit before | $unit |" && echo "|---|---:|---:|"; else echo "| foretrain … | $unit |" && echo "|---|---:|"; fi
row list models
row predict mahti-resnet50-ddp
row predict mahti-resnet50-ddp --gpus 96
row predict mahti-resnet50-ddp --recommend --sensitivity
row compare puhti-resnet50-ddp --gpus 4
row collective --cluster mahti --op all_reduce --gpus 64 --sizes 8:1G:2
row collective --cluster star-1gpu --op all_reduce --gpus 256 --sizes 64M --fidelity chunk
row predict --model spiral_mlp --cluster dgx1-p100 --gpus 1,2
[[ $counts == 1 ]] && exit
row compare --model resnet50 --cluster leonardo --strategies ddp,horovod,zero1,fsdp,data_parallel --gpus 1,2,4,8,16,32,64,128,256,512,1024
row predict --model resnet50 --cluster alps-gh200
row predict --model gpt3_175b --cluster leonardo --strategy zero3 --gpus 1024
row predict --model gpt3_2_7b --cluster puhti --strategy byteps
row validate docs/measured/scaling.csv
row predict --model spiral_mlp --cluster fat-tree-8gpu
exit 0
