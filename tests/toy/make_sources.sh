#!/bin/sh
# Writes the sources of the strategy in CONTRIBUTING.md: its file, and the catalog with its two lines. Arguments: source tree, folder to write to.
set -eu
cd "$1"
mkdir -p "$2"

# The code block below the comment <!-- code: NAME -->.
block() {
  awk -v mark="<!-- code: $1 -->" '
    $0 == mark { wanted = 1; next }
    wanted && /^```/ { if (inside) exit; inside = 1; next }
    inside' CONTRIBUTING.md
}

block sim/strategy/one_by_one.cpp > "$2/one_by_one.cpp"

# Its first line is the declaration, which goes above the list of rows, its last the row, which goes to the end of the list.
lines=$(block sim/strategy/catalog.cpp)
awk -v declaration="$(printf '%s\n' "$lines" | head -n 1)" -v row="$(printf '%s\n' "$lines" | tail -n 1)" '
  /^const std::vector<StrategyEntry>& strategy_catalog/ { print declaration; print "" }
  /^  };/ && !done { print row; done = 1 }
  { print }' sim/strategy/catalog.cpp > "$2/catalog.cpp"
grep -q "one_by_one" "$2/one_by_one.cpp"
test "$(grep -c one_by_one "$2/catalog.cpp")" = 2
