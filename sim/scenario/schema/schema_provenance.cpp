// The file of rules about measured rows. A [[rule]] has words to find, conditions, and the settings that the
// row was run with:
// [[rule]]
// words = ["xla"]
// settings = { framework.execution = "compiled" }
// said_in = "the run's log, line 3"
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/names.hpp"
#include "sim/scenario/calibration/calibration_text.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/provenance.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/scenario/study.hpp"
#include "sim/scenario/toml/reader.hpp"
#include "sim/scenario/toml/section_values.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/workload.hpp"

namespace foretrain {

namespace {

/// Columns in which words are searched for.
const std::vector<std::string> kRowTexts{"series", "source"};

/// Returns whether a key is set by a column of the row, or is not part of a run. Rules cannot set such keys.
bool is_of_the_row(std::string_view key) {
  static const std::vector<std::string_view> keys{"model.name",
                                                  "model.precision",
                                                  "model.batch_per_gpu",
                                                  "model.global_batch",
                                                  "strategy.name",
                                                  "cluster.name",
                                                  "run.gpus",
                                                  "note"};
  return std::ranges::count(keys, key) > 0 || key.starts_with("study.") || key.starts_with("measured.");
}

/// Returns the keys of a scenario that rules can set.
const std::vector<std::string>& keys_of_runs() {
  // The keys do not change, so that they are collected once.
  static const std::vector<std::string> keys = [] {
    std::vector<std::string> names;
    for (const ScenarioKey& key : scenario_keys()) {
      if (!is_of_the_row(key.name)) names.push_back(key.name);
    }
    return names;
  }();
  return keys;
}

/// Returns whether further mistakes would not be reported.
bool is_full_of_mistakes(const Diagnostics& diagnostics) {
  return diagnostics.found().size() >= Diagnostics::kMostDiagnostics;
}

/// Returns a value as TOML; nullopt for values that no key of a rule can have.
std::optional<std::string> as_toml(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data))
    return text->find_first_of("\r\n") == std::string::npos ? std::optional(quoted(*text)) : std::nullopt;
  const auto* number = std::get_if<double>(&value.data);
  const bool is_list = std::holds_alternative<Array>(value.data);
  return is_list || (number != nullptr && !std::isfinite(*number)) ? std::nullopt
                                                                   : std::optional(text_of(value));
}

/// Reads one rule.
class RuleReader {
 public:
  explicit RuleReader(const Table& table, Diagnostics& diagnostics)
      : reader_(table, "rule", diagnostics), span_(table.span) {}

  // Every part of a rule is read, even after a mistake, to report all of them at once.
  ProvenanceRule read() {
    reader_.require("said_in", "\"the run's log, line 3: TensorFlow 1.15\"");
    rule_.said_in = text(reader_, "said_in");
    reader_.require("words", "[\"tensorflow\"]");
    rule_.words = lowered("words");
    rule_.unless_after = lowered("unless_after");
    read_columns();
    read_conditions();
    read_unless_set();
    read_settings();
    read_run_as();
    // A rule without settings and replacements has no effect.
    if (!reader_.damaged() && !reader_.has("settings") && !reader_.has("run_as"))
      reader_.report(span_, "the rule changes nothing", "add settings = { framework.name = \"tensorflow\" }");
    reader_.finish();
    return std::move(rule_);
  }

 private:
  /// Returns whether a text has a sensible length; reports it otherwise.
  bool fits(SourceSpan span, const std::string& name, std::string_view text) {
    if (!trimmed(text).empty() && text.size() <= kLongestRuleText) return true;
    reader_.report(span, trimmed(text).empty()
                             ? fmt::format("{} is empty", name)
                             : fmt::format("{} is longer than {} bytes", name, kLongestRuleText));
    return false;
  }

  // Returns a text, or an empty one after a mistake.
  std::string text(TableReader& reader, std::string_view key) {
    const auto found = reader.string(key);
    return found && fits(reader.span_of(key), reader.full_name(key), *found) ? *found : "";
  }

  // Returns the sound texts of a list.
  std::vector<std::string> texts(std::string_view key) {
    const auto found = reader_.strings(key, kMostRuleTexts);
    if (!found) return {};
    if (found->empty())
      reader_.report(reader_.span_of(key), fmt::format("{} is an empty list", reader_.full_name(key)));
    // strings() has checked that the list holds texts only, so that indices agree.
    const Array& values = std::get<Array>(reader_.value(key)->data);
    std::vector<std::string> out;
    for (std::size_t i = 0; i < found->size(); ++i) {
      if (fits(values[i].span, reader_.full_name(key), (*found)[i])) out.push_back((*found)[i]);
    }
    return out;
  }

  // Returns the texts of a list in small letters.
  std::vector<std::string> lowered(std::string_view key) {
    std::vector<std::string> out = texts(key);
    std::ranges::transform(out, out.begin(), [](const std::string& text) { return lower_case(text); });
    return out;
  }

  // Reads the columns to search; without the key all of them are searched.
  void read_columns() {
    const std::vector<std::string> names = texts("columns");
    for (const std::string& name : names) {
      if (std::ranges::count(kRowTexts, name) == 0)
        reader_.report(reader_.span_of("columns"),
                       fmt::format("no text column is called \"{}\"", name.substr(0, 60)),
                       did_you_mean(name, kRowTexts));
    }
    if (names.empty()) return;
    rule_.in_series = std::ranges::count(names, "series") > 0;
    rule_.in_source = std::ranges::count(names, "source") > 0;
  }

