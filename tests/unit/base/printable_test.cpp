// What acts on a terminal is written out; what only looks foreign stays.
#include "sim/base/printable.hpp"

#include "tests/support/catch.hpp"

namespace printable_test {

using namespace foretrain;

TEST_CASE("ordinary text stays, in any script") {
  for (const char* text : {"", "resnet50 on mahti", "µs – 5 é → ü", "测试 😀",
                           "\\n stays as the two characters it is", "~!\"'`$"}) {
    CHECK(printable(text) == text);
    CHECK(printable_lines(text) == text);
    CHECK(is_printable(text));
  }
}

TEST_CASE("control characters are written out, as TOML and JSON write them") {
  CHECK(printable("\x1b[31mred\x07") == "\\u001b[31mred\\u0007");
  CHECK(printable(std::string_view("a\0b\x7f", 4)) == "a\\u0000b\\u007f");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\u009b31m");  // the C1 control that starts a sequence as ESC [ does
  CHECK(printable("a\nb\rc") == "a\\u000ab\\u000dc");
  CHECK_FALSE(is_printable("a\nb"));
}

TEST_CASE("marks of writing direction and foreign line ends are written out") {
  CHECK(printable("a\u202eb\u2066c\u2069") == "a\\u202eb\\u2066c\\u2069");
  CHECK(printable("\u200e\u200f\u061c\u202a\u2028\u2029") == "\\u200e\\u200f\\u061c\\u202a\\u2028\\u2029");
  CHECK(printable("\u200d\u2027\u202f\u2065\u206a\u00a0") ==
        "\u200d\u2027\u202f\u2065\u206a\u00a0");  // their neighbours stay
}

TEST_CASE("bytes that are no UTF-8 are written out one by one") {
  CHECK(printable("a\xff\xc3") == "a\\xff\\xc3");
  CHECK(printable("\xc0\xaf") == "\\xc0\\xaf");           // an overlong slash
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");  // a surrogate
  CHECK(printable("\xe2\x80") == "\\xe2\\x80");
}

TEST_CASE("a tab is a space in one line, and stays with line ends in several") {
  CHECK(printable("a\tb") == "a b");
  CHECK(printable_lines("a\tb\n\x1b\r\n") == "a\tb\n\\u001b\\u000d\n");
}

TEST_CASE("what is printable stays when it is made printable again") {
  std::string all;
  for (int byte = 0; byte < 256; ++byte)
    all += std::string(1, static_cast<char>(byte)) + "\xe2\x80" + static_cast<char>(byte);
  CHECK(printable(printable(all)) == printable(all));
  CHECK(is_printable(printable(all)));
}

TEST_CASE("a long text is cut between two characters") {
  CHECK(shortened("abc", 3) == "abc");
  CHECK(shortened("abcd", 3) == "abc…");
  CHECK(shortened("aµµ", 2) == "a…");
  CHECK(shortened("\x80\x80\x80", 2) == "…");
  CHECK(shortened(std::string(201, 'x')).size() == 200 + 3);  // the dots are three bytes
}

TEST_CASE("the length of a character is that of its bytes, and zero when they are none") {
  CHECK(utf8_length("a") == 1);
  CHECK(utf8_length("µ") == 2);
  CHECK(utf8_length("→x") == 3);
  CHECK(utf8_length("😀") == 4);
  CHECK(utf8_length("\x80") == 0);
  CHECK(utf8_length("\xf5\x80\x80\x80") == 0);
}

}  // namespace printable_test
