#!/bin/bash
# CPU time of the default `predict` of every catalog model on every catalog cluster: the slowest 20 and the distribution, in Markdown.
#
#   tests/speed/slowest_defaults.sh PROGRAM RESULTS [MODELS [CLUSTERS]]
#
# Run it in the root of a checkout (PROGRAM finds its catalogs there). MODELS and CLUSTERS are patterns (grep -E) of whole names; without
# them, all. Two runs at a time. RESULTS is a folder that keeps one line per run, `model cluster user+system-seconds exit-code`: started
# again with the same folder, only the missing pairs run.
set -euo pipefail
export LC_ALL=C

[[ $# -ge 2 && $# -le 4 ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
program=$1 results=$2 models=${3:-.*} clusters=${4:-.*}
jobs=2
mkdir -p "$results"
touch "$results/job0.tsv" "$results/job1.tsv"

# names WHAT PATTERN: those of the catalog.
names() { "$program" list "$1" | awk '{ print $1 }' | grep -xE "$2"; }

wanted_pairs() {
  local model cluster all_models
  all_models=$(names models "$models")
  for cluster in $(names clusters "$clusters"); do
    for model in $all_models; do printf '%s\t%s\n' "$model" "$cluster"; done
  done | sort
}

finished_pairs() { cut -f 1,2 "$results"/job[01].tsv | sort -u; }

# run_pairs JOB: those of its lines whose number leaves JOB.
run_pairs() {
  local model cluster code seconds
  TIMEFORMAT='%U %S'
  awk -v job="$1" -v jobs="$jobs" 'NR % jobs == job' "$results/missing" | while IFS=$'\t' read -r model cluster; do
    code=0
    seconds=$({ time "$program" predict --model "$model" --cluster "$cluster" >/dev/null 2>&1 </dev/null; } 2>&1) || code=$?
    awk -v m="$model" -v c="$cluster" -v s="$seconds" -v code="$code" \
      'BEGIN { split(s, part, " "); printf "%s\t%s\t%.3f\t%d\n", m, c, part[1] + part[2], code }' >>"$results/job$1.tsv"
  done
}

# Nearest rank: the smallest time that so many percent of the runs do not exceed.
distribution() {
  sort -n -k 3,3 "$results/wanted" | awk '
    { seconds[NR] = $3; sum += $3; if ($4 != 0) failed++ }
    function rank(percent,  at) { at = int((percent * NR + 99) / 100); return seconds[at < 1 ? 1 : at] }
    END {
      print "| runs | that failed | median | p90 | p99 | most | all together |"
      print "|---|---|---|---|---|---|---|"
      printf "| %d | %d | %.3f s | %.3f s | %.3f s | %.3f s | %.0f s |\n", NR, failed, rank(50), rank(90), rank(99), seconds[NR], sum
    }'
}

slowest() {
  echo "| model | cluster | CPU time |"
  echo "|---|---|---|"
  sort -k 3,3nr -k 1,2 "$results/wanted" | awk 'NR <= 20 { printf "| %s | %s | %.3f s |\n", $1, $2, $3 }'
}

wanted_pairs >"$results/pairs"
finished_pairs | comm -23 "$results/pairs" - >"$results/missing"
echo "$(wc -l <"$results/missing") of $(wc -l <"$results/pairs") pairs to run" >&2
run_pairs 0 &
run_pairs 1 &
wait
awk -F '\t' 'NR == FNR { wanted[$1, $2]; next } ($1, $2) in wanted' "$results/pairs" "$results"/job[01].tsv >"$results/wanted"

distribution
echo
slowest
