#!/bin/bash
# Prints the callgrind instruction counts of two fixed runs, so that later changes can be compared: instruction_counts.sh [FORETRAIN]
set -euo pipefail

cd "$(dirname "$0")/../.."
program=${1:-build/release/foretrain}
[[ -x $program ]] || { echo "instruction_counts: $program is not there; build it with cmake --workflow --preset release" >&2; exit 3; }
command -v valgrind >/dev/null || { echo "instruction_counts: valgrind is not installed" >&2; exit 3; }

# Callgrind slows a run down some fifty times, so both are small.
count() {
  local log
  log=$(mktemp)
  if valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$@" >/dev/null 2>"$log"; then
    printf '%15s  foretrain %s\n' "$(awk '/Collected/ { print $NF }' "$log")" "$*"
  else
    printf '%15s  foretrain %s\n' failed "$*"
    status=1
  fi
  rm -f "$log"
}

status=0
printf '%15s  run\n' instructions
count predict mahti-resnet50-ddp
count collective --cluster star-1gpu --op all_reduce --gpus 256 --sizes 64M --fidelity chunk
exit $status