  // Reads the conditions on other columns, [rule.where].
  void read_conditions() {
    const Table* table = reader_.table("where");
    if (table == nullptr) return;
    TableReader where(*table, reader_.full_name("where"), reader_.diagnostics());
    const std::vector<std::string> frameworks{std::string(name_of(FrameworkKind::pytorch)),
                                              std::string(name_of(FrameworkKind::tensorflow))};
    rule_.framework = where.one_of("framework", frameworks).value_or("");
    rule_.precision = where.one_of("precision", precision_names()).value_or("");
    rule_.model_prefix = text(where, "model_prefix");
    rule_.cluster = text(where, "cluster");
    rule_.strategy = text(where, "strategy");
    where.finish();
  }

  // Returns the precisions that measured rows may have.
  static std::vector<std::string> precision_names() {
    std::vector<std::string> names;
    for (const Precision precision :
         {Precision::fp32, Precision::tf32, Precision::amp_fp16, Precision::bf16, Precision::fp8})
      names.emplace_back(name_of(precision));
    return names;
  }

  /// Reads keys, or tables that hold keys, which the row must not set itself.
  void read_unless_set() {
    rule_.unless_set = texts("unless_set");
    const std::vector<std::string>& known = keys_of_runs();
    for (const std::string& name : rule_.unless_set) {
      const bool is_known = std::ranges::any_of(
          known, [&](const std::string& key) { return key == name || key.starts_with(name + "."); });
      if (!is_known)
        reader_.report(reader_.span_of("unless_set"),
                       fmt::format("no scenario has the key or table \"{}\"", name.substr(0, 60)),
                       did_you_mean(name, known));
    }
  }

  // Reads the settings, which must not be empty.
  void read_settings() {
    const Table* table = reader_.table("settings");
    if (table == nullptr) return;
    if (table->entries.empty())
      reader_.report(table->span, "rule.settings is empty",
                     "as in settings = { framework.name = \"tensorflow\" }");
    add_settings(*table, "");
  }

  /// Adds settings with their full keys: framework.name = … and "framework.name" = … are the same key.
  void add_settings(const Table& table, const std::string& prefix) {
    for (const Entry& entry : table.entries) {
      if (is_full_of_mistakes(reader_.diagnostics())) return;
      const std::string key = prefix + entry.key;
      if (const auto* inner = std::get_if<Table>(&entry.value.data); inner != nullptr)
        add_settings(*inner, key + ".");
      else if (!std::holds_alternative<std::monostate>(entry.value.data))
        add_setting(key, entry);
    }
  }

  // Adds one setting, unless rules cannot set it or its value is not a plain one.
  void add_setting(const std::string& key, const Entry& entry) {
    const std::vector<std::string>& known = keys_of_runs();
    if (is_of_the_row(key))
      return reader_.report(entry.key_span, fmt::format("a rule cannot set {}", key.substr(0, 60)),
                            key == "cluster.name" || key == "strategy.name"
                                ? "as in run_as = { strategy = \"ddp\" }"
                                : "a column of the rows says it, or it is no part of a run");
    if (std::ranges::count(known, key) == 0)
      return reader_.report(entry.key_span, fmt::format("no scenario has the key \"{}\"", key.substr(0, 60)),
                            did_you_mean(key, known));
    const auto value = as_toml(entry.value);
    if (!value)
      return reader_.report(entry.value.span,
                            fmt::format("{} must be one line of text, a number, true or false", key));
    if (std::ranges::count(rule_.settings, key, &RuleSetting::key) > 0)
      return reader_.report(entry.key_span, fmt::format("{} is set twice", key));
    rule_.settings.push_back({key, *value, entry.value.span});
  }

  // Reads replacements of the row's columns.
  void read_run_as() {
    const Table* table = reader_.table("run_as");
    if (table == nullptr) return;
    TableReader run_as(*table, reader_.full_name("run_as"), reader_.diagnostics());
    if (table->entries.empty())
      run_as.report(table->span, "rule.run_as is empty", "as in run_as = { strategy = \"ddp\" }");
    rule_.as_strategy = run_as.one_of("strategy", strategy_names()).value_or("");
    rule_.counts = text(run_as, "unit");
    rule_.as_cluster = text(run_as, "cluster");
    if (!rule_.as_cluster.empty()) {
      // A wrong cluster is reported here and not at the rows that use it.
      find_named(CatalogKind::clusters, rule_.as_cluster, run_as.span_of("cluster"), run_as.diagnostics());
      rule_.as_cluster =
          name_from(run_as.diagnostics().source(), run_as.span_of("cluster"), rule_.as_cluster);
    }
    run_as.finish();
  }

  TableReader reader_;
  SourceSpan span_;
  ProvenanceRule rule_;
};

}  // namespace

/// Reading stops when further mistakes would not be reported.
Provenance read_provenance(const SourceText& source, Diagnostics& diagnostics) {
  Provenance provenance{source, {}};
  const Table table = parse_toml(source, diagnostics);
  TableReader document(table, "", diagnostics);
  document.require("rule", "[[rule]] with words, settings and said_in");
  const Array* rules = document.array("rule", kMostRules);
  for (std::size_t i = 0; rules != nullptr && i < rules->size() && !is_full_of_mistakes(diagnostics); ++i) {
    const Value& element = (*rules)[i];
    if (const auto* rule = std::get_if<Table>(&element.data))
      provenance.rules.push_back(RuleReader(*rule, diagnostics).read());
    else
      document.report(element.span, "a rule is a table", "as in [[rule]] with words, settings and said_in");
  }
  document.finish();
  return provenance;
}

}  // namespace foretrain
