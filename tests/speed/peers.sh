#!/bin/bash
# Prints time and peak memory of whole processes for the runs that other simulators were measured on: peers.sh [BUILD FOLDER]
set -euo pipefail

cd "$(dirname "$0")/../.."
build=${1:-build/release}
program=$build/foretrain
engine=$build/speed
status=0

# Name of the run, most seconds, most MB, then the command. On one core: the runs are single-threaded, and taskset keeps them on it.
measure() {
  local name=$1 most_seconds=$2 most_megabytes=$3 figures seconds kilobytes verdict=ok
  shift 3
  # The best of three: what else runs on the machine is not our subject.
  if ! figures=$(for _ in 1 2 3; do taskset -c 0 /usr/bin/time -f '%e %M' "$@" 2>&1 >/dev/null | tail -n 1; done | sort -g | head -n 1) ||
    [[ ! $figures =~ ^[0-9.]+\ [0-9]+$ ]]; then
    printf '%-62s %s\n' "$name" "failed: $*"
    status=1
    return
  fi
  read -r seconds kilobytes <<<"$figures"
  if awk "BEGIN { exit !($seconds > $most_seconds || $kilobytes / 1000 > $most_megabytes) }"; then
    verdict="over the limit"
    status=1
  fi
  printf '%-62s %6.2f s (<= %4s) %6.1f MB (<= %3s)  %s\n' "$name" "$seconds" "$most_seconds" \
    "$(awk "BEGIN { print $kilobytes / 1000 }")" "$most_megabytes" "$verdict"
}

# Name, limits, ranks.
measure_ring() {
  measure "$1" "$2" "$3" "$program" collective --cluster star-1gpu --op all_reduce --algorithm ring --gpus "$4" --sizes 64M --fidelity chunk
}

# Name, limits, case of chunk_speed.cpp.
measure_engine() { measure "$1" "$2" "$3" "$engine" "--benchmark_filter=^chunk_ring_on_$4/iterations:1\$"; }

if [[ -x $program ]]; then
  measure_ring "foretrain collective: 64 MiB ring, 1,024 ranks, chunk level" 0.2 40 1024
  measure_ring "foretrain collective: 64 MiB ring, 4,096 ranks, chunk level" 4 100 4096
  measure "foretrain collective: 8 B to 8 GiB on 1,024 GPUs" 0.3 200 \
    "$program" collective --cluster dgx-a100 --op all_reduce --gpus 1024 --sizes 8:8G:2
fi
if [[ -x $engine ]]; then
  measure_engine "engine: 64 MiB ring, 1,024 ranks in step" 0.2 40 star/ranks:1024/jitter:0/events:0
  measure_engine "engine: the same, 100 us of start jitter" 2 40 star/ranks:1024/jitter:1/events:0
  measure_engine "engine: the same, every message an event" 2 40 star/ranks:1024/jitter:1/events:1
  measure_engine "engine: 64 MiB ring, 4,096 ranks in step" 4 100 star/ranks:4096/jitter:0/events:0
  measure_engine "engine: the same, 100 us of start jitter" 33 100 star/ranks:4096/jitter:1/events:0
  # 2 x 255 x 256 transfers at 1 us.
  measure_engine "engine: 256 hosts on a fat tree 4:1, links serve in order" 0.13 40 fat_tree/share:0/jitter:0
  measure_engine "engine: the same, 100 us of start jitter" 0.13 40 fat_tree/share:0/jitter:1
  measure_engine "engine: the same, links share" 0.13 40 fat_tree/share:1/jitter:1
fi
echo "For comparison, 1,024 ranks: ASTRA-sim 2.1-3.4 s and 354 MB, LogGOPSim 0.90 s and 176 MB, SimGrid 4.5 s and 46 MB;"
echo "4,096 ranks: ASTRA-sim 75 s and 5.4 GB; 256 hosts on a fat tree 4:1: SimGrid 10-28 us a transfer."
exit $status
