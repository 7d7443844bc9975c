#!/bin/bash
# CPU seconds of a build from nothing, per folder, as the table of docs/speed.md: tests/speed/build_time.sh [PRESET] [TARGET…]
set -euo pipefail

# As a compiler launcher (CMAKE_CXX_COMPILER_LAUNCHER): runs the compiler and notes what it took.
if [[ -n ${FORETRAIN_BUILD_TIMES:-} ]]; then
  TIMEFORMAT='%U %S'
  object=- previous=
  for argument in "$@"; do
    [[ $previous == -o ]] && object=$argument
    previous=$argument
  done
  code=0
  spent=$({ time "$@" >&3 2>&4 || code=$?; } 3>&1 4>&2 2>&1; exit $code) 3>&1 4>&2 || code=$?
  echo "$spent $object" >>"$FORETRAIN_BUILD_TIMES"
  exit "$code"
fi

cd "$(dirname "$0")/../.."
preset=${1:-release}
shift || true
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export FORETRAIN_BUILD_TIMES=$folder/times CCACHE_DISABLE=1
cmake --preset "$preset" -B "$folder/build" -DCMAKE_CXX_COMPILER_LAUNCHER="$PWD/tests/speed/build_time.sh" >/dev/null
ninja -C "$folder/build" --quiet "$@"

echo "| part | units | CPU s |"
echo "|---|---:|---:|"
# CMakeFiles/foretrain_report.dir/Unity/unity_0_cxx.cxx.o belongs to foretrain_report.
awk '{
  part = $3; sub(/^CMakeFiles\//, "", part); sub(/\.dir\/.*/, "", part); sub(/^.*CMakeFiles\//, "", part); sub(/^foretrain_/, "", part)
  if ($3 ~ /\.gch$/) part = "precompiled headers"
  seconds[part] += $1 + $2; units[part]++; all += $1 + $2; n++
} END {
  for (part in seconds) printf "%012.3f|| %s | %d | %.1f |\n", seconds[part], part, units[part], seconds[part] | "sort -r | cut -d\\| -f3- | sed \"s/^/|/\""
  close("sort -r | cut -d\\| -f3- | sed \"s/^/|/\"")
  printf "| all | %d | %.1f |\n", n, all
}' "$folder/times"
