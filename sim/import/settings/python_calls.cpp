// Finds calls in a Python text by name and reads them as literals in two passes; the text is never run. The
// first pass learns what variables hold. Limits keep hostile programs linear.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>

#include "sim/import/settings/python_network.hpp"
#include "sim/import/settings/python_text.hpp"
#include "sim/import/settings/trees.hpp"

namespace foretrain {

namespace {

/// Calls that set up a training, and calls about network, data and arguments, at most.
constexpr int kMostCalls = 64, kMostOtherCalls = 2000;
/// Characters that may be read twice because calls stand in calls, and networks of a program.
constexpr std::size_t kMostReadAgain = 8u << 20, kMostNetworks = 16;
/// Variables that are remembered, nodes of one value, and how often values are put in.
constexpr std::size_t kMostVariables = 1000, kLargestVariable = 200, kMostCopies = 1000;

/// Reads one program; see the top of the file.
class CallReader : private PythonText {
 public:
  CallReader(const std::string& text, const std::vector<std::string_view>& names,
             const std::vector<ShellWord>* words, bool takes_members = false)
      : PythonText(text),
        names_(names),
        takes_members_(takes_members),
        declared_(words),
        imported_(imported_networks(text)) {}

  /// Reads the text twice: only after the first pass is it known what variables hold.
  YamlNode read() {
    scan();
    go_to({});
    calls_ = others_ = open_ = 0;
    word_before_.clear();
    knows_variables_ = true;
    return scan();
  }

 private:
  YamlNode scan() {
    YamlNode out{SettingKind::map, {}, {}, {}, {1, 1, 1}};
    while (!at_end() && calls_ < kMostCalls) {
      if (skip_blank() || skip_string(nullptr)) continue;
      if (!is_name_letter(peek())) {
        open_ += opens(peek()) ? 1 : closes(peek()) ? -1 : 0;
        advance();
        continue;
      }
      const SourceSpan span = here();
      const bool is_statement = begins_line();
      const std::string whole = dotted_name(), name = last_part(whole);
      if (is_statement && open_ <= 0 && !knows_variables_) note_assignment(whole);
      if (is_statement && open_ <= 0 && knows_variables_ && takes_members_) note_member(whole, out);
      const bool defines = word_before_ == "class" || word_before_ == "def" || word_before_ == "import";
      word_before_ = name;
      if (defines || !is_call(whole)) continue;
      if (takes_other_call(out, whole, name)) continue;
      if (std::ranges::find(names_, name) == names_.end()) continue;
      ++calls_;
      const Place before = place();
      YamlNode arguments = call_arguments(0, name == "YOLO" || name == "RTDETR" ? "model" : "");
      arguments.span = span;
      note_network(whole, arguments);
      // get_peft_model(model, LoraConfig(…)), from_pretrained(…, quantization_config=BitsAndBytesConfig(…)):
      // what stands in it is a call of its own.
      if (holds_calls(name)) go_to(before);
      // The first of several loaders is that of the training.
      if (name == "DataLoader" && !out.at(name).is_null()) continue;
      if (is_policy(name) && keep_what_is_alike(out, name, arguments)) continue;
      out.entries.emplace_back(name, std::move(arguments));
    }
    if (!networks_.empty())
      out.entries.emplace_back(std::string(kNetworkOfProgram),
                               YamlNode{SettingKind::list, {}, {}, networks_, networks_[0].span});
    return out;
  }

  /// Returns whether a call follows; models.__dict__[name](…) and getattr(models, name)(…) are calls by a
  /// name.
  bool is_call(const std::string& whole) const {
    return peek() == '(' || (peek() == '[' && whole.ends_with("models.__dict__"));
  }

  /// Takes calls that only tell of the network, the data or an argument. Reading goes on behind their name,
  /// because their arguments may hold further calls.
  bool takes_other_call(YamlNode& out, const std::string& whole, const std::string& name) {
    const bool declares = name == "add_argument", chooses = name == "getattr" || peek() == '[',
               cuts = cuts_texts(name), resizes = name == "Resize" || name == "RandomResizedCrop";
    const bool makes = name != "from_pretrained" && makes_network(whole, imported_);
    const std::string data = data_set_of_call(whole);
    if (takes_members_) return false;
    if (!declares && !chooses && !cuts && !resizes && !makes && data.empty()) return false;
    if (++others_ > kMostOtherCalls || read_again_ > kMostReadAgain) return true;
    const Place before = place();
    const SourceSpan span = here();
    YamlNode arguments = peek() == '[' ? list(0, here()) : call_arguments(0);
    arguments.span = span;
    if (declares && !knows_variables_) declared_.declare(arguments);
    if (makes) note_network(whole, arguments);
    if (chooses) note_chosen(whole, arguments);
    if (cuts && !arguments.at("max_length").is_null() && out.at("tokenizer").is_null())
      out.entries.emplace_back("tokenizer", arguments);
    if (resizes && out.at("resize").is_null())
      out.entries.emplace_back("resize", scalar("true", arguments.span));
    if (!data.empty() && out.at("data_set").is_null())
      out.entries.emplace_back("data_set", scalar(data, arguments.span));
    read_again_ += place().at - before.at;
    go_to(before);
    return true;
  }

