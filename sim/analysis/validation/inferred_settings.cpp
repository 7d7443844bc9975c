// Settings of rows that their texts and numbers imply. Rules search for words in lower case in the texts of a
// row. On one GPU no messages are sent, so a strategy's name only tells which framework ran.
#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "sim/analysis/validation/validation.hpp"
#include "sim/base/ascii.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/// Returns true if `word` occurs in the text by itself or beside digits and signs ("tensorflow2", "_xla_"),
/// and not directly after a denial.
bool mentions(std::string_view text, std::string_view word, const std::vector<std::string>& denials) {
  for (std::size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) {
    const std::string_view before = text.substr(0, at);
    const std::size_t end = at + word.size();
    const bool alone = (at == 0 || !is_letter(text[at - 1])) && (end == text.size() || !is_letter(text[end]));
    if (alone &&
        std::ranges::none_of(denials, [&](const std::string& denial) { return before.ends_with(denial); }))
      return true;
  }
  return false;
}

/// Returns true if settings have the key, or a key in the table of that name.
bool say(const Settings& settings, std::string_view name) {
  return std::ranges::any_of(settings, [&](const auto& setting) {
    const std::string& key = setting.first;
    return key.starts_with(name) && (key.size() == name.size() || key[name.size()] == '.');
  });
}

std::string_view without_quotes(std::string_view text) {
  text = trimmed(text);
  return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2)
                                                                       : text;
}

/// Returns true if the row's settings name this framework.
bool runs(const Measurement& row, std::string_view framework) {
  return std::ranges::any_of(row.settings, [&](const auto& setting) {
    return setting.first == "framework.name" && without_quotes(setting.second) == framework;
  });
}

/// A row that rules are compared with.
struct RowDescription {
  Measurement& row;
  /// The row's own settings, before any rule.
  Settings own;
  std::string series, source;
};

/// Returns true if every word of the rule occurs in a text that the rule searches.
bool has_words(const ProvenanceRule& rule, const RowDescription& told) {
  return std::ranges::all_of(rule.words, [&](const std::string& word) {
    return (rule.in_series && mentions(told.series, word, rule.unless_after)) ||
           (rule.in_source && mentions(told.source, word, rule.unless_after));
  });
}

/// Returns true if all conditions of the rule hold for the row. Settings of earlier rules count as the row's
/// for the framework, but not for unless_set.
bool holds(const ProvenanceRule& rule, const RowDescription& told) {
  const auto is = [](const std::string& wanted, const std::string& found) {
    return wanted.empty() || wanted == found;
  };
  const Measurement& row = told.row;
  return is(rule.strategy, row.strategy) && is(rule.precision, row.precision) &&
         is(rule.cluster, row.cluster) && row.model.starts_with(rule.model_prefix) &&
         (rule.framework.empty() || runs(row, rule.framework)) &&
         std::ranges::none_of(rule.unless_set,
                              [&](const std::string& name) { return say(told.own, name); }) &&
         has_words(rule, told);
}

/// Replaces a column and returns the change, "cluster a for b"; empty if it stays.
std::string replace(std::string_view what, std::string& present, const std::string& told) {
  if (told.empty() || told == present) return "";
  std::string change = fmt::format("{} {} for {}", what, told, present);
  present = told;
  return change;
}

/// Counts the changes of one rule.
class SettingsOfRule {
 public:
  explicit SettingsOfRule(const ProvenanceRule& rule) : rule_(rule) {
    for (const RuleSetting& setting : rule.settings) rows_[text(setting)] = 0;
  }

  /// Applies the rule to a row. A key that the row or an earlier rule has set stays.
  void apply_to(Measurement& row) {
    for (const RuleSetting& setting : rule_.settings) {
      if (say(row.settings, setting.key)) continue;
      row.settings.emplace_back(setting.key, setting.value);
      ++rows_[text(setting)];
    }
    for (const std::string& change : {replace("cluster", row.cluster, rule_.as_cluster),
                                      replace("strategy", row.strategy, rule_.as_strategy)})
      if (!change.empty()) ++rows_[change];
    // Throughput in another unit than samples becomes a rate, which only an anchor can give a unit.
    if (rule_.counts.empty() || row.metric != Measurement::Metric::samples_per_s) return;
    row.metric = Measurement::Metric::rate;
    ++rows_["throughput in " + rule_.counts + ", not samples"];
  }

  /// Reports the changes; a rule that found no row is reported with zero rows.
  void add_to(std::vector<InferredSetting>& inferred) const {
    if (rows_.empty()) inferred.push_back({unused(), 0, rule_.said_in});
    for (const auto& [what, rows] : rows_) inferred.push_back({what, rows, rule_.said_in});
  }

 private:
  static std::string text(const RuleSetting& setting) { return setting.key + " = " + setting.value; }
  std::string unused() const {
    if (!rule_.counts.empty()) return "throughput in " + rule_.counts;
    return rule_.as_cluster.empty() ? "strategy " + rule_.as_strategy : "cluster " + rule_.as_cluster;
  }

  const ProvenanceRule& rule_;
  std::map<std::string, int> rows_;
};

std::vector<InferredSetting> inferred_from(const std::map<std::string, int>& counts) {
  std::vector<InferredSetting> inferred;
  for (const auto& [what, rows] : counts) inferred.push_back({what, rows});
  return inferred;
}

}  // namespace

std::vector<InferredSetting> name_several_workers(std::vector<Measurement>& rows) {
  std::set<std::string> series;
  for (const Measurement& row : rows) {
    if (row.strategy == "mirrored" && row.nodes > 1) series.insert(row.series);
  }
  std::map<std::string, int> counts;
  for (Measurement& row : rows) {
    if (row.strategy == "mirrored" && series.contains(row.series))
      ++counts[replace("strategy", row.strategy, "multi_worker_mirrored")];
  }
  return inferred_from(counts);
}

std::vector<InferredSetting> name_plain_loops(std::vector<Measurement>& rows) {
  std::map<std::string, int> counts;
  for (Measurement& row : rows) {
    if (row.gpus == 1 && find_strategy(row.strategy) == nullptr)
      ++counts[replace("strategy", row.strategy, "single")];
  }
  return inferred_from(counts);
}

std::vector<InferredSetting> apply_provenance(const Provenance& provenance, std::vector<Measurement>& rows) {
  std::vector<SettingsOfRule> told_by(provenance.rules.begin(), provenance.rules.end());
  for (Measurement& row : rows) {
    const RowDescription told{row, row.settings, lower_case(row.series), lower_case(row.source)};
    for (std::size_t i = 0; i < told_by.size(); ++i) {
      if (holds(provenance.rules[i], told)) told_by[i].apply_to(row);
    }
  }
  std::vector<InferredSetting> out;
  for (const SettingsOfRule& rule : told_by) rule.add_to(out);
  return out;
}

}  // namespace foretrain
