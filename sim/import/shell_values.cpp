// Unknown expansions stay in the text as they were written, behind a mark, so that another reading of the
// same text meets them again.
#include "sim/import/shell_values.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace foretrain {

namespace {

using Kind = WordPart::Kind;
/// Limit of expansions inside of expansions, which may refer to each other in a circle.
constexpr int kDeepestExpansion = 8;

/// Returns a part as it was written in the script.
std::string written(const WordPart& part) {
  switch (part.kind) {
    case Kind::text:
      return part.text;
    case Kind::variable:
      return part.has_fallback       ? "${" + part.text + ":-" + part.fallback + "}"
             : part.text.size() == 1 ? "$" + part.text
                                     : "${" + part.text + "}";
    case Kind::arithmetic:
      return "$((" + part.text + "))";
    case Kind::elements:
      return "${" + part.text + "[" + part.index + "]}";
    case Kind::count:
      return "${#" + part.text + "[" + part.index + "]}";
    case Kind::list:
      return "(" + part.text + ")";
    case Kind::command:
      break;
  }
  return part.text.starts_with('$') || part.text.starts_with('(') ? part.text : "$(" + part.text + ")";
}

/// Says whether a text contains another one.
bool contains(std::string_view text, std::string_view what) {
  return text.find(what) != std::string_view::npos;
}

/// Says whether a command is one by which scripts count the GPUs that they were given.
bool counts_gpus(std::string_view command) {
  const bool lists = contains(command, "nvidia-smi -L") || contains(command, "nvidia-smi --list-gpus");
  const bool counts = contains(command, "wc -l") || contains(command, "grep -c");
  if (lists && counts) return true;
  if (!contains(command, "CUDA_VISIBLE_DEVICES")) return false;
  return contains(command, "print NF") || contains(command, "| length") ||
         (contains(command, "tr ") && contains(command, "wc "));
}

/// The ways to count the hosts of a job: by lines of its file of hosts, or each host once.
enum class HostCount : std::uint8_t { none, lines, hosts };
/// Returns the way in which a command counts hosts; `none` for other commands.
HostCount counts_hosts(std::string_view command) {
  if (!contains(command, "wc -l") && !contains(command, "wc -w") && !contains(command, "grep -c"))
    return HostCount::none;
  const bool is_host_file = contains(command, "PBS_NODEFILE") || contains(command, "LSB_DJOB_HOSTFILE") ||
                            contains(command, "LSB_HOSTS");
  if (is_host_file)
    return contains(command, "uniq") || contains(command, "sort -u") ? HostCount::hosts : HostCount::lines;
  const bool lists_hosts = contains(command, "PE_HOSTFILE") || contains(command, "SGE_JOB_HOSTLIST") ||
                           contains(command, "show hostname") || contains(command, "flux hostlist");
  return lists_hosts ? HostCount::hosts : HostCount::none;
}

/// Evaluates + - * / % and parentheses over integers and variables by recursive descent.
class ShellArithmetic {
 public:
  ShellArithmetic(std::string_view text, ShellValues& values, int depth)
      : text_(text), values_(values), depth_(depth) {}

  std::optional<std::int64_t> evaluate() {
    const auto value = sum(0);
    skip_blanks();
    return at_ == text_.size() ? value : std::nullopt;
  }

 private:
  using Number = std::optional<std::int64_t>;

  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  /// Combines two numbers; no value on overflow and on division by zero.
  static Number combine(char sign, Number a, Number b) {
    std::int64_t out = 0;
    if (!a || !b) return std::nullopt;
    if (sign == '+') return __builtin_add_overflow(*a, *b, &out) ? std::nullopt : Number(out);
    if (sign == '-') return __builtin_sub_overflow(*a, *b, &out) ? std::nullopt : Number(out);
    if (sign == '*') return __builtin_mul_overflow(*a, *b, &out) ? std::nullopt : Number(out);
    if (*b == 0 || (*a == std::numeric_limits<std::int64_t>::min() && *b == -1)) return std::nullopt;
    return sign == '/' ? *a / *b : *a % *b;
  }

  /// These three read a sum, a product and a factor. `nesting` bounds the recursion.
  Number sum(int nesting) {
    Number value = product(nesting);
    while (value) {
      if (take('+'))
        value = combine('+', value, product(nesting));
      else if (take('-'))
        value = combine('-', value, product(nesting));
      else
        break;
    }
    return value;
  }

  Number product(int nesting) {
    Number value = factor(nesting);
    while (value) {
      if (take('*'))
        value = combine('*', value, factor(nesting));
      else if (take('/'))
        value = combine('/', value, factor(nesting));
      else if (take('%'))
        value = combine('%', value, factor(nesting));
      else
        break;
    }
    return value;
  }