  void note_network(const std::string& whole, const YamlNode& arguments) {
    if (!knows_variables_ || takes_members_ || networks_.size() >= kMostNetworks ||
        !makes_network(whole, imported_))
      return;
    if (auto asked = network_asked_for(whole, arguments)) networks_.push_back(std::move(*asked));
  }

  /// Takes the network of models.__dict__[args.arch] or getattr(torchvision.models, args.arch).
  void note_chosen(const std::string& whole, const YamlNode& arguments) {
    const bool by_key = whole.ends_with("models.__dict__");
    const std::size_t place = by_key ? 0 : 1;
    if (!knows_variables_ || arguments.items.size() <= place || networks_.size() >= kMostNetworks) return;
    if (!by_key && arguments.items[0].text != "models") return;
    if (arguments.items[place].kind == SettingKind::scalar) networks_.push_back(arguments.items[place]);
  }

  static bool holds_calls(const std::string& name) {
    return name == "get_peft_model" || name == "from_pretrained";
  }

  static bool is_policy(const std::string& name) {
    return name == "MixedPrecision" || name == "MixedPrecisionPolicy";
  }

  /// The run chooses one of a program's policies, so what differs between them becomes unknown. Returns false
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

  /// Notes NAME = literal or call, on a line of its own. A name that is assigned twice has no known value.
  void note_assignment(const std::string& name) {
    const Place before = place();
    while (peek() == ' ') advance();
    const bool is_member = name.find('.') != name.npos;
    if (peek() == '=' && peek(1) != '=' && is_member && changed_.size() < kMostVariables)
      changed_.insert(name);
    if (peek() == '=' && peek(1) != '=' && !is_member && variables_.size() < kMostVariables) {
      advance();
      skip_blank();
      YamlNode value = atom(0, here());
      while (peek() == ' ' || peek() == '\t') advance();
      const bool ends = peek() == '\n' || peek() == '\r' || peek() == '#' || peek() == '\0';
      const bool is_new = variables_.find(name) == variables_.end();
      if (value.at("class_path").text == "parse_args") namespaces_.insert(name);
      if (!ends || !is_new || size_of(value) > kLargestVariable) value = scalar(std::string(kNotKnown), {});
      variables_[name] = std::move(value);
    }
    go_to(before);
  }

  /// Notes config.model.degree = literal, on a line of its own, as an entry with the whole name.
  void note_member(const std::string& name, YamlNode& out) {
    const Place before = place();
    const SourceSpan span = here();
    while (peek() == ' ') advance();
    const bool is_member = name.find('.') != name.npos && !name.starts_with('.') && name.back() != '.' &&
                           std::ranges::count(name, '.') <= kDeepestSettings;
    if (peek() == '=' && peek(1) != '=' && is_member && out.entries.size() < kMostVariables) {
      advance();
      skip_blank();
      YamlNode value = atom(0, here());
      while (peek() == ' ' || peek() == '\t') advance();
      const bool ends = peek() == '\n' || peek() == '\r' || peek() == '#' || peek() == '\0';
      if (!ends || size_of(value) > kLargestVariable) value = scalar(std::string(kNotKnown), {});
      value.span = span;
      out.entries.emplace_back(name, std::move(value));
    }
    go_to(before);
  }

  static std::size_t size_of(const YamlNode& node) {
    std::size_t size = 1;
    for (const YamlNode& item : node.items) size += size_of(item);
    for (const auto& [key, value] : node.entries) size += size_of(value);
    return size;
  }

  static std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

  static YamlNode scalar(std::string text, const SourceSpan& span) {
    if (text == "True") text = "true";
    if (text == "False") text = "false";
    const bool is_null = text == "None";
    return {is_null ? SettingKind::null : SettingKind::scalar, std::move(text), {}, {}, span};
  }

  // Reads an argument; an expression with operators is not known.
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

