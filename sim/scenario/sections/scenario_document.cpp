// The document of a scenario. Settings are parsed one by one, moved to their line below the file's text, and
// merged table by table into the document.
//
// The invariant is that a value's line number tells where it comes from: lines up to `file_lines_` are the
// file's, line `file_lines_` + 1 + i is that of setting i. Readers need not know about settings, and messages
// still name the option that was typed.
#include "sim/scenario/sections/scenario_document.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/printable.hpp"
#include "sim/scenario/sections/framework_section.hpp"
#include "sim/scenario/sections/given_settings.hpp"
#include "sim/scenario/sections/launch_section.hpp"
#include "sim/scenario/sections/model_section.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/toml/toml_text.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Largest number of parts of a dotted key.
constexpr std::size_t kDeepestKey = 8;

/// Line ends would shift the lines of later settings.
std::string one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return text;
}

/// Returns the place of a whole line.
SourceSpan whole(std::string_view text, int line) {
  return {line, 1, std::max(1, static_cast<int>(text.size()))};
}

/// Moves places to the setting's line; values without a place keep none.
void move_to_line(SourceSpan& span, int line) {
  if (span.line > 0) span.line = line;
}

/// Values and tables contain each other, so the functions call each other.
void move_to_line(Table& table, int line);

void move_to_line(Value& value, int line) {
  move_to_line(value.span, line);
  if (auto* table = std::get_if<Table>(&value.data)) move_to_line(*table, line);
  if (auto* array = std::get_if<Array>(&value.data)) {
    for (Value& element : *array) move_to_line(element, line);
  }
}

void move_to_line(Table& table, int line) {
  move_to_line(table.span, line);
  for (Entry& entry : table.entries) {
    move_to_line(entry.key_span, line);
    move_to_line(entry.value, line);
  }
}

/// Returns the parts of "a.b.c"; empty when it is not a plain dotted key.
std::vector<std::string> key_parts(std::string_view key) {
  std::vector<std::string> parts(1);
  for (const char c : key) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    if (c == '.')
      parts.emplace_back();
    else if (plain)
      parts.back() += c;
    else
      return {};
  }
  const bool has_gap =
      std::any_of(parts.begin(), parts.end(), [](const std::string& part) { return part.empty(); });
  return has_gap || parts.size() > kDeepestKey ? std::vector<std::string>{} : parts;
}

/// Returns whether a value that is not valid TOML was meant as TOML rather than as a bare word.
bool looks_like_toml(std::string_view value) {
  return !value.empty() && std::string_view("[{\"'").find(value.front()) != std::string_view::npos;
}

/// Returns a list of numbers with the places that they have in an option's text.
Array number_list(const std::vector<int>& numbers, int line) {
  Array out;
  int column = 1;
  for (const int number : numbers) {
    const int width = static_cast<int>(std::to_string(number).size());
    Value& element = out.emplace_back();
    element.data = std::int64_t{number};
    element.span = {line, column, width};
    column += width + 1;
  }
  return out;
}

/// Returns an inner table, or nullptr.
Table* table_in(Table& table, std::string_view key) {
  Entry* entry = table.find(key);
  return entry == nullptr ? nullptr : std::get_if<Table>(&entry->value.data);
}

/// Returns whether the batch per GPU is divided by speed.
bool says_balance(const Table& model) {
  const Entry* entry = model.find("batch_per_gpu");
  const auto* word = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.data);
  return word != nullptr && *word == kBalance;
}

/// Removes keys of the document that a setting excludes, because the setting wins.
void drop_rivals(Table& document, Table& setting) {
  for (const RivalKeys& group : rival_keys()) {
    Table* present = table_in(document, group.table);
    const Table* given = table_in(setting, group.table);
    if (present == nullptr || given == nullptr) continue;
    const auto is_rival = [&](const Entry& entry) {
      return std::find(group.keys.begin(), group.keys.end(), entry.key) != group.keys.end();
    };
    const bool is_given = std::any_of(given->entries.begin(), given->entries.end(), is_rival);
    // "balance" and the global batch that it divides go together.
    const bool both = says_balance(*present) && given->find("batch_per_gpu") == nullptr;
    if (is_given && says_balance(*given))
      std::erase_if(present->entries, [](const Entry& entry) { return entry.key == "batch_per_gpu"; });
    else if (is_given && !both)
      std::erase_if(present->entries, is_rival);
  }
}

}  // namespace

