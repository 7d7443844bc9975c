// Cuts a script into tokens in one pass over the characters. A small scanner that knows quotes, parentheses
// and here-documents finds the end of $(…).
#include <algorithm>
#include <cctype>

#include "sim/import/shell_values.hpp"

namespace foretrain {

namespace {

using Kind = WordPart::Kind;

/// Classes of characters; the shell's metacharacters end a word.
bool is_name_character(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_shell_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_word(char c) {
  return is_shell_blank(c) || c == '\n' || std::string_view(";&|()<>").find(c) != std::string_view::npos;
}

/// Returns the line from `at` on, without its end.
std::string_view line_at(std::string_view text, std::size_t at) {
  const std::size_t end = std::min(text.find('\n', at), text.size());
  std::string_view line = text.substr(at, end - at);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

std::string_view without_tabs(std::string_view line) {
  while (line.starts_with('\t')) line.remove_prefix(1);
  return line;
}

/// A here-document that a line announces: its end, and whether it is quoted or has leading tabs.
struct HereDocument {
  std::string end;
  bool quoted = false, tabs = false;
};

/// The place where the body that begins at `at` ends, and where the text goes on.
struct HereEnd {
  std::size_t body, next;
};
HereEnd find_end(std::string_view text, std::size_t at, const HereDocument& here) {
  while (at < text.size()) {
    const std::string_view line = line_at(text, at);
    const std::size_t next = std::min(text.find('\n', at), text.size() - 1) + 1;
    if ((here.tabs ? without_tabs(line) : line) == here.end) return {at, next};
    at = next;
  }
  return {text.size(), text.size()};
}

/// Reads "<<EOF" from the first "<" on, and leaves `at` behind the end's name.
HereDocument read_here(std::string_view text, std::size_t& at) {
  HereDocument here;
  at += 2;
  if (at < text.size() && text[at] == '-') here.tabs = true, ++at;
  while (at < text.size() && is_shell_blank(text[at])) ++at;
  for (; at < text.size() && !ends_word(text[at]); ++at) {
    const char c = text[at];
    if (c == '\'' || c == '"' || c == '\\')
      here.quoted = true;
    else
      here.end += c;
  }
  return here;
}

std::size_t skip_single_quotes(std::string_view text, std::size_t at) {
  const std::size_t end = text.find('\'', at + 1);
  return end == std::string_view::npos ? text.size() : end + 1;
}

std::size_t skip_parentheses(std::string_view text, std::size_t at, int depth);

/// Returns the place behind the closing quote; `at` is the opening one.
std::size_t skip_double_quotes(std::string_view text, std::size_t at, int depth) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '"') return at + 1;
    if (text[at] == '\\')
      ++at;
    else if (text.substr(at, 2) == "$(" && depth < kDeepestShell)
      at = skip_parentheses(text, at + 1, depth + 1) - 1;
  }
  return text.size();
}

/// Returns the place behind the ")" that belongs to the "(" at `at`.
std::size_t skip_parentheses(std::string_view text, std::size_t at, int depth) {
  std::vector<HereDocument> pending;
  int open = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '\n') {
      ++at;
      for (const HereDocument& here : pending) at = find_end(text, at, here).next;
      pending.clear();
      continue;
    }
    if (c == '\'') {
      at = skip_single_quotes(text, at);
      continue;
    }
    if (c == '"') {
      at = skip_double_quotes(text, at, depth);
      continue;
    }
    if (text.substr(at, 2) == "<<" && text.substr(at, 3) != "<<<" && open == 1) {
      pending.push_back(read_here(text, at));
      continue;
    }
    if (c == '#' && at > 0 && (is_shell_blank(text[at - 1]) || text[at - 1] == '\n')) {
      at = std::min(text.find('\n', at), text.size());
      continue;
    }
    if (c == '\\') ++at;
    if (c == '(') ++open;
    if (c == ')' && --open == 0) return at + 1;
    ++at;
  }
  return text.size();
}

