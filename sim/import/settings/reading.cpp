// Reads the keys of a settings file. The tree is laid out as a list of leaves with their paths
// ("zero_optimization.stage"). Whoever understands a leaf tells what becomes of it; finish() puts down the
// rest as unknown.
//
// Invariant: last_ is the leaf that the last find() found, and effect() and fate() speak of it. A leaf that
// is told twice keeps the later account.
#include "sim/import/settings/reading.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/import/settings/trees.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Characters of a value that are shown.
constexpr std::size_t kShownValue = 60;

/// Returns whether a rule's path covers a key: the same path, or one below a path that ends with ".*".
bool rule_covers(std::string_view rule, std::string_view path) {
  if (!rule.ends_with(".*")) return rule == path;
  const std::string_view above = rule.substr(0, rule.size() - 2);
  return path == above ||
         (path.size() > above.size() && path.starts_with(above) && path[above.size()] == '.');
}

/// Returns whether a value switches its key off.
bool is_off(std::string_view value) {
  const std::string word = lower_case(value);
  return word == "false" || word == "no" || word == "none" || word == "null" || word.empty() ||
         word == "{}" || word == "[]" || word == "off";
}

/// Appends a value as one line; long ones end where they are cut for showing anyway.
void append_value(const YamlNode& node, std::string& out) {
  if (out.size() > 2 * kShownValue) return;
  if (node.kind == SettingKind::list) {
    out += '[';
    for (const YamlNode& item : node.items) {
      if (&item != &node.items.front()) out += ", ";
      append_value(item, out);
    }
    out += ']';
  } else if (node.kind == SettingKind::map) {
    out += '{';
    for (const auto& [key, value] : node.entries) {
      if (out.back() != '{') out += ", ";
      out += key + ": ";
      append_value(value, out);
    }
    out += '}';
  } else {
    out += node.is_null() ? "null" : node.text;
  }
}

/// Returns the default in "${NAME:default}" or "${NAME:-default}", which launchers fill in; empty where the
/// value has no such form.
std::string_view default_in(const YamlNode& node) {
  std::string_view text = node.text;
  if (node.kind != SettingKind::scalar || !text.starts_with("${") || !text.ends_with("}")) return {};
  text = text.substr(2, text.size() - 3);
  const std::size_t colon = text.find(':');
  const bool is_variable =
      colon != std::string_view::npos && colon > 0 && std::ranges::all_of(text.substr(0, colon), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
      });
  if (!is_variable) return {};
  text.remove_prefix(colon + 1);
  if (text.starts_with("-")) text.remove_prefix(1);
  return text;
}

}  // namespace

std::string toml_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (static_cast<unsigned char>(c) >= 0x20) out += c;
  }
  return out + "\"";
}

/// Whole MiB are written as such, other sizes in bytes.
std::string toml_bytes(std::int64_t count) {
  const bool whole = count > 0 && count % (1 << 20) == 0;
  return fmt::format("\"{} {}\"", whole ? count >> 20 : count, whole ? "MiB" : "B");
}

std::string shown_value(const YamlNode& node) {
  std::string out;
  append_value(node, out);
  return shortened(printable(out), kShownValue);
}

std::optional<bool> flag_in(std::string_view text) {
  const std::string word = lower_case(text);
  for (const char* yes : {"true", "yes", "on", "1", "y"}) {
    if (word == yes) return true;
  }
  for (const char* no : {"false", "no", "off", "0", "n"}) {
    if (word == no) return false;
  }
  return std::nullopt;
}

/// Python's numbers may have underlines and a plus sign.
std::optional<double> number_in(std::string_view text) {
  std::string digits;
  for (const char c : trimmed(text)) {
    if (c != '_') digits += c;
  }
  double value = 0;
  const char* end = digits.data() + digits.size();
  const char* begin = digits.starts_with("+") ? digits.data() + 1 : digits.data();
  const auto [at, problem] = std::from_chars(begin, end, value);
  if (problem != std::errc{} || at != end || begin == end || !std::isfinite(value)) return std::nullopt;
  return value;
}

