// Escapes text for XML and HTML. printable_lines() removes what no parser accepts, then four characters are
// replaced.
#include "sim/base/printable.hpp"
#include "sim/report/drawing/svg_label.hpp"

namespace foretrain {

namespace {

/// Appends the character, or its entity.
void append_to_xml(std::string& out, char c) {
  switch (c) {
    case '&':
      out += "&amp;";
      break;
    case '<':
      out += "&lt;";
      break;
    case '>':
      out += "&gt;";
      break;
    case '"':
      out += "&quot;";
      break;
    default:
      out += c;
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : printable_lines(text)) append_to_xml(out, c);
  return out;
}

}  // namespace foretrain
