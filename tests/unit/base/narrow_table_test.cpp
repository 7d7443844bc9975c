// Tables on a narrow terminal: blanks go, words and columns stay.
#include "sim/base/narrow_table.hpp"

#include "tests/support/catch.hpp"

namespace narrow_table_test {

using namespace foretrain;

TEST_CASE("of a table that is too wide the widest gap between columns loses blanks first, and keeps one") {
  const std::string table = "GPUs      step   total\n   1   42.6 ms    43 h\n";
  // Blank in both lines: 4 to 6 and 14 to 16, so each loses one of its three.
  CHECK(narrowed(table, 22) == table);
  CHECK(narrowed(table, 20) == "GPUs     step  total\n   1  42.6 ms   43 h\n");
  CHECK(narrowed(table, 1) == "GPUs    step total\n   1 42.6 ms  43 h\n");
}

TEST_CASE("characters of several bytes are one column, and what is no table stays as it is") {
  CHECK(narrowed("a    \u2588\u2588    b\n", 7) == "a \u2588\u2588  b\n");
  const std::string text = "One sentence that is longer than the terminal.\n\n  a command --with=options\n";
  CHECK(narrowed(text, 10) == text);
  CHECK(narrowed("a     b", 0) == "a     b");
  CHECK(narrowed("a     b", 3) == "a b");
}

}  // namespace narrow_table_test
