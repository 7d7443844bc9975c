// Runs of plain ASCII are copied as they stand; only other characters are decoded.
#include "sim/base/printable.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace foretrain {

namespace {

unsigned code_of_byte(char c) { return static_cast<unsigned char>(c); }

/// Returns whether the byte is a printable ASCII character.
bool is_plain(char c) { return c >= 0x20 && c < 0x7F; }

/// Returns the code point of a well-formed UTF-8 character.
unsigned code_point(std::string_view character) {
  if (character.size() == 1) return code_of_byte(character.front());
  // The lead byte of a character of n bytes has n + 1 bits of marker.
  unsigned code = code_of_byte(character.front()) & (0xFFu >> (character.size() + 1));
  for (const char c : character.substr(1)) code = code << 6 | (code_of_byte(c) & 0x3Fu);
  return code;
}

/// Returns whether the character acts without being seen: controls, the Arabic letter mark, direction marks,
/// separators, embeddings, overrides and isolates.
bool acts_unseen(unsigned code) {
  return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x61C || code == 0x200E || code == 0x200F ||
         (code >= 0x2028 && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

/// Appends the first character of `text` as it is shown, and returns its number of bytes.
std::size_t append_shown(std::string& out, std::string_view text) {
  const std::size_t length = utf8_length(text);
  if (length == 0) {
    out += fmt::format("\\x{:02x}", code_of_byte(text.front()));
    return 1;
  }
  const unsigned code = code_point(text.substr(0, length));
  if (acts_unseen(code))
    out += fmt::format("\\u{:04x}", code);
  else
    out += text.substr(0, length);
  return length;
}

/// Copies the text with escapes; `keeps_lines` leaves line feeds and tabs.
std::string shown(std::string_view text, bool keeps_lines) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto stays = [keeps_lines](char c) {
      return is_plain(c) || (keeps_lines && (c == '\n' || c == '\t'));
    };
    const auto plain =
        static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), stays) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const bool is_tab = text.front() == '\t';
    if (is_tab) out += ' ';
    text.remove_prefix(is_tab ? 1 : append_shown(out, text));
  }
  return out;
}

}  // namespace

std::size_t utf8_length(std::string_view bytes) {
  const auto byte = [&](std::size_t i) { return i < bytes.size() ? code_of_byte(bytes[i]) : 0u; };
  const auto continues = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned lead = byte(0);
  // 0xC0 and 0xC1 would be overlong; 0x80 to 0xBF are continuation bytes. Both fall through to 0.
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return continues(1) ? 2 : 0;
  if (lead >= 0xE0 && lead < 0xF0) {
    const bool overlong = lead == 0xE0 && byte(1) < 0xA0, surrogate = lead == 0xED && byte(1) >= 0xA0;
    return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (lead >= 0xF0 && lead < 0xF5) {
    const bool overlong = lead == 0xF0 && byte(1) < 0x90, beyond = lead == 0xF4 && byte(1) >= 0x90;
    return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

std::string printable(std::string_view text) { return shown(text, false); }

std::string printable_lines(std::string_view text) { return shown(text, true); }

std::string shortened(std::string_view text, std::size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (code_of_byte(text[most]) & 0xC0u) == 0x80u) --most;
  return std::string(text.substr(0, most)) + "…";
}

bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), is_plain) || shown(text, false) == text;
}

}  // namespace foretrain