  // Reads a literal, a name or a call, without operators behind it.
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
    if (knows_variables_ && !changed_.contains(name)) {
      if (const YamlNode* given = declared_.find(name, namespaces_)) {
        YamlNode copy = *given;
        copy.span = span;
        return copy;
      }
    }
    const bool constant = name == "True" || name == "False" || name == "None" || member || is_class(name);
    const bool is_library = name == "models" || name == "torchvision.models";
    return scalar(constant || is_library ? last_part(name) : std::string(kNotKnown), span);
  }

  /// Returns whether a name is a class by its spelling, such as Block; one that is assigned is a variable.
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
    while (skip_blank(), !at_end() && peek() != end) {
      const std::size_t before = place().at;
      YamlNode item = value(depth + 1);
      if (out.items.size() < kMostSettings) out.items.push_back(std::move(item));
      skip_blank();
      if (peek() == ',' || place().at == before) advance();
    }
    advance();
    return out;
  }

  // Reads a dictionary or a set.
  YamlNode table(int depth, const SourceSpan& span) {
    YamlNode out{SettingKind::map, {}, {}, {}, span};
    advance();
    while (skip_blank(), !at_end() && peek() != '}') {
      const std::size_t before = place().at;
      YamlNode key = value(depth + 1);
      skip_blank();
      if (peek() == ':') {
        advance();
        YamlNode given = value(depth + 1);
        if (out.entries.size() < kMostSettings) out.entries.emplace_back(key.text, std::move(given));
      } else if (out.items.size() < kMostSettings) {
        out.items.push_back(std::move(key));
      }
      skip_blank();
      if (peek() == ',' || place().at == before) advance();
    }
    advance();
    if (out.entries.empty() && !out.items.empty()) out.kind = SettingKind::list;  // a set
    return out;
  }

  /// Reads keyword arguments, also those of an unpacked table. Positional ones become items; the first gets
  /// the name `first` where that is given. The place is on the opening bracket.
  YamlNode call_arguments(int depth, std::string_view first = "") {
    YamlNode out{SettingKind::map, {}, {}, {}, here()};
    advance();
    while (skip_blank(), !at_end() && peek() != ')') {
      const std::size_t before = place().at;
      while (peek() == '*') advance();
      const bool unpacks = place().at - before == 2;
      const Place start = place();
      const SourceSpan span = here();
      const std::string name = dotted_name();
      skip_blank();
      if (!name.empty() && peek() == '=' && peek(1) != '=') {
        advance();
        YamlNode given = value(depth + 1);
        given.span = span;
        if (out.entries.size() < kMostSettings) out.entries.emplace_back(name, std::move(given));
      } else {
        go_to(start);
        YamlNode given = value(depth + 1);
        if (!unpacks && out.items.size() < kMostSettings) out.items.push_back(given);
        if (unpacks && given.kind == SettingKind::map && given.at("class_path").is_null())
          std::ranges::move(given.entries, std::back_inserter(out.entries));
        else if (!unpacks && !first.empty() && out.entries.empty())
          out.entries.emplace_back(first, std::move(given));
        first = "";
      }
      skip_blank();
      if (peek() == ',' || place().at == before) advance();
    }
    advance();
    return out;
  }

  /// Skips an expression up to the comma or bracket that ends it.
  void skip_expression() {
    int open = 0;
    while (!at_end()) {
      if (skip_blank() || skip_string(nullptr)) continue;
      const char c = peek();
      const bool closes = c == ')' || c == ']' || c == '}';
      if (open == 0 && (closes || c == ',')) return;
      if (c == '(' || c == '[' || c == '{') ++open;
      if (closes) --open;
      advance();
    }
  }

  const std::vector<std::string_view>& names_;
  // A recipe: assignments to members are keys, and no network is made.
  bool takes_members_ = false;
  int calls_ = 0, open_ = 0;
  std::string word_before_;
  std::map<std::string, YamlNode> variables_;
  bool knows_variables_ = false;
  std::size_t copies_ = 0;
  DeclaredArguments declared_;
  std::set<std::string> imported_, namespaces_, changed_;  ///< changed_: args.batch_size = …
  std::vector<YamlNode> networks_;                         ///< names that libraries are asked for
  int others_ = 0;
  std::size_t read_again_ = 0;
};

}  // namespace

YamlNode read_python_calls(const SourceText& source, const std::vector<std::string_view>& names,
                           const std::vector<ShellWord>* words) {
  return CallReader(source.text, names, words).read();
}

YamlNode read_python_members(const SourceText& source, const std::vector<std::string_view>& names) {
  return CallReader(source.text, names, nullptr, true).read();
}

}  // namespace foretrain