/// The text with all options is complete before `diagnostics_` is bound to it.
ScenarioDocument::ScenarioDocument(const SourceText& source, const ScenarioOverrides& overrides)
    : file_lines_(static_cast<int>(std::count(source.text.begin(), source.text.end(), '\n')) + 1),
      settings_(settings_of(overrides)),
      text_(joined(source, file_lines_, settings_)),
      diagnostics_(text_),
      one_of_several_(overrides.one_of_several),
      is_combination_(!overrides.combination.empty()) {
  if (!source.text.empty()) table_ = parse_toml(source, diagnostics_);
  // This compares file and options, so it must precede the merge.
  changes_measured_job_ = has("measured") && finds_another_job(overrides);
  apply(overrides);
  if (is_combination_) apply_combination(overrides.combination);
}

/// Longest text of an option in the place of a mistake, in bytes: ranges of GPUs become hundreds of numbers.
constexpr std::size_t kShownSetting = 120;

/// Makes one line per option: first those of --set, then the named options.
std::vector<ScenarioDocument::Setting> ScenarioDocument::settings_of(const ScenarioOverrides& overrides) {
  std::vector<Setting> out;
  const auto add_from = [&](std::string_view option, const std::string& key, const std::string& text) {
    const auto given = overrides.origins.find(key);
    if (given == overrides.origins.end())
      out.push_back({fmt::format("{} {}", option, shortened(text, kShownSetting)), one_line(text), {}, text});
    else
      out.push_back({shortened(given->second.name, kShownSetting), one_line(text), given->second, text});
  };
  const auto add = [&](const std::string& option, const std::string& text) {
    add_from(option, option, text);
  };
  for (const std::string& setting : overrides.settings) add_from("--set", setting, setting);
  if (!overrides.model.empty()) add("--model", overrides.model);
  if (!overrides.cluster.empty()) add("--cluster", overrides.cluster);
  if (!overrides.strategy.empty()) add("--strategy", overrides.strategy);
  if (overrides.batch) add("--batch", std::to_string(*overrides.batch));
  if (!overrides.gpus.empty()) add("--gpus", fmt::format("{}", fmt::join(overrides.gpus, ",")));
  return out;
}

/// The file's text ends with a line end, so that options begin on a line of their own.
SourceText ScenarioDocument::joined(const SourceText& source, int file_lines,
                                    const std::vector<Setting>& settings) {
  SourceText out{source.name, source.text + "\n", file_lines};
  for (const Setting& setting : settings) out.text += setting.text + "\n";
  return out;
}

/// Applies all options. The order is that of settings_of(), so that line numbers agree; options win over
/// --set.
void ScenarioDocument::apply(const ScenarioOverrides& overrides) {
  int line = file_lines_;
  for (std::size_t i = 0; i < overrides.settings.size(); ++i) apply_key_value(settings_[i], ++line);
  const auto set_text = [&](const char* table, const char* key, const std::string& text) {
    if (text.empty()) return;
    const SourceSpan span = whole(text, ++line);
    set({table, key}, {text, span}, span);
  };
  set_text("model", "name", overrides.model);
  set_text("cluster", "name", overrides.cluster);
  if (!overrides.strategy.empty()) leave_file_of_strategy(overrides.strategy);
  set_text("strategy", "name", overrides.strategy);
  if (overrides.batch) {
    // --batch means the kind of batch that the document has.
    const bool strong = has("model.global_batch");
    const SourceSpan span = whole(std::to_string(*overrides.batch), ++line);
    set({"model", strong ? "global_batch" : "batch_per_gpu"}, {*overrides.batch, span}, span);
  }
  if (!overrides.gpus.empty()) {
    const SourceSpan span = whole(fmt::format("{}", fmt::join(overrides.gpus, ",")), ++line);
    set({"run", "gpus"}, {number_list(overrides.gpus, line), span}, span);
  }
}

