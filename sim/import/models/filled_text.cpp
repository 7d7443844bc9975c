// Fills the gaps of templates. A filling may hold gaps itself, so the text is gone through level by level
// until nothing is left to fill.
#include "sim/import/models/filled_text.hpp"

#include <stdexcept>

namespace foretrain {

namespace {

/// Levels of gaps within gaps; the limit ends a filling that names itself.
constexpr int kDeepestGaps = 8;

bool is_gap_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

}  // namespace

/// Linear in the text for each level of gaps.
std::string Filling::into(std::string_view text) const {
  std::string out(text);
  for (int level = 0; level < kDeepestGaps; ++level) {
    std::string next;
    bool filled = false;
    for (std::size_t at = 0; at < out.size();) {
      std::size_t end = at + 1;
      // A gap is '<', lower-case letters or '_', and '>'; any other '<' stays as it is.
      while (out[at] == '<' && end < out.size() && is_gap_letter(out[end])) ++end;
      if (out[at] != '<' || end == at + 1 || end >= out.size() || out[end] != '>') {
        next += out[at++];
        continue;
      }
      const auto value = values_.find(std::string_view(out).substr(at + 1, end - at - 1));
      if (value == values_.end()) throw std::logic_error("no filling for a gap of a template");
      next += value->second;
      filled = true;
      at = end + 1;
    }
    out = std::move(next);
    if (!filled) break;
  }
  return out;
}

/// Cuts to 80 bytes as well, so that names of a file cannot fill the model file.
std::string quotable(std::string_view text) {
  constexpr std::string_view kPlain = " _-./:,()+";
  std::string out;
  for (const char c : text.substr(0, 80)) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    out += is_word || kPlain.find(c) != std::string_view::npos ? c : '_';
  }
  return out;
}

std::string quotable_file(std::string_view path) { return quotable(path.substr(path.find_last_of('/') + 1)); }

}  // namespace foretrain
