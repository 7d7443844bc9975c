// Calls in a Python text, found by name and read as literals; the text is never run.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

bool is_name_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
}

/// More calls than a program configures its training by.
constexpr int kMostCalls = 64;
/// Variables that are remembered, the nodes of one value, and how often values are put in.
constexpr std::size_t kMostVariables = 1000, kLargestVariable = 200, kMostCopies = 1000;

class CallReader {
 public:
  CallReader(const std::string& text, const std::vector<std::string_view>& names)
      : text_(text), names_(names) {}

  /// Twice: what variables hold is known once all of the text was seen.
  YamlNode read() {
    scan();
    at_ = line_start_ = 0, line_ = 1, calls_ = 0, open_ = 0;
    word_before_.clear();
    knows_variables_ = true;
    return scan();
  }

 private:
  YamlNode scan() {
    YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
    while (at_ < text_.size() && calls_ < kMostCalls) {
      if (skip_blank() || skip_string(nullptr)) continue;
      if (!is_name_letter(peek())) {
        open_ += opens(peek()) ? 1 : closes(peek()) ? -1 : 0;
        advance();
        continue;
      }
      const SourceSpan span = here();
      const bool begins_line = text_.find_first_not_of(" \t", line_start_) == at_;
      const std::string whole = dotted_name(), name = last_part(whole);
      if (begins_line && open_ <= 0 && !knows_variables_) note_assignment(whole);
      const bool defines = word_before_ == "class" || word_before_ == "def" || word_before_ == "import";
      word_before_ = name;
      const bool wanted = std::ranges::find(names_, name) != names_.end();
      if (!wanted || defines || peek() != '(') continue;
      ++calls_;
      const std::size_t at = at_, line_start = line_start_;
      const auto line = line_;
      YamlNode arguments = call_arguments(0, first_argument_of(name));
      arguments.span = span;
      // get_peft_model(model, LoraConfig(…)), from_pretrained(…, quantization_config=BitsAndBytesConfig(…)):
      // what stands in it is a call of its own.
      if (holds_calls(name)) at_ = at, line_ = line, line_start_ = line_start;
      // Of several loaders the first one is that of the training.
      if (name == "DataLoader" && !out.at(name).is_null()) continue;
      if (is_policy(name) && keep_what_is_alike(out, name, arguments)) continue;
      out.entries.emplace_back(name, std::move(arguments));
    }
    return out;
  }

  /// What the first argument is called where it has no name; empty: it is not read.
  static const char* first_argument_of(const std::string& name) {
    if (name == "YOLO" || name == "RTDETR") return "model";
    return name == "from_pretrained" ? "pretrained_model_name_or_path" : "";
  }

  static bool holds_calls(const std::string& name) {
    return name == "get_peft_model" || name == "from_pretrained";
  }

  static bool is_policy(const std::string& name) {
    return name == "MixedPrecision" || name == "MixedPrecisionPolicy";
  }

  /// The run chooses one of a program's policies, so what differs between them is not known. Returns false
  /// for the first policy.
  static bool keep_what_is_alike(YamlNode& out, const std::string& name, const YamlNode& other) {
    const auto first = std::ranges::find(out.entries, name, [](const auto& entry) { return entry.first; });
    if (first == out.entries.end()) return false;
    for (auto& [key, value] : first->second.entries) {
      if (other.at(key).text != value.text) value = scalar(std::string(kNotKnown), value.span);
    }
    return true;
  }

  static bool opens(char c) { return c == '(' || c == '[' || c == '{'; }
  static bool closes(char c) { return c == ')' || c == ']' || c == '}'; }

  /// NAME = literal or call, on a line of its own. A name that is assigned twice has no value here.
  void note_assignment(const std::string& name) {
    const std::size_t at = at_, line_start = line_start_;
    const int line = line_;
    while (peek() == ' ') advance();
    if (peek() == '=' && peek(1) != '=' && name.find('.') == name.npos &&
        variables_.size() < kMostVariables) {
      advance();
      skip_blank();
      YamlNode value = atom(0, here());
      while (peek() == ' ' || peek() == '\t') advance();
      const bool ends = peek() == '\n' || peek() == '\r' || peek() == '#' || peek() == '\0';
      const bool is_new = variables_.find(name) == variables_.end();
      if (!ends || !is_new || size_of(value) > kLargestVariable) value = scalar(std::string(kNotKnown), {});
      variables_[name] = std::move(value);
    }
    at_ = at, line_ = line, line_start_ = line_start;
  }