/// One leaf beyond the limit is kept, so that its place can be reported.
SettingsReading::SettingsReading(const YamlNode& tree, Diagnostics& diagnostics,
                                 const SettingsContext& context, TrainingSettings& out)
    : diagnostics_(diagnostics), context_(context), out_(out) {
  flatten(tree, "");
  if (leaves_.size() > kMostSettings) {
    diagnostics_.report(leaves_[kMostSettings].node->span,
                        fmt::format("more than {} keys; settings have some hundred", kMostSettings));
    leaves_.resize(kMostSettings);
  }
}

/// A list counts as a leaf. An inner table is a leaf, too, so that it can be found by name; it is never told
/// as unknown.
void SettingsReading::flatten(const YamlNode& node, const std::string& path) {
  if (leaves_.size() > kMostSettings) return;
  const bool is_inner = node.kind == SettingKind::map && !node.entries.empty();
  if (!is_inner && !path.empty()) {
    const std::string_view usual = default_in(node);
    if (usual.empty()) return leaves_.push_back({path, &node}), void();
    defaults_.push_back(node);
    defaults_.back().text = usual;
    return leaves_.push_back({path, &defaults_.back()}), void();
  }
  if (!path.empty()) leaves_.push_back({path, &node, true});  // found by name, never told as unknown
  for (const auto& [key, value] : node.entries) flatten(value, path.empty() ? key : path + "." + key);
}

/// A path that ends with ".*" moves everything below it. Dashes count as underlines, since command lines have
/// either.
void SettingsReading::rename(std::span<const KeyName> names) {
  for (Leaf& leaf : leaves_) {
    std::string path = leaf.path;
    std::ranges::replace(path, '-', '_');
    const auto row =
        std::ranges::find_if(names, [&](const KeyName& name) { return rule_covers(name.from, path); });
    leaf.name = path;
    if (row == names.end()) continue;
    const bool takes_all = row->from.ends_with(".*");
    const std::string below = takes_all ? path.substr(std::min(path.size(), row->from.size() - 1)) : "";
    leaf.name = row->to;
    if (!below.empty()) leaf.name += (row->to.empty() ? "" : ".") + below;
  }
}

/// The last of several keys with one name wins, as in the tools themselves.
SettingsReading::Leaf* SettingsReading::leaf(std::string_view path) {
  const auto found =
      std::find_if(leaves_.rbegin(), leaves_.rend(), [path](const Leaf& row) { return row.name == path; });
  return found == leaves_.rend() ? nullptr : &*found;
}

const YamlNode* SettingsReading::find(std::initializer_list<std::string_view> paths) {
  for (const std::string_view path : paths) {
    Leaf* found = leaf(path);
    if (found == nullptr || found->node->is_null()) continue;
    last_ = found;
    return found->node;
  }
  return nullptr;
}

/// Values that only the run knows come from Python programs and from shell variables.
bool SettingsReading::stays_open() {
  if (last_->node->kind != SettingKind::scalar || last_->node->text != kNotKnown) return false;
  fate(KeyFate::open, "--set of the scenario's key says it");
  return true;
}

std::optional<bool> SettingsReading::flag(std::initializer_list<std::string_view> paths) {
  const YamlNode* node = find(paths);
  if (node == nullptr || node->text == "auto" || stays_open()) return std::nullopt;
  const auto value = node->kind == SettingKind::scalar ? flag_in(node->text) : std::nullopt;
  if (!value) mistake(fmt::format("{} is neither true nor false", last_->path));
  return value;
}

std::optional<double> SettingsReading::number(std::initializer_list<std::string_view> paths) {
  const YamlNode* node = find(paths);
  if (node == nullptr || node->text == "auto" || stays_open()) return std::nullopt;
  const auto value = node->kind == SettingKind::scalar ? number_in(node->text) : std::nullopt;
  if (!value) mistake(fmt::format("{} is no number", last_->path));
  return value;
}