  Number factor(int nesting) {
    if (nesting > kDeepestShell) return std::nullopt;
    if (take('(')) {
      const Number inside = sum(nesting + 1);
      return take(')') ? inside : std::nullopt;
    }
    if (take('-')) return combine('-', 0, factor(nesting + 1));
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 || text_[at_] == '_'))
      ++at_;
    const std::string word(text_.substr(begin, at_ - begin));
    if (word.empty()) return std::nullopt;
    if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return whole_number(word);
    const auto value = values_.find(word);
    return value && depth_ < kDeepestExpansion ? values_.evaluate(*value, depth_ + 1) : std::nullopt;
  }

  std::string_view text_;
  ShellValues& values_;
  int depth_;
  std::size_t at_ = 0;
};

/// Returns the end of an expansion that begins at `at`, behind a mark: $(…) and ${…} hold blanks that do not
/// separate words.
std::size_t end_of_unknown(std::string_view text, std::size_t at) {
  const bool braces = text.substr(at, 2) == "${";
  if (!braces && text.substr(at, 2) != "$(") return at;
  const char open = braces ? '{' : '(', close = braces ? '}' : ')';
  int depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == open) ++depth;
    if (text[at] == close && --depth == 0) return at + 1;
  }
  return at;
}

/// Splits a text with marks at blanks.
std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!blank && !inside) words.emplace_back();
    inside = !blank;
    if (!inside) continue;
    words.back() += c;
    const std::size_t end = c == kUnknown ? end_of_unknown(text, at + 1) : at + 1;
    words.back() += text.substr(at + 1, end - at - 1);
    at = end - 1;
  }
  return words;
}

bool is_array(std::string_view value) { return value.starts_with(kElement); }

/// Returns the elements of an array; a plain value is an array of one.
std::vector<std::string> elements_of(std::string_view value) {
  std::vector<std::string> out;
  if (!is_array(value)) return {std::string(value)};
  while (!value.empty()) {
    const std::size_t end = std::min(value.find(kElement, 1), value.size());
    out.emplace_back(value.substr(1, end - 1));
    value.remove_prefix(end);
  }
  // The mark alone is an array without elements.
  if (out.size() == 1 && out[0].empty()) out.clear();
  return out;
}

/// Says whether an element may be several words, as $(scontrol show hostnames) may.
bool may_be_many(const std::string& element) { return !is_known(element); }

}  // namespace

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::string without_marks(std::string_view text) {
  std::string out(text);
  std::erase(out, kUnknown);
  return out;
}