/// Applies a combination of a study. What was measured is the scenario as it is written, so [measured] is
/// dropped. The strategy comes first, because it removes keys that only the scenario's own strategy needs.
void ScenarioDocument::apply_combination(const std::vector<StudySetting>& combination) {
  std::erase_if(table_.entries,
                [](const Entry& entry) { return entry.key == "study" || entry.key == "measured"; });
  for (const StudySetting& setting : combination) {
    const auto* name = std::get_if<std::string>(&setting.value.data);
    if (setting.key == "strategy.name" && name != nullptr) leave_file_of_strategy(*name);
  }
  for (const StudySetting& setting : combination) set(key_parts(setting.key), setting.value, setting.span);
}

/// Removes keys of the file that belong to its own strategy. A file is written for one strategy. For another
/// strategy it does not state how the processes are started. If that strategy belongs to another framework,
/// neither the version nor the loop of the file apply. Everything else stays: the machine, the data, the job.
/// Settings of the command line hold for every strategy.
void ScenarioDocument::leave_file_of_strategy(const std::string& strategy) {
  const auto text_of = [this](std::string_view key, std::string otherwise) {
    const Entry* entry = find(key);
    const auto* text = entry == nullptr ? nullptr : std::get_if<std::string>(&entry->value.data);
    return text == nullptr ? otherwise : *text;
  };
  const StrategyEntry* own = find_strategy(text_of("strategy.name", "ddp"));
  const StrategyEntry* compared = find_strategy(strategy);
  if (own == nullptr || compared == nullptr || own == compared) return;
  // The start of processes belongs to the strategy.
  for (const Key<ProcessStart>& key : process_start_keys()) erase_of_file("launch", key.name);
  const std::string usual(name_of(own->framework.value_or(FrameworkKind::pytorch)));
  if (!compared->framework || name_of(*compared->framework) == text_of("framework.name", usual)) return;
  // A framework of the command line holds for every strategy.
  if (is_setting("framework.name")) return;
  for (const Key<Framework>& key : framework_keys()) erase_of_file("framework", key.name);
  erase_of_file("model", "optimizer_form");
  for (const char* key : {"hooks", "zero_grad", "progress_bar"}) erase_of_file("loop", key);
}

/// Removes a key of the file's text; one from the command line stays.
void ScenarioDocument::erase_of_file(std::string_view table, std::string_view key) {
  Table* present = table_in(table_, table);
  if (present == nullptr) return;
  std::erase_if(present->entries,
                [&](const Entry& entry) { return entry.key == key && entry.value.span.line <= file_lines_; });
}

/// Returns whether the options request another job than the file. A setting of [measured] refers to the job
/// of the command line. Numbers of GPUs, the length of the run and a study are other questions about the same
/// job.
bool ScenarioDocument::finds_another_job(const ScenarioOverrides& overrides) const {
  const auto is_of = [](const std::string& setting, std::string_view table) {
    return trimmed(std::string_view(setting)).starts_with(table);
  };
  const auto is_measured = [&](const std::string& setting) { return is_of(setting, "measured"); };
  if (std::ranges::any_of(overrides.settings, is_measured)) return false;
  const auto is_of_the_job = [&](const std::string& setting) {
    return !is_of(setting, "run.") && !is_of(setting, "study");
  };
  return !overrides.model.empty() || !overrides.cluster.empty() || !overrides.strategy.empty() ||
         overrides.batch || std::ranges::any_of(overrides.settings, is_of_the_job);
}

/// A setting is first read as TOML, so that numbers, lists and tables keep their types.
void ScenarioDocument::apply_key_value(const Setting& setting, int line) {
  const std::size_t equals = setting.text.find('=');
  if (equals == std::string::npos) {
    return diagnostics_.report(whole(setting.text, line), "a setting is written key=value",
                               "as in --set model.batch_per_gpu=64");
  }
  const SourceText source{setting.origin, setting.as_given};
  Diagnostics problems(source);
  Table parsed = parse_toml(source, problems);
  if (problems.empty()) {
    move_to_line(parsed, line);
    drop_rivals(table_, parsed);
    return merge(table_, std::move(parsed));
    // The text is no TOML. A bare word such as ddp is taken as a text; anything that looks like TOML is a
    // mistake.
  }
  const std::string_view value = trimmed(std::string_view(setting.text).substr(equals + 1));
  const auto path = key_parts(trimmed(std::string_view(setting.text).substr(0, equals)));
  if (path.empty() || value.empty() || looks_like_toml(value)) return diagnostics_.include(problems.found());
  const int column = static_cast<int>(value.data() - setting.text.data()) + 1;
  const SourceSpan span{line, column, static_cast<int>(value.size())};
  set(path, {std::string(value), span}, {line, 1, static_cast<int>(equals)});
}