  static std::size_t size_of(const YamlNode& node) {
    std::size_t size = 1;
    for (const YamlNode& item : node.items) size += size_of(item);
    for (const auto& [key, value] : node.entries) size += size_of(value);
    return size;
  }

  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  SourceSpan here() const { return {line_, static_cast<int>(at_ - line_start_) + 1, 1}; }
  void advance() {
    if (at_ < text_.size() && text_[at_++] == '\n') ++line_, line_start_ = at_;
  }
  bool skip_blank() {
    const std::size_t before = at_;
    while (at_ < text_.size()) {
      if (peek() == '#') {
        while (at_ < text_.size() && peek() != '\n') advance();
      } else if (std::isspace(static_cast<unsigned char>(peek())) != 0 || peek() == '\\') {
        advance();
      } else {
        break;
      }
    }
    return at_ != before;
  }
  std::string dotted_name() {
    std::string name;
    while (at_ < text_.size() && is_name_letter(peek())) name += peek(), advance();
    return name;
  }
  static std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

  /// A string in quotes, with r, b, u or f before them; f-strings are not known. Whether there was one.
  bool skip_string(std::string* value) {
    std::size_t prefix = 0;
    bool formatted = false;
    while (prefix < 2 && std::string_view("rRbBuUfF").find(peek(prefix)) != std::string_view::npos)
      formatted = formatted || peek(prefix) == 'f' || peek(prefix) == 'F', ++prefix;
    const char quote = peek(prefix);
    if (quote != '"' && quote != '\'') return false;
    for (std::size_t i = 0; i < prefix; ++i) advance();
    const bool triple = peek(1) == quote && peek(2) == quote;
    const std::size_t width = triple ? 3 : 1;
    for (std::size_t i = 0; i < width; ++i) advance();
    std::string inside;
    while (at_ < text_.size()) {
      if (peek() == quote && (!triple || (peek(1) == quote && peek(2) == quote))) break;
      if (!triple && peek() == '\n') break;
      if (peek() == '\\') advance();
      inside += peek();
      advance();
    }
    for (std::size_t i = 0; i < width && peek() == quote; ++i) advance();
    if (value != nullptr) *value = formatted ? std::string(kNotKnown) : inside;
    return true;
  }

  static YamlNode scalar(std::string text, const SourceSpan& span) {
    if (text == "True") text = "true";
    if (text == "False") text = "false";
    const bool is_null = text == "None";
    return {is_null ? SettingKind::null : SettingKind::scalar, std::move(text), {}, {}, span};
  }

  YamlNode value(int depth) {
    skip_blank();
    const SourceSpan span = here();
    YamlNode out = atom(depth, span);
    skip_blank();
    if (peek() == ',' || peek() == ')' || peek() == ']' || peek() == '}' || peek() == ':' || peek() == '\0')
      return out;
    // An operator, a subscript, a call of a call: the whole of it is not known.
    skip_expression();
    return scalar(std::string(kNotKnown), span);
  }

  YamlNode atom(int depth, const SourceSpan& span) {
    std::string text;
    if (depth > kDeepestSettings) return skip_expression(), scalar(std::string(kNotKnown), span);
    if (skip_string(&text)) return scalar(std::move(text), span);
    if (peek() == '[' || peek() == '(') return list(depth, span);
    if (peek() == '{') return table(depth, span);
    if (peek() == '-' || std::isdigit(static_cast<unsigned char>(peek())) != 0) return number(span);
    const std::string name = dotted_name();
    skip_blank();
    if (name.empty()) return skip_expression(), scalar(std::string(kNotKnown), span);
    if (peek() == '(') {
      YamlNode arguments = call_arguments(depth + 1);
      YamlNode out{SettingKind::map, {}, {}, {}, span};
      out.entries.emplace_back("class_path", scalar(last_part(name), span));
      out.entries.emplace_back("init_args", std::move(arguments));
      return out;
    }
    // Members of classes and of torch are constants; of anything else, values of the run.
    const bool member =
        name.find('.') != name.npos &&
        (std::isupper(static_cast<unsigned char>(name[0])) != 0 || name.starts_with("torch."));
    const auto variable = knows_variables_ ? variables_.find(name) : variables_.end();
    if (variable != variables_.end() && copies_ < kMostCopies) {
      ++copies_;
      YamlNode copy = variable->second;
      copy.span = span;
      return copy;
    }
    const bool constant = name == "True" || name == "False" || name == "None" || member || is_class(name);
    return scalar(constant ? last_part(name) : std::string(kNotKnown), span);
  }