std::optional<std::int64_t> whole_number(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

void ShellValues::forget(const std::string& name) {
  values_[name] = std::string(1, kUnknown) + "${" + name + "}";
}

const std::string* ShellValues::raw(const std::string& name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

std::optional<std::string> ShellValues::find(const std::string& name) const {
  const std::string* value = raw(name);
  if (value == nullptr || !is_known(*value) || is_array(*value)) return std::nullopt;
  return *value;
}

// An expression may hold variables with or without "$".
std::optional<std::int64_t> ShellValues::evaluate(std::string_view expression, int depth) {
  std::string text = expression.find('$') == std::string_view::npos
                         ? std::string(expression)
                         : expand(scan_quoted(expression), depth + 1);
  if (text.size() > kLongestValue || !is_known(text)) return std::nullopt;
  return ShellArithmetic(text, *this, depth).evaluate();
}

// The output of a command is unknown, except for counts of GPUs and hosts, and for `expr`.
std::string ShellValues::value_of_command(const WordPart& part, int depth) {
  const std::string unknown = kUnknown + written(part);
  if (gpus_on_node > 0 && counts_gpus(part.text)) return std::to_string(gpus_on_node);
  const HostCount count = counts_hosts(part.text);
  // Hosts that count once are nodes; lines are tasks of the batch system.
  if (count == HostCount::hosts && nodes > 0) return std::to_string(nodes);
  if (count == HostCount::lines && host_lines > 0) return std::to_string(host_lines);
  if (!part.text.starts_with("expr ") || part.text.size() > kLongestValue) return unknown;
  std::string sum = part.text.substr(5);
  std::erase(sum, '\\');
  const auto value = evaluate(sum, depth + 1);
  return value ? std::to_string(*value) : unknown;
}

std::string ShellValues::value_of(const WordPart& part, int depth) {
  if (part.kind == Kind::text) return part.text;
  const std::string unknown = kUnknown + written(part);
  if (depth > kDeepestExpansion) return unknown;
  if (part.kind == Kind::command) return value_of_command(part, depth);
  if (part.kind == Kind::arithmetic) {
    const auto value = evaluate(part.text, depth + 1);
    return value ? std::to_string(*value) : unknown;
  }
  if (part.kind != Kind::variable) return value_of_array(part, depth);
  const std::string* set = raw(part.text);
  // The plain name of an array is its first element.
  if (set != nullptr && is_array(*set)) {
    const std::vector<std::string> elements = elements_of(*set);
    if (!elements.empty()) return elements[0];
    return part.has_fallback ? expand(scan_quoted(part.fallback), depth + 1) : std::string();
  }
  if (set != nullptr && !(part.has_fallback && set->empty())) return *set;
  return part.has_fallback ? expand(scan_quoted(part.fallback), depth + 1) : unknown;
}

/// Returns ${NAME[@]} as one text, ${NAME[3]} or ${#NAME[@]}. Behind an element that may be several words,
/// the meaning of an index is unknown.
std::string ShellValues::value_of_array(const WordPart& part, int depth) {
  const std::string unknown = kUnknown + written(part);
  const std::string* set = raw(part.text);
  if (set == nullptr || part.kind == Kind::list) return unknown;
  const std::vector<std::string> elements = elements_of(*set);
  const bool is_all = part.index == "@" || part.index == "*";
  const auto first_open = std::ranges::find_if(elements, may_be_many);
  if (part.kind == Kind::count)
    return is_all && first_open == elements.end() ? std::to_string(elements.size()) : unknown;
  if (is_all) {
    std::string out;
    for (const std::string& element : elements) out += (out.empty() ? "" : " ") + element;
    return out;
  }
  const auto index = evaluate(part.index, depth + 1);
  if (!index || *index < 0 || *index >= first_open - elements.begin()) return unknown;
  return elements[static_cast<std::size_t>(*index)];
}

std::string ShellValues::expand_list(std::string_view text) {
  std::string out;
  for (const ShellToken& token : scan_shell(text)) {
    if (token.kind != ShellToken::Kind::word || token.parts.empty()) continue;
    for (const WordPart& part : token.parts) {
      if (part.kind == Kind::list) return kUnknown + std::string(text.substr(0, 80));
    }
    for (const std::string& piece : texts_of(token)) out += kElement + piece;
    if (out.size() > kLongestValue) return kUnknown + std::string(text.substr(0, 80));
  }
  return out.empty() ? std::string(1, kElement) : out;
}

/// Returns the words that an unquoted variable, or all elements of an array, become.
std::vector<std::string> ShellValues::pieces_of(const WordPart& part) {
  const bool is_all = part.kind == Kind::elements && (part.index == "@" || part.index == "*");
  const std::string* set = is_all ? raw(part.text) : nullptr;
  if (set == nullptr) return split(expand({part}));
  std::vector<std::string> out;
  for (std::string& element : elements_of(*set)) {
    *expanded_ += element.size();
    if (*expanded_ > kMostExpanded) return {kUnknown + written(part).substr(0, 80)};
    if (part.quoted && part.index == "@") {
      out.push_back(std::move(element));
      continue;
    }
    for (std::string& piece : split(element)) out.push_back(std::move(piece));
  }
  return out;
}

std::string ShellValues::expand(const std::vector<WordPart>& parts, int depth) {
  std::string out;
  for (const WordPart& part : parts) {
    std::string value = value_of(part, depth);
    // Texts of the script itself are free; only expansions count against the budget.
    const bool too_much = part.kind != Kind::text && (out.size() + value.size() > kLongestValue ||
                                                      *expanded_ + value.size() > kMostExpanded);
    if (too_much) value = kUnknown + written(part).substr(0, 80);
    if (part.kind != Kind::text) *expanded_ += value.size();
    out += value;
  }
  return out;
}

/// Returns the words that a word becomes, with marks where parts are unknown.
std::vector<std::string> ShellValues::texts_of(const ShellToken& word) {
  std::vector<std::string> texts(1);
  const auto is_all_elements = [](const WordPart& part) {
    return part.kind == Kind::elements && part.index == "@";
  };
  // "${NAME[@]}" of an array without elements is no word at all.
  bool any = word.quoted && !(word.parts.size() == 1 && is_all_elements(word.parts[0]));
  for (const WordPart& part : word.parts) {
    const bool splits = is_all_elements(part) ||
                        (!part.quoted && (part.kind == Kind::variable || part.kind == Kind::elements));
    if (!splits) {
      const std::string value = expand({part});
      texts.back() += value;
      any = any || !value.empty();
      continue;
    }
    const std::vector<std::string> pieces = pieces_of(part);
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      if (i > 0) texts.emplace_back();
      texts.back() += pieces[i];
      any = true;
    }
  }
  return any ? texts : std::vector<std::string>{};
}

std::vector<ShellWord> ShellValues::expand_word(const ShellToken& word) {
  std::vector<ShellWord> out;
  for (const std::string& text : texts_of(word))
    out.push_back({without_marks(text), is_known(text), word.quoted, word.span});
  return out;
}

}  // namespace foretrain