/// Tables are built from the innermost key outwards.
void ScenarioDocument::set(const std::vector<std::string>& path, Value value, SourceSpan key_span) {
  for (std::size_t i = path.size(); i-- > 1;) {
    const SourceSpan span = value.span;
    Table table{{{path[i], key_span, std::move(value)}}, span, table_.damaged};
    value = {std::move(table), span};
  }
  Table setting{{{path.front(), key_span, std::move(value)}}, {}, false};
  drop_rivals(table_, setting);
  merge(table_, std::move(setting));
}

/// Tables are merged key by key; any other value is replaced.
void ScenarioDocument::merge(Table& into, Table from) {
  for (Entry& entry : from.entries) {
    Entry* present = into.find(entry.key);
    if (present == nullptr)
      into.entries.push_back(std::move(entry));
    else if (present->value.is_table() && entry.value.is_table())
      merge(std::get<Table>(present->value.data), std::move(std::get<Table>(entry.value.data)));
    // A table cannot replace a value, nor the reverse.
    else if (present->value.is_table() != entry.value.is_table())
      diagnostics_.report(
          entry.key_span, fmt::format("{} is {}a table", entry.key, present->value.is_table() ? "" : "not "),
          present->value.is_table() ? fmt::format("set one of its keys, as in {}.name", entry.key) : "");
    else
      *present = std::move(entry);
  }
}

/// The time is proportional to the depth of the key and to the entries of its tables.
const Entry* ScenarioDocument::find(std::string_view dotted_key) const {
  const Table* table = &table_;
  while (true) {
    const std::size_t dot = dotted_key.find('.');
    const Entry* entry = table->find(dotted_key.substr(0, dot));
    if (entry == nullptr || dot == std::string_view::npos) return entry;
    if (!entry->value.is_table()) return nullptr;
    table = &std::get<Table>(entry->value.data);
    dotted_key.remove_prefix(dot + 1);
  }
}

/// Only keys in sections are listed; tables inside of sections count as one key.
std::vector<std::string> ScenarioDocument::keys() const {
  std::vector<std::string> out;
  for (const Entry& section : table_.entries) {
    if (!section.value.is_table()) continue;
    for (const Entry& entry : std::get<Table>(section.value.data).entries)
      out.push_back(section.key + "." + entry.key);
  }
  return out;
}

/// Lines beyond the file's are those of settings.
bool ScenarioDocument::is_setting(std::string_view dotted_key) const {
  const Entry* entry = find(dotted_key);
  return entry != nullptr && entry->value.span.line > file_lines_;
}

/// The index of a setting follows from its line.
std::vector<Diagnostic> ScenarioDocument::found() const {
  std::vector<Diagnostic> out = diagnostics_.found();
  for (Diagnostic& diagnostic : out) {
    const int index = diagnostic.span.line - file_lines_ - 1;
    // Places in the file need no change.
    if (diagnostic.file != text_.name || index < 0 || index >= static_cast<int>(settings_.size())) continue;
    const Setting& setting = settings_[static_cast<std::size_t>(index)];
    diagnostic.file = setting.origin;
    diagnostic.span.line = 1;
    // The line of a typed option is its text, which messages quote.
    if (setting.given.kind == SettingOrigin::Kind::option) continue;
    // The quoted line is made by this class and is not in the file.
    diagnostic.span = setting.given.span;
    diagnostic.line_text.clear();
    if (setting.given.kind == SettingOrigin::Kind::file)
      diagnostic.message += fmt::format(" (it comes to {})", shortened(setting.text, kShownSetting));
  }
  return out;
}

/// The document is written with all settings merged, as a file that can be read again.
std::string scenario_file_of(const SourceText& source, const ScenarioOverrides& overrides) {
  const ScenarioDocument document(source, overrides);
  if (auto found = document.found(); !found.empty()) throw InputError(std::move(found));
  return toml_text(document.table());
}

}  // namespace foretrain