/// Reads ${NAME[@]}, ${NAME[*]}, ${NAME[3]} or ${#NAME[@]} without the braces; returns a part without a name
/// for other texts.
WordPart read_elements(std::string_view inside) {
  const bool counts = inside.starts_with('#');
  if (counts) inside.remove_prefix(1);
  const std::size_t open = inside.find('[');
  if (open == std::string_view::npos || open == 0 || !inside.ends_with(']')) return {};
  const std::string_view name = inside.substr(0, open),
                         index = inside.substr(open + 1, inside.size() - open - 2);
  if (!std::ranges::all_of(name, is_name_character)) return {};
  WordPart part{counts ? Kind::count : Kind::elements, std::string(name)};
  part.index = index;
  return part;
}

/// Reads what begins with "$" or "`". What is no expansion becomes text.
WordPart read_expansion(std::string_view text, std::size_t& at, int depth) {
  const std::size_t begin = at;
  if (text[at] == '`') {
    const std::size_t end = std::min(text.find('`', at + 1), text.size());
    at = std::min(end + 1, text.size());
    return {Kind::command, std::string(text.substr(begin + 1, end - begin - 1))};
  }
  if (text.substr(at, 3) == "$((") {
    const std::size_t end = depth < kDeepestShell ? skip_parentheses(text, at + 1, depth + 1) : text.size();
    at = end;
    const std::string_view inside = text.substr(begin, end - begin);
    if (inside.ends_with("))"))
      return {Kind::arithmetic,
              std::string(inside.substr(3, inside.size() - std::min<std::size_t>(5, inside.size())))};
    return {Kind::command, std::string(inside.substr(2))};
  }
  if (text.substr(at, 2) == "$(") {
    at = depth < kDeepestShell ? skip_parentheses(text, at + 1, depth + 1) : text.size();
    const std::size_t length = at - begin;
    return {Kind::command, std::string(text.substr(begin + 2, length - std::min<std::size_t>(3, length)))};
  }
  if (text.substr(at, 2) == "${") {
    const std::size_t end = std::min(text.find('}', at), text.size());
    const std::string_view inside = text.substr(at + 2, end - at - 2);
    at = std::min(end + 1, text.size());
    std::size_t name = 0;
    while (name < inside.size() && is_name_character(inside[name])) ++name;
    const std::string_view rest = inside.substr(name);
    if (rest.empty() && name > 0) return {Kind::variable, std::string(inside)};
    if (const WordPart part = read_elements(inside); !part.text.empty()) return part;
    const std::size_t skip = rest.starts_with(":-") || rest.starts_with(":=") ? 2
                             : rest.starts_with('-')                          ? 1
                                                                              : 0;
    if (name == 0 || skip == 0) return {Kind::command, std::string(text.substr(begin, at - begin))};
    return {Kind::variable, std::string(inside.substr(0, name)), std::string(rest.substr(skip)), true};
  }
  ++at;
  if (at < text.size() && std::string_view("@*#?$!0123456789").find(text[at]) != std::string_view::npos)
    return {Kind::variable, std::string(1, text[at++])};
  const std::size_t name = at;
  while (at < text.size() && is_name_character(text[at])) ++at;
  if (at == name) return {Kind::text, "$"};
  return {Kind::variable, std::string(text.substr(name, at - name))};
}

void add_text(std::vector<WordPart>& parts, std::string_view text, bool quoted) {
  if (!parts.empty() && parts.back().kind == Kind::text && parts.back().quoted == quoted)
    parts.back().text += text;
  else
    parts.push_back({Kind::text, std::string(text), {}, false, quoted});
}

class ShellScanner {
 public:
  ShellScanner(std::string_view text, int first_line) : text_(text), line_(first_line) {}

  std::vector<ShellToken> scan() {
    while (at_ < text_.size()) step();
    return std::move(tokens_);
  }

