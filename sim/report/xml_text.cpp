// Byte by byte; a sequence of several bytes is checked by its leading byte and the number of continuation bytes.
#include "sim/report/xml_text.hpp"

#include <algorithm>

namespace foretrain {

namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// Bytes of the sequence at the front; 0 when it is no UTF-8.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t length = lead < 0x80                   ? 1
                             : lead >= 0xC2 && lead < 0xE0 ? 2
                             : lead >= 0xE0 && lead < 0xF0 ? 3
                             : lead >= 0xF0 && lead < 0xF5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  const std::string_view rest = text.substr(1, length - 1);
  return std::all_of(rest.begin(), rest.end(), is_continuation) ? length : 0;
}

void append(std::string& out, std::string_view sequence) {
  switch (sequence.front()) {
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
      out += static_cast<unsigned char>(sequence.front()) < 0x20 ? std::string_view(" ") : sequence;
  }
}

}  // namespace

std::string xml_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    append(out, length == 0 ? "?" : text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

}  // namespace foretrain
