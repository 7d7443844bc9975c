// Any bytes become text that XML takes.
#include "sim/report/drawing/svg_label.hpp"
#include "tests/support/catch.hpp"

namespace xml_text_test {

using namespace foretrain;

TEST_CASE("what has a meaning in XML is written as an entity") {
  CHECK(xml_text("a<b>&\"c\"") == "a&lt;b&gt;&amp;&quot;c&quot;");
}

TEST_CASE("text beyond ASCII stays, broken sequences are written out") {
  CHECK(xml_text("µs – ok 😀") == "µs – ok 😀");
  CHECK(xml_text("\xff\xc3") == "\\xff\\xc3");
  CHECK(xml_text("\xe2\x80") == "\\xe2\\x80");
  CHECK(xml_text("\xc0\xaf") == "\\xc0\\xaf");  // an overlong slash
}

TEST_CASE("control characters are written out, and lines stay lines") {
  CHECK(xml_text(std::string_view("a\0b\n\x1b", 5)) == "a\\u0000b\n\\u001b");
  CHECK(xml_text("\u202e<b>") == "\\u202e&lt;b&gt;");
}

}  // namespace xml_text_test
