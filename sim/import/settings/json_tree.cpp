// Reads JSON into a tree by recursive descent. In contrast to the library's parser it keeps the places of
// values, takes what hjson allows, and bounds depth and number of values. After the first mistake ok_ is
// false, and every function returns at once.
#include <cctype>

#include <fmt/format.h>

#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Reads one text.
class JsonReader {
 public:
  JsonReader(const SourceText& source, Diagnostics& diagnostics)
      : text_(source.text), diagnostics_(diagnostics) {}

  YamlNode read() {
    YamlNode out = value(0);
    skip_blanks();
    if (ok_ && at_ < text_.size()) fail("something stands behind the end of the JSON value");
    return out;
  }

 private:
  // Returns line and column of the next character, from 1.
  SourceSpan here() const { return {line_, static_cast<int>(at_ - line_start_) + 1, 1}; }
  bool more() const { return ok_ && at_ < text_.size(); }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  /// Moves by one character and keeps the line; requires that there is one.
  void advance() {
    if (text_[at_++] == '\n') ++line_, line_start_ = at_;
  }
  /// Reports the first mistake, and ends the reading.
  YamlNode fail(std::string message, std::string hint = "") {
    if (ok_) diagnostics_.report(here(), std::move(message), std::move(hint));
    ok_ = false;
    return {};
  }

  /// Skips white space and comments, which DeepSpeed's users write although JSON has none.
  void skip_blanks() {
    while (more()) {
      const bool slash = peek() == '/' && at_ + 1 < text_.size();
      if (std::isspace(static_cast<unsigned char>(peek())) != 0) {
        advance();
      } else if (peek() == '#' || (slash && text_[at_ + 1] == '/')) {
        while (more() && peek() != '\n') advance();
      } else if (slash && text_[at_ + 1] == '*') {
        const std::size_t end = text_.find("*/", at_ + 2);
        if (end == std::string::npos) return fail("the comment has no end"), void();
        while (at_ < end + 2) advance();
      } else {
        return;
      }
    }
  }

  /// Reads a value of any kind. Numbers, true and false stay texts; their readers decide.
  YamlNode value(int depth) {
    skip_blanks();
    if (!more()) return fail("the JSON ends before a value");
    if (depth > kDeepestSettings) return fail(fmt::format("nested deeper than {} levels", kDeepestSettings));
    // Values of lists count, too, so the limit is above that of keys.
    if (++values_ > 4 * kMostSettings) return fail(fmt::format("more than {} values", 4 * kMostSettings));
    if (peek() == '{') return object(depth);
    if (peek() == '[') return array(depth);
    const SourceSpan span = here();
    if (peek() == '"') return {SettingKind::scalar, string(), {}, {}, span};
    std::string word = bare();
    if (word.empty()) return fail(fmt::format("expected a value, not '{}'", peek()));
    const bool is_null = word == "null";
    return {is_null ? SettingKind::null : SettingKind::scalar, std::move(word), {}, {}, span};
  }

  /// Reads an object. A key that stands twice is a mistake, since tools differ in which one counts.
  YamlNode object(int depth) {
    YamlNode out{SettingKind::map, {}, {}, {}, here()};
    advance();
    while (true) {
      skip_blanks();
      if (!ok_ || peek() == '}') break;
      // A key may stand without quotes, as hjson has it.
      const SourceSpan span = here();
      std::string key = peek() == '"' ? string() : bare();
      if (!ok_) return out;
      if (key.empty()) return fail("expected a key or }", "keys stand in quotes");
      if (!out.at(key).is_null()) return diagnostics_.report(span, key + " stands twice"), ok_ = false, out;
      skip_blanks();
      if (peek() != ':') return fail(fmt::format("expected : behind the key {}", key));
      advance();
      YamlNode inner = value(depth + 1);
      if (!ok_) return out;
      out.entries.emplace_back(std::move(key), std::move(inner));
      if (!separator('}')) break;
    }
    if (ok_ && peek() == '}') advance();
    return out;
  }

  /// Reads a list.
  YamlNode array(int depth) {
    YamlNode out{SettingKind::list, {}, {}, {}, here()};
    advance();
    while (true) {
      skip_blanks();
      if (!ok_ || peek() == ']') break;
      out.items.push_back(value(depth + 1));
      if (!ok_ || !separator(']')) break;
    }
    if (ok_ && peek() == ']') advance();
    return out;
  }

  /// Returns whether a comma follows, and takes it. Only a comma or `end` may stand here.
  bool separator(char end) {
    skip_blanks();
    if (peek() == ',') return advance(), true;
    if (peek() != end)
      fail(at_ < text_.size() ? fmt::format("expected , or {}, not '{}'", end, peek())
                              : fmt::format("the JSON ends before {}", end));
    return false;
  }

  /// Reads a text in quotes, which must end on its line.
  std::string string() {
    std::string out;
    advance();
    while (more() && peek() != '"') {
      if (peek() == '\n') return fail("the text in quotes has no end on its line"), out;
      if (peek() != '\\') {
        out += peek();
        advance();
        continue;
      }
      advance();
      if (at_ < text_.size()) out += escaped();
    }
    if (!more()) return fail("the text in quotes has no end"), out;
    advance();
    return out;
  }

  /// Returns an escaped character. Settings have no letters that need \u, so these become question marks.
  std::string escaped() {
    const char c = peek();
    advance();
    if (c == 'n') return "\n";
    if (c == 't') return "\t";
    if (c != 'u') return std::string(1, c);
    for (int i = 0; i < 4 && std::isxdigit(static_cast<unsigned char>(peek())) != 0; ++i) advance();
    return "?";
  }

  /// Returns a word without quotes: a number, true, false, null, or a key in hjson.
  std::string bare() {
    std::string out;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(peek())) != 0 ||
                                  std::string_view("+-._").find(peek()) != std::string_view::npos)) {
      out += peek();
      advance();
    }
    return out;
  }

  const std::string& text_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0, line_start_ = 0, values_ = 0;
  int line_ = 1;
  bool ok_ = true;
};

}  // namespace

/// The reader lives for one text.
YamlNode read_json_tree(const SourceText& source, Diagnostics& diagnostics) {
  return JsonReader(source, diagnostics).read();
}

}  // namespace foretrain
