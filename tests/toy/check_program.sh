#!/bin/sh
# One new file and one row make a strategy appear in lists, help, the reference, predictions and comparisons. Argument: the program with them.
set -eu
program=$1

# expect TEXT ARGUMENT…: the output of the program called so holds TEXT.
expect() {
  text=$1
  shift
  if ! "$program" "$@" 2>&1 | grep -q -e "$text"; then
    echo "no \"$text\" in: foretrain $*"
    exit 1
  fi
}

job="--model mnist_net --cluster puhti --gpus 4"
expect "^one_by_one  *every gradient all-reduced by itself" list strategies
expect "one_by_one" predict --help-all
expect "one_by_one" compare --help-all
expect "^  one_by_one  *[0-9.]* ms" compare $job
expect "^4 GPUs .*speedup" compare $job --strategies ddp,one_by_one
expect "with one_by_one, fp32, batch" predict $job --strategy one_by_one
expect "strategy.compression.*one_by_one" reference scenario
expect "| .one_by_one. |" reference catalogs
# Its own option, which nothing but its file knows.
expect "strategy.waits.*one_by_one" reference scenario
expect "strategy.waits is an option of one_by_one, not of ddp" predict $job --strategy ddp --set strategy.waits=true
expect 'did you mean "one_by_one"' compare $job --strategies one_by_two

# step OPTION…: seconds of a step of ResNet-50 on 4 GPUs.
step() {
  "$program" predict --model resnet50 --cluster puhti --gpus 4 --strategy one_by_one --format csv "$@" |
    awk -F, 'NR == 1 { for (i = 1; i <= NF; ++i) if ($i == "step_s") column = i } NR == 2 { print $column }'
}
beside=$(step)
waiting=$(step --set strategy.waits=true)
if ! awk -v a="$beside" -v b="$waiting" 'BEGIN { exit !(a > 0 && b > 1.01 * a) }'; then
  echo "waiting for every sum does not take longer: $beside s, then $waiting s"
  exit 1
fi