std::optional<std::int64_t> SettingsReading::integer(std::initializer_list<std::string_view> paths,
                                                     std::int64_t least, std::int64_t most) {
  const auto value = number(paths);
  if (!value) return std::nullopt;
  if (*value != std::floor(*value) || *value < static_cast<double>(least) ||
      *value > static_cast<double>(most)) {
    mistake(fmt::format("{} = {} is no integer from {} to {}", last_->path, shown_value(*last_->node), least,
                        most));
    return std::nullopt;
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<std::string> SettingsReading::word(std::initializer_list<std::string_view> paths) {
  const YamlNode* node = find(paths);
  if (node == nullptr || stays_open()) return std::nullopt;
  if (node->kind == SettingKind::scalar) return lower_case(node->text);
  mistake(fmt::format("{} is no text", last_->path));
  return std::nullopt;
}

bool SettingsReading::is_auto(std::string_view path) {
  const YamlNode* node = find({path});
  return node != nullptr && node->kind == SettingKind::scalar && node->text == "auto";
}

/// Tells a leaf, or replaces what was told of it before.
void SettingsReading::tell(Leaf& leaf, KeyFate fate, std::vector<SettingEffect> effects, std::string note) {
  // A leaf that was told before is found by its place.
  const auto told = !leaf.told ? out_.keys.end() : std::ranges::find_if(out_.keys, [&](const ReadKey& key) {
    return key.path == leaf.path && key.span == leaf.node->span && key.file == out_.file;
  });
  leaf.told = true;
  ReadKey key{out_.file, leaf.node->span,    leaf.path,      shown_value(*leaf.node),
              fate,      std::move(effects), std::move(note)};
  if (told == out_.keys.end()) return out_.keys.push_back(std::move(key));
  *told = std::move(key);
}

void SettingsReading::effect(std::vector<SettingEffect> effects, std::string note) {
  if (last_ != nullptr) tell(*last_, KeyFate::effect, std::move(effects), std::move(note));
}
void SettingsReading::fate(KeyFate fate, std::string note) {
  if (last_ != nullptr) tell(*last_, fate, {}, std::move(note));
}
void SettingsReading::effect_of(std::string_view path, std::vector<SettingEffect> effects, std::string note) {
  if (Leaf* found = leaf(path)) tell(*found, KeyFate::effect, std::move(effects), std::move(note));
}
void SettingsReading::fate_of(std::string_view path, KeyFate fate, std::string note) {
  if (Leaf* found = leaf(path)) tell(*found, fate, {}, std::move(note));
}

void SettingsReading::by_default(std::string what, std::vector<SettingEffect> effects) {
  out_.keys.push_back({out_.file, {}, "", "", KeyFate::effect, std::move(effects), std::move(what)});
}

void SettingsReading::mistake(std::string message, std::string hint) {
  if (last_ == nullptr) return;
  last_->told = true;
  diagnostics_.report(last_->node->span, std::move(message), std::move(hint));
}
void SettingsReading::mistake_at(std::string_view path, std::string message, std::string hint) {
  last_ = leaf(path);
  if (last_ == nullptr) return diagnostics_.report({}, std::move(message), std::move(hint));
  mistake(std::move(message), std::move(hint));
}

std::string SettingsReading::argument(std::string_view key) const {
  if (context_.arguments == nullptr) return "";
  std::string found;
  for (const ProgramArgument& argument : *context_.arguments) {
    if (argument.key == key) found = argument.value;
  }
  return found;
}

/// Keys of the other file follow those of this one; its counts win.
void SettingsReading::include(const TrainingSettings& other) {
  out_.keys.insert(out_.keys.end(), other.keys.begin(), other.keys.end());
  if (other.processes > 0) out_.processes = other.processes;
  if (other.machines > 0) out_.machines = other.machines;
}

/// Reads one leaf by a row of a table.
void SettingsReading::apply_rule(Leaf& leaf, const KeyRule& rule) {
  const YamlNode& node = *leaf.node;
  last_ = &leaf;
  const std::string to(rule.to), note(rule.note);
  const auto say = [&](std::string value) { effect({{to, std::move(value)}}, note); };
  // Rows that do not look at the value.
  if (rule.reads == KeyReads::nothing) return fate(KeyFate::no_influence, note);
  if (rule.reads == KeyReads::usual) return fate(KeyFate::usual, note);
  // Values that are not there, not known, or decided by the program.
  if (node.is_null()) return fate(KeyFate::usual, "");
  if (stays_open()) return;
  if (node.kind == SettingKind::scalar && node.text == "auto" && rule.reads != KeyReads::unmodelled)
    return fate(KeyFate::open,
                fmt::format("\"auto\" is decided when the program runs; --set {}=… says it", rule.to));
  if (rule.reads == KeyReads::unmodelled) {
    const std::string value = shown_value(node);
    const bool harmless = is_off(value) || (!rule.harmless.empty() && value == rule.harmless);
    return fate(harmless ? KeyFate::usual : KeyFate::not_modelled, harmless ? "" : note);
  }
  const std::initializer_list<std::string_view> path{leaf.name};
  if (rule.reads == KeyReads::flag || rule.reads == KeyReads::inverse) {
    if (const auto value = flag(path)) say(toml_flag(*value == (rule.reads == KeyReads::flag)));
  } else if (rule.reads == KeyReads::integer) {
    if (const auto value = integer(path, 0, 1'000'000'000'000)) say(std::to_string(*value));
  } else if (rule.reads == KeyReads::mebibytes) {
    const auto value = number(path);
    if (value && (*value < 0 || *value > 1e6)) return mistake(leaf.path + " is no number of MiB");
    if (value) say(toml_bytes(std::llround(*value * (1 << 20))));
  } else if (rule.reads == KeyReads::bytes) {
    if (const auto value = integer(path, 0, 1'000'000'000'000)) say(toml_bytes(*value));
  } else if (rule.reads == KeyReads::milliseconds) {
    const auto value = number(path);
    if (value && (*value <= 0 || *value > 60'000)) return mistake(leaf.path + " is no time in milliseconds");
    if (value) say(toml_text(fmt::format("{} ms", *value)));
  }
}

/// A rule applies to leaves that no function told of.
void SettingsReading::apply(std::span<const KeyRule> rules) {
  for (Leaf& leaf : leaves_) {
    if (leaf.told) continue;
    const auto rule =
        std::ranges::find_if(rules, [&](const KeyRule& row) { return rule_covers(row.path, leaf.name); });
    if (rule != rules.end()) apply_rule(leaf, *rule);
  }
}

/// An effect that is left out turns its key into one without influence. Defaults of the tool that lose all
/// effects are dropped.
void keep_options_of(std::string_view name, TrainingSettings& settings) {
  const StrategyEntry* strategy = find_strategy(name);
  if (strategy == nullptr) return;
  for (ReadKey& key : settings.keys) {
    const auto foreign = [&](const SettingEffect& effect) {
      if (!effect.key.starts_with("strategy.")) return false;
      const std::string_view option = std::string_view(effect.key).substr(9);
      const auto is_it = [option](const Knob& knob) { return knob.name == option; };
      return option != "name" && !std::ranges::any_of(strategy->knobs, is_it) &&
             !std::ranges::any_of(shared_knobs(), is_it);
    };
    if (key.fate != KeyFate::effect || std::erase_if(key.effects, foreign) == 0 || !key.effects.empty())
      continue;
    key.fate = KeyFate::no_influence;
    key.note = fmt::format("{} does not have it", name);
  }
  std::erase_if(settings.keys, [](const ReadKey& key) { return key.path.empty() && key.effects.empty(); });
}

std::vector<Diagnostic> leave_out_options(std::string_view strategy, TrainingSettings& settings) {
  std::vector<std::string> acting;
  for (const ReadKey& key : settings.keys) {
    if (key.fate == KeyFate::effect) acting.push_back(key.path);
  }
  keep_options_of(strategy, settings);
  std::vector<Diagnostic> notes;
  for (const ReadKey& key : settings.keys) {
    if (key.fate == KeyFate::no_influence && std::ranges::find(acting, key.path) != acting.end())
      notes.push_back({key.file, key.span, "", fmt::format("{} is left out: {}", key.path, key.note), ""});
  }
  return notes;
}

/// Sorts by file and line, so that the last effect on a key is the one that counts.
void SettingsReading::finish() {
  for (Leaf& leaf : leaves_) {
    if (!leaf.told) tell(leaf, leaf.node->is_null() ? KeyFate::usual : KeyFate::unknown, {}, "");
  }
  // Tools accept options of stages and wrappers that the file does not choose, and ignore them.
  const std::string strategy = value_of(out_, "strategy.name");
  if (strategy.size() > 2) keep_options_of(strategy.substr(1, strategy.size() - 2), out_);
  std::ranges::stable_sort(out_.keys, {}, [&](const ReadKey& key) {
    return std::pair(key.file != out_.file, key.span.line);  // defaults first: what is said wins
  });
}

}  // namespace foretrain
