// What people see when their input is wrong, asserted whole.
#include "sim/base/diagnostics.hpp"

#include <algorithm>

#include "tests/support/catch.hpp"

namespace diagnostics_test {

using namespace foretrain;

namespace {

/// Valid UTF-8 in the sense of no byte outside a sequence (overlong forms aside).
bool is_utf8(std::string_view text) {
  std::size_t expected = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (expected > 0) {
      if ((byte & 0xC0) != 0x80) return false;
      --expected;
    } else if (byte >= 0x80) {
      if ((byte & 0xE0) == 0xC0)
        expected = 1;
      else if ((byte & 0xF0) == 0xE0)
        expected = 2;
      else if ((byte & 0xF8) == 0xF0)
        expected = 3;
      else
        return false;
    }
  }
  return expected == 0;
}

std::string repeated(std::string_view text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

}  // namespace

TEST_CASE("a mistake shows its place, its line with a caret, and a hint") {
  const Diagnostic d{
      "a.toml", {3, 8, 5}, "name = puhtj", "unknown cluster \"puhtj\"", "did you mean \"puhti\"?"};
  CHECK(format(d) ==
        "a.toml:3:8: error: unknown cluster \"puhtj\"\n"
        "  3 | name = puhtj\n"
        "    |        ^^^^^\n"
        "  hint: did you mean \"puhti\"?\n");
}

TEST_CASE("a mistake of the whole file has no line, one of the command line no file") {
  CHECK(format(Diagnostic{"a.toml", {}, "", "is empty", ""}) == "a.toml: error: is empty\n");
  CHECK(format(Diagnostic{"", {}, "", "no model given", "add --model"}) ==
        "error: no model given\n  hint: add --model\n");
}

TEST_CASE("the caret stands under the character, not the byte") {
  // "ä" and "µ" are two bytes each: the equals sign is byte 6 but the fourth character.
  CHECK(format(Diagnostic{"f", {1, 6, 1}, "äµb=1", "bad", ""}) ==
        "f:1:6: error: bad\n  1 | äµb=1\n    |    ^\n");
  CHECK(format(Diagnostic{"f", {1, 1, 4}, "äµ=1", "bad", ""}) == "f:1:1: error: bad\n  1 | äµ=1\n    | ^^\n");
}

TEST_CASE("the margin is as wide as the line number") {
  CHECK(format(Diagnostic{"f", {1234, 2, 1}, "ab", "bad", ""}) ==
        "f:1234:2: error: bad\n  1234 | ab\n       |  ^\n");
}

TEST_CASE("a tab counts as one column and control characters are written out") {
  CHECK(format(Diagnostic{"f\x1b", {1, 2, 1}, "\tx\x1b[31m\x07", "bad\nthing", "do\r"}) ==
        "f\\u001b:1:2: error: bad\\u000athing\n  1 |  x\\u001b[31m\\u0007\n    |  ^\n  hint: do\\u000d\n");
}

TEST_CASE("the caret stands under what it marks, behind and under characters that are written out") {
  // ESC takes six columns as \u001b, so the letter x, byte 4, is in column 9; the mark of direction, three
  // bytes, takes six as well.
  CHECK(format(Diagnostic{"f", {1, 4, 1}, "a\x1b[x", "bad", ""}) ==
        "f:1:4: error: bad\n  1 | a\\u001b[x\n    |         ^\n");
  CHECK(format(Diagnostic{"f", {1, 2, 3}, "a\u202eb", "bad", ""}) ==
        "f:1:2: error: bad\n  1 | a\\u202eb\n    |  ^^^^^^\n");
}

TEST_CASE("a long line is cut to a hundred bytes around the caret") {
  const std::string line = repeated("a", 500) + "!" + repeated("b", 500);
  const std::string text = format(Diagnostic{"f", {1, 501, 1}, line, "bad", ""});
  // Column 501: the window starts 50 before it, so 50 a, the mark and 49 b.
  CHECK(text == "f:1:501: error: bad\n  1 | " + repeated("a", 50) + "!" + repeated("b", 49) + "\n    | " +
                    repeated(" ", 50) + "^\n");
}

TEST_CASE("the window never cuts a character in two") {
  for (const char* character : {"ä", "…", "😀"}) {
    const std::string line = "x" + repeated(character, 300);
    for (int column = 1; column < 300; ++column) {
      const std::string text = format(Diagnostic{"f", {1, column, 1}, line, "bad", ""});
      INFO(text);
      REQUIRE(is_utf8(text));
    }
  }
}

TEST_CASE("a long run of bytes that continue no character is shown around the caret") {
  const std::string line = "ab" + std::string(300, '\xbc') + "cd";
  for (int column = 1; column <= 305; ++column) {
    const std::string text = format(Diagnostic{"f", {1, column, 1}, line, "bad", ""});
    INFO(text);
    REQUIRE(text.find('^') != std::string::npos);
    REQUIRE(text.size() < 1000);
  }
}

TEST_CASE("carets never run past the end of the line, and at least one is shown") {
  CHECK(format(Diagnostic{"f", {1, 3, 1000}, "abcd", "bad", ""}) ==
        "f:1:3: error: bad\n  1 | abcd\n    |   ^^\n");
  CHECK(format(Diagnostic{"f", {1, 5, 1}, "abcd", "bad", ""}) ==
        "f:1:5: error: bad\n  1 | abcd\n    |     ^\n");
  CHECK(format(Diagnostic{"f", {1, 0, -7}, "abcd", "bad", ""}) == "f:1:1: error: bad\n  1 | abcd\n    | ^\n");
}

TEST_CASE("a column far beyond the line still shows the line's end") {
  CHECK(format(Diagnostic{"f", {1, 2'000'000'000, 2'000'000'000}, "abcd", "bad", ""}) ==
        "f:1:2000000000: error: bad\n  1 | abcd\n    |     ^\n");
}

TEST_CASE("several mistakes come sorted by place, with a count") {
  const std::vector<Diagnostic> mistakes{{"b", {1, 1, 1}, "", "four", ""},
                                         {"a", {9, 1, 1}, "", "three", ""},
                                         {"a", {2, 5, 1}, "", "two", ""},
                                         {"a", {2, 1, 1}, "", "one", ""}};
  CHECK(format(mistakes) ==
        "a:2:1: error: one\na:2:5: error: two\na:9:1: error: three\nb:1:1: error: four\n4 errors\n");
  CHECK(format(std::vector<Diagnostic>{mistakes[0]}) == "b:1:1: error: four\n");
}

TEST_CASE("lines are found by number, without their line ends") {
  const SourceText text{"f", "one\r\ntwo\n\nfour"};
  CHECK(text.line(1) == "one");
  CHECK(text.line(2) == "two");
  CHECK(text.line(3).empty());
  CHECK(text.line(4) == "four");
  CHECK(text.line(5).empty());
  CHECK(text.line(0).empty());
  CHECK(text.line(-3).empty());
}

TEST_CASE("collected mistakes are thrown all at once") {
  const SourceText source{"f", "abc\ndef\n"};
  Diagnostics diagnostics(source);
  diagnostics.throw_if_any();
  CHECK(diagnostics.empty());
  diagnostics.report({2, 1, 3}, "second", "mend it");
  diagnostics.report({1, 2, 1}, "first");
  try {
    diagnostics.throw_if_any();
    FAIL("nothing was thrown");
  } catch (const InputError& error) {
    CHECK(error.diagnostics().front().message == "first");
    CHECK(std::string(error.what()) ==
          "f:1:2: error: first\n  1 | abc\n    |  ^\nf:2:1: error: second\n  2 | def\n    | ^^^\n  hint: "
          "mend it\n2 errors\n");
  }
}

TEST_CASE("the same mistake is kept once and fifty at most") {
  const SourceText source{"f", ""};
  Diagnostics diagnostics(source);
  for (int i = 0; i < 3; ++i) diagnostics.report({1, 1, 1}, "same");
  CHECK(diagnostics.found().size() == 1);
  for (int i = 0; i < 100; ++i) diagnostics.report({i + 1, 1, 1}, "many");
  CHECK(diagnostics.found().size() == Diagnostics::kMostDiagnostics);
}

TEST_CASE("an input error without a place is a sentence and a hint") {
  CHECK(std::string(InputError("no", "yes").what()) == "error: no\n  hint: yes\n");
  CHECK(std::string(EnvironmentError("disk full").what()) == "disk full");
}

}  // namespace diagnostics_test