 private:
  char here() const { return text_[at_]; }
  bool looking_at(std::string_view what) const { return text_.substr(at_, what.size()) == what; }

  /// Moves to `to` and counts lines.
  void move(std::size_t to) {
    to = std::min(to, text_.size());
    for (; at_ < to; ++at_) {
      if (text_[at_] == '\n') ++line_, line_begin_ = at_ + 1;
    }
  }

  SourceSpan span_here() const { return {line_, static_cast<int>(at_ - line_begin_) + 1, 1}; }

  void step() {
    if (looking_at("\\\r\n")) return move(at_ + 3);
    if (looking_at("\\\n")) return move(at_ + 2);
    if (is_shell_blank(here())) return move(at_ + 1);
    if (here() == '#') return move(std::min(text_.find('\n', at_), text_.size()));
    if (here() == '\n') return end_line();
    if (here() == '<' || here() == '>' || looking_at("&>")) {
      if (!is_placeholder()) return redirect();
    } else if (std::string_view(";&|()").find(here()) != std::string_view::npos) {
      return looking_at("((") ? add_arithmetic_command() : add_operator();
    }
    read_word();
  }

  /// Says whether "<project>" or the like stands here, which people leave to be filled in.
  bool is_placeholder() const {
    if (here() != '<') return false;
    std::size_t end = at_ + 1;
    while (end < text_.size() &&
           (is_name_character(text_[end]) || text_[end] == '-' || text_[end] == '@' || text_[end] == '.'))
      ++end;
    return end > at_ + 1 && end < text_.size() && text_[end] == '>' &&
           std::isalpha(static_cast<unsigned char>(text_[at_ + 1])) != 0;
  }

  void add_operator() {
    static constexpr std::string_view kDouble[] = {";;", "&&", "||"};
    const bool is_double =
        std::find(std::begin(kDouble), std::end(kDouble), text_.substr(at_, 2)) != std::end(kDouble);
    const std::size_t length = is_double ? 2 : 1;
    tokens_.push_back({ShellToken::Kind::op, std::string(text_.substr(at_, length)), {}, span_here()});
    move(at_ + length);
  }

  /// Adds (( expression )) as two words. Two opening parentheses that are closed apart are two operators.
  void add_arithmetic_command() {
    const std::size_t end = skip_parentheses(text_, at_, 0);
    if (end < at_ + 4 || text_.substr(end - 2, 2) != "))") return add_operator();
    ShellToken name{ShellToken::Kind::word, {}, {{Kind::text, "(("}}, span_here()};
    ShellToken expression{ShellToken::Kind::word,
                          {},
                          {{Kind::arithmetic, std::string(text_.substr(at_ + 2, end - at_ - 4))}},
                          span_here()};
    tokens_.push_back(std::move(name));
    tokens_.push_back(std::move(expression));
    move(end);
  }

  void end_line() {
    tokens_.push_back({ShellToken::Kind::op, "\n", {}, span_here()});
    move(at_ + 1);
    for (const HereDocument& here : pending_) {
      const HereEnd end = find_end(text_, at_, here);
      tokens_.push_back({ShellToken::Kind::here,
                         std::string(text_.substr(at_, end.body - at_)),
                         {},
                         span_here(),
                         here.quoted});
      move(end.next);
    }
    pending_.clear();
  }

  /// Skips a redirection with its file and the number of the stream before it, since it does not say what is
  /// run.
  void redirect() {
    if (looking_at("<<") && !looking_at("<<<")) {
      std::size_t at = at_;
      pending_.push_back(read_here(text_, at));
      return move(at);
    }
    if (!tokens_.empty() && tokens_.back().kind == ShellToken::Kind::word && at_ > 0 &&
        !is_shell_blank(text_[at_ - 1])) {
      const auto& parts = tokens_.back().parts;
      if (parts.size() == 1 && parts[0].kind == Kind::text &&
          std::all_of(parts[0].text.begin(), parts[0].text.end(), ::isdigit))
        tokens_.pop_back();
    }
    while (at_ < text_.size() && std::string_view("<>&|").find(here()) != std::string_view::npos)
      move(at_ + 1);
    if (at_ < text_.size() && here() == '(') return move(skip_parentheses(text_, at_, 0));
    while (at_ < text_.size() && is_shell_blank(here())) move(at_ + 1);
    if (at_ < text_.size() && !ends_word(here())) {
      read_word();
      tokens_.pop_back();
    }
  }

