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
expect "one_by_one" predict --help
expect "one_by_one" compare --help
expect "^  one_by_one  *[0-9.]* ms" compare $job
expect "^4 GPUs .*speedup" compare $job --strategies ddp,one_by_one
expect "with one_by_one, fp32" predict $job --strategy one_by_one
expect "strategy.compression.*one_by_one" reference scenario
expect "| .one_by_one. |" reference catalogs
# Its own option, which nothing but its file knows.
expect "strategy.waits.*one_by_one" reference scenario
expect "strategy.waits is an option of one_by_one, not of ddp" predict $job --strategy ddp --set strategy.waits=true
expect "strategy.waits.*true, false" reference scenario
expect 'did you mean "one_by_one"' compare $job --strategies one_by_two
