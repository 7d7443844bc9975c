#!/bin/sh
# The file of the strategy in CONTRIBUTING.md, which holds its options type, is in one object. Prints beside it what the options of the product's
# own strategies rebuild. Arguments: source tree, build folder.
set -eu
cd "$1"
for file in sim/strategy/ddp/ddp_options.hpp sim/strategy/zero/zero_options.hpp sim/strategy/options.hpp; do
  tools/rebuilt_by "$2" "$file" | head -n 1
done
own=$(tools/rebuilt_by "$2" toy/one_by_one.cpp)
echo "$own"
case $own in
  "toy/one_by_one.cpp: 1 of "*) ;;
  *) exit 1 ;;
esac