  /// By its spelling, as Block and TransformerLayer; one that the program assigns is a variable.
  static bool is_class(const std::string& name) {
    return std::isupper(static_cast<unsigned char>(name[0])) != 0 && name.find('.') == name.npos &&
           std::ranges::any_of(name, [](unsigned char c) { return std::islower(c) != 0; });
  }

  YamlNode number(const SourceSpan& span) {
    std::string text;
    while (std::isalnum(static_cast<unsigned char>(peek())) != 0 || peek() == '.' || peek() == '_' ||
           ((peek() == '-' || peek() == '+') && (text.empty() || text.back() == 'e' || text.back() == 'E')))
      text += peek(), advance();
    return scalar(text, span);
  }

  YamlNode list(int depth, const SourceSpan& span) {
    const char end = peek() == '[' ? ']' : ')';
    YamlNode out{SettingKind::list, {}, {}, {}, span};
    advance();
    while (skip_blank(), at_ < text_.size() && peek() != end) {
      const std::size_t before = at_;
      out.items.push_back(value(depth + 1));
      skip_blank();
      if (peek() == ',' || at_ == before) advance();
    }
    advance();
    return out;
  }

  YamlNode table(int depth, const SourceSpan& span) {
    YamlNode out{SettingKind::map, {}, {}, {}, span};
    advance();
    while (skip_blank(), at_ < text_.size() && peek() != '}') {
      const std::size_t before = at_;
      YamlNode key = value(depth + 1);
      skip_blank();
      if (peek() == ':') {
        advance();
        out.entries.emplace_back(key.text, value(depth + 1));
      } else {
        out.items.push_back(std::move(key));
      }
      skip_blank();
      if (peek() == ',' || at_ == before) advance();
    }
    advance();
    if (out.entries.empty() && !out.items.empty()) out.kind = SettingKind::list;  // a set
    return out;
  }

  /// Keyword arguments, those of an unpacked table too; others are left aside, but for the first where
  /// `first` names it. `at_` is on the opening bracket.
  YamlNode call_arguments(int depth, std::string_view first = "") {
    YamlNode out{SettingKind::map, {}, {}, {}, here()};
    advance();
    while (skip_blank(), at_ < text_.size() && peek() != ')') {
      const std::size_t before = at_;
      while (peek() == '*') advance();
      const bool unpacks = at_ - before == 2;
      const std::size_t start = at_;
      const int line = line_;
      const std::size_t line_start = line_start_;
      const SourceSpan span = here();
      const std::string name = dotted_name();
      skip_blank();
      if (!name.empty() && peek() == '=' && peek(1) != '=') {
        advance();
        YamlNode given = value(depth + 1);
        given.span = span;
        out.entries.emplace_back(name, std::move(given));
      } else {
        at_ = start, line_ = line, line_start_ = line_start;
        YamlNode given = value(depth + 1);
        if (unpacks && given.kind == SettingKind::map && given.at("class_path").is_null())
          std::ranges::move(given.entries, std::back_inserter(out.entries));
        else if (!unpacks && !first.empty() && out.entries.empty())
          out.entries.emplace_back(first, std::move(given));
        first = "";
      }
      skip_blank();
      if (peek() == ',' || at_ == before) advance();
    }
    advance();
    return out;
  }

  /// Up to the comma or bracket that ends it.
  void skip_expression() {
    int open = 0;
    while (at_ < text_.size()) {
      if (skip_blank() || skip_string(nullptr)) continue;
      const char c = peek();
      const bool closes = c == ')' || c == ']' || c == '}';
      if (open == 0 && (closes || c == ',')) return;
      if (c == '(' || c == '[' || c == '{') ++open;
      if (closes) --open;
      advance();
    }
  }

  const std::string& text_;
  const std::vector<std::string_view>& names_;
  std::size_t at_ = 0, line_start_ = 0;
  int line_ = 1, calls_ = 0, open_ = 0;
  std::string word_before_;
  std::map<std::string, YamlNode> variables_;
  bool knows_variables_ = false;
  std::size_t copies_ = 0;
};

}  // namespace

YamlNode read_python_calls(const SourceText& source, const std::vector<std::string_view>& names) {
  return CallReader(source.text, names).read();
}

}  // namespace foretrain