  void read_word() {
    ShellToken word;
    word.span = span_here();
    const std::size_t begin = at_;
    while (at_ < text_.size() && (!ends_word(here()) || is_placeholder())) read_part(word);
    // NAME=(a b c) is an array.
    if (at_ < text_.size() && here() == '(' && at_ > begin && text_[at_ - 1] == '=') {
      const std::size_t end = skip_parentheses(text_, at_, 0);
      const bool is_closed = end > at_ + 1 && text_[end - 1] == ')';
      word.parts.push_back({Kind::list, std::string(text_.substr(at_ + 1, end - at_ - (is_closed ? 2 : 1)))});
      word.parts.back().is_open = !is_closed;
      move(end);
    }
    word.span.length = std::max(1, line_ == word.span.line ? static_cast<int>(at_ - begin) : 1);
    tokens_.push_back(std::move(word));
  }

  void read_part(ShellToken& word) {
    if (here() == '<') {
      const std::size_t end = text_.find('>', at_) + 1;
      add_text(word.parts, text_.substr(at_, end - at_), false);
      return move(end);
    }
    if (here() == '\'') {
      const std::size_t end = skip_single_quotes(text_, at_);
      add_text(word.parts, text_.substr(at_ + 1, end - at_ - std::min<std::size_t>(2, end - at_)), true);
      word.quoted = true;
      return move(end);
    }
    if (here() == '"') {
      const std::size_t end = skip_double_quotes(text_, at_, 0);
      for (WordPart& part :
           scan_quoted(text_.substr(at_ + 1, end - at_ - std::min<std::size_t>(2, end - at_))))
        word.parts.push_back(std::move(part));
      if (end == at_ + 2) add_text(word.parts, "", true);
      word.quoted = true;
      return move(end);
    }
    if (looking_at("\\\n") || looking_at("\\\r\n")) return move(text_.find('\n', at_) + 1);
    if (here() == '\\') {
      add_text(word.parts, text_.substr(at_ + 1, 1), true);
      word.quoted = true;
      return move(at_ + 2);
    }
    if (here() == '$' || here() == '`') {
      std::size_t at = at_;
      WordPart part = read_expansion(text_, at, 0);
      if (part.kind == Kind::text)
        add_text(word.parts, part.text, false);
      else
        word.parts.push_back(std::move(part));
      return move(at);
    }
    add_text(word.parts, text_.substr(at_, 1), false);
    move(at_ + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0, line_begin_ = 0;
  int line_;
  std::vector<HereDocument> pending_;
  std::vector<ShellToken> tokens_;
};

}  // namespace

std::vector<ShellToken> scan_shell(std::string_view text, int first_line) {
  return ShellScanner(text, first_line).scan();
}

std::vector<WordPart> scan_quoted(std::string_view text) {
  std::vector<WordPart> parts;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '$' || c == '`') {
      WordPart part = read_expansion(text, at, 0);
      part.quoted = true;
      if (part.kind == Kind::text)
        add_text(parts, part.text, true);
      else
        parts.push_back(std::move(part));
    } else if (c == '\\' && at + 1 < text.size() &&
               std::string_view("$`\"\\\n").find(text[at + 1]) != std::string_view::npos) {
      if (text[at + 1] != '\n') add_text(parts, text.substr(at + 1, 1), true);
      at += 2;
    } else {
      add_text(parts, text.substr(at++, 1), true);
    }
  }
  return parts;
}

}  // namespace foretrain
