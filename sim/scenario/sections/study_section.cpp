// The table [study]. An axis is a key of the scenario with a list of values. Whether the key may have each
// value is found when its combination is read.
#include "sim/scenario/sections/study_section.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/names.hpp"
#include "sim/scenario/sections/run_sections.hpp"
#include "sim/scenario/sections/scenario_keys.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns a key of the scenario, or nullptr.
const ScenarioKey* find_key(std::string_view name) {
  const auto found = std::find_if(scenario_keys().begin(), scenario_keys().end(),
                                  [&](const ScenarioKey& key) { return key.name == name; });
  return found == scenario_keys().end() ? nullptr : &*found;
}

/// Returns whether a key may vary. A measurement is of the scenario as it is written, and a note or a study
/// belongs to all combinations.
bool can_vary(std::string_view key) {
  return key != "note" && !key.starts_with("measured.") && !key.starts_with("study.");
}

/// Returns all names that an axis may have, for hints.
std::vector<std::string> known_names() {
  std::vector<std::string> names;
  for (const StudyName& name : study_names()) names.emplace_back(name.name);
  for (const ScenarioKey& key : scenario_keys()) {
    if (can_vary(key.name)) names.push_back(key.name);
  }
  return names;
}

/// Values are equal if kind and text are.
bool same_value(const Value& a, const Value& b) {
  return a.data.index() == b.data.index() && text_of(a) == text_of(b);
}

/// Returns one name for both kinds of batch, because only one of them can be set.
std::string_view rival_of(std::string_view key) {
  return key == "model.global_batch" ? "model.batch_per_gpu" : key;
}

/// Reads and checks the axes of one study.
class StudyReader {
 public:
  StudyReader(const Table& table, TableReader& document, const ScenarioDocument& source, Scenario& scenario)
      : table_(table), document_(document), source_(source), scenario_(scenario) {}

  // Axes first; then the number of combinations, the values, and the options that the strategies have.
  void read() {
    for (const Entry& entry : table_.entries) {
      if (document_.diagnostics().found().size() >= Diagnostics::kMostDiagnostics) return;
      const std::string key = key_of(entry);
      // A key of the command line is fixed, so its axis is dropped.
      if (key.empty() || source_.is_setting(key)) continue;
      const Array* values = values_of(entry);
      if (values != nullptr) scenario_.study.axes.push_back({entry.key, key, entry.key_span, *values});
    }
    check_count();
    for (const StudyAxis& axis : scenario_.study.axes) check_values(axis);
    if (source_.is_setting("strategy.name"))
      leave_out_options();
    else
      check_options();
  }

 private:
  /// Returns the scenario's key of an axis; empty after a mistake.
  std::string key_of(const Entry& entry) {
    if (entry.value.is_table()) return report_table(entry), "";
    std::string key =
        entry.key == "batch" && source_.has("model.global_batch") ? "model.global_batch" : entry.key;
    key = varied_key(key);
    if (key.empty()) return report_unknown(entry), "";
    const auto same = [&](const StudyAxis& axis) { return rival_of(axis.key) == rival_of(key); };
    const auto& axes = scenario_.study.axes;
    const auto first = std::find_if(axes.begin(), axes.end(), same);
    if (first == axes.end()) return key;
    document_.report(entry.key_span,
                     fmt::format("{} and {} set the same", quoted(first->name), quoted(entry.key)),
                     "leave one of them out");
    return "";
  }

  // Returns the values of an axis; nullptr after a mistake.
  const Array* values_of(const Entry& entry) {
    const auto* values = std::get_if<Array>(&entry.value.data);
    if (values != nullptr && !values->empty()) return values;
    const std::string hint =
        entry.key == "strategy" ? "as in strategy = [\"dp\", \"ddp\"]" : "as in batch = [64, 128, 256]";
    if (values != nullptr)
      document_.report(entry.value.span, fmt::format("study: {} has no values", quoted(entry.key)), hint);
    else if (!std::holds_alternative<std::monostate>(entry.value.data))
      document_.report(
          entry.value.span,
          fmt::format("study: {} must be a list, not {}", quoted(entry.key), kind_of(entry.value)), hint);
    return nullptr;
  }

  // Reports too many combinations or lines, and drops the study then.
  void check_count() {
    double combinations = 1;
    bool has_gpus = false;
    for (const StudyAxis& axis : scenario_.study.axes) {
      combinations *= static_cast<double>(axis.values.size());
      has_gpus = has_gpus || axis.key == "run.gpus";
    }
    const double lines = has_gpus ? combinations : combinations * static_cast<double>(scenario_.gpus.size());
    if (combinations <= kMostCombinations && lines <= kMostStudyLines) return;
    if (combinations > kMostCombinations)
      document_.report(table_.span,
                       fmt::format("[study] has {:.0f} combinations, at most {} are predicted", combinations,
                                   kMostCombinations),
                       "leave out values, or make several scenarios of it");
    else
      document_.report(
          table_.span,
          fmt::format(
              "[study] has {:.0f} combinations on {} numbers of GPUs each, at most {} lines are predicted",
              combinations, scenario_.gpus.size(), kMostStudyLines),
          "say on which, as in gpus = [1, 2, 4]");
    // A study that is too large is dropped, so that later stages need no limit.
    scenario_.study.axes.clear();
  }

  // Checks the values of one axis.
  void check_values(const StudyAxis& axis) {
    for (std::size_t i = 0; i < axis.values.size(); ++i) check_value(axis, i);
  }

  // Reports options that none of the studied strategies has.
  void check_options() {
    for (const StudyAxis& axis : scenario_.study.axes) {
      if (has_owner(axis)) continue;
      document_.report(
          axis.span,
          fmt::format("{} is an option of {}, not of {}", axis.key,
                      fmt::join(find_key(axis.key)->strategies, ", "), fmt::join(strategies(), ", ")),
          "add such a strategy to the study");
    }
  }

  /// Omits options that the strategy of the command line does not have; the file cannot know it.
  void leave_out_options() {
    std::erase_if(scenario_.study.axes, [this](const StudyAxis& axis) {
      if (has_owner(axis)) return false;
      if (!source_.one_of_several())
        scenario_.warnings.push_back(fmt::format(
            "{} has no effect with strategy {}: it is left out of the study", axis.key, scenario_.strategy));
      return true;
    });
  }

  // Reports values that are no plain ones, repeated values, and impossible numbers of GPUs.
  void check_value(const StudyAxis& axis, std::size_t at) {
    const Value& value = axis.values[at];
    const auto end = axis.values.begin() + static_cast<std::ptrdiff_t>(at);
    if (value.is_table() || std::holds_alternative<Array>(value.data))
      document_.report(value.span, fmt::format("study: {} must hold plain values, not {}", quoted(axis.name),
                                               kind_of(value)));
    else if (std::find_if(axis.values.begin(), end,
                          [&](const Value& other) { return same_value(value, other); }) != end)
      document_.report(value.span, fmt::format("study: {} has {} twice", quoted(axis.name), text_of(value)));
    else if (axis.key == "run.gpus")
      check_gpus(value);
  }

  // Reports a number of GPUs outside of the limits of run.gpus.
  void check_gpus(const Value& value) {
    const auto* gpus = std::get_if<std::int64_t>(&value.data);
    if (gpus == nullptr || *gpus < 1 || *gpus > kMostGpus)
      document_.report(value.span, fmt::format("study: gpus must hold integers from 1 to {}", kMostGpus),
                       "as in gpus = [1, 2, 4]");
  }

  // Returns the strategies of the study by their names in the catalog; the scenario's if none vary.
  std::vector<std::string> strategies() const {
    for (const StudyAxis& axis : scenario_.study.axes) {
      if (axis.key != "strategy.name") continue;
      std::vector<std::string> names;
      for (const Value& value : axis.values) {
        // An unknown strategy is reported when its combination is read.
        const StrategyEntry* entry = find_strategy(text_of(value));
        names.emplace_back(entry == nullptr ? text_of(value) : std::string(entry->name));
      }
      return names;
    }
    return {scenario_.strategy};
  }

  // Returns whether a studied strategy has the option of an axis.
  bool has_owner(const StudyAxis& axis) const {
    const std::vector<std::string>& owners = find_key(axis.key)->strategies;
    const std::vector<std::string> studied = strategies();
    const auto owns = [&](const std::string& name) {
      return std::find(owners.begin(), owners.end(), name) != owners.end();
    };
    return owners.empty() || std::any_of(studied.begin(), studied.end(), owns);
  }

  // Reports a table, which a key with dots becomes outside of quotes.
  void report_table(const Entry& entry) {
    document_.report(entry.key_span, fmt::format("study: {} is a table", quoted(entry.key)),
                     "keys with dots stand in quotes, as in \"data.workers_per_gpu\" = [0, 2, 4]");
  }
  // Reports a name that no key has.
  void report_unknown(const Entry& entry) {
    document_.report(entry.key_span, fmt::format("unknown key {} in [study]", quoted(entry.key)),
                     hint_for_study_key(entry.key.substr(0, 60)));
  }
  // Quotes at most 60 bytes of a name for a message.
  static std::string quoted(const std::string& name) { return fmt::format("\"{}\"", name.substr(0, 60)); }

  const Table& table_;
  TableReader& document_;
  const ScenarioDocument& source_;
  Scenario& scenario_;
};

}  // namespace

/// The order is that of the reference page.
const std::vector<StudyName>& study_names() {
  static const std::vector<StudyName> names{
      {"batch", "model.batch_per_gpu", "[32, 64]", "none",
       "a study: every combination of the values in [study] is a line of one table; model.global_batch if "
       "the scenario has one, else model.batch_per_gpu. Any other key of a scenario stands there in quotes, "
       "as in \"data.prefetch\" = [2, 4]"},
      {"gpus", "run.gpus", "[1, 2, 4]", "run.gpus", "run.gpus, one number each"},
      {"strategy", "strategy.name", "[\"dp\", \"ddp\"]", "none",
       "strategy.name; options that one of them does not have are left out for it"},
      {"model", "model.name", "[\"resnet18\", \"resnet50\"]"},
      {"cluster", "cluster.name", "[\"puhti\", \"mahti\"]"},
      {"precision", "model.precision", "[\"fp32\", \"amp_fp16\"]"},
      {"optimizer", "model.optimizer", "[\"sgd\", \"adam\"]"},
      {"workers", "data.workers_per_gpu", "[0, 2, 4]"},
      {"cores", "data.cores_per_gpu", "[2, 6]"},
      {"accumulation", "strategy.accumulation", "[1, 4]"},
      {"execution", "framework.execution", "[\"eager\", \"compiled\"]"},
      {"launch", "launch.with", "[\"torchrun\", \"python\"]"},
  };
  return names;
}

/// A short name is replaced by its key; a dotted key stands for itself.
std::string varied_key(const std::string& name) {
  std::string key = name;
  for (const StudyName& row : study_names()) key = row.name == name ? std::string(row.key) : key;
  return find_key(key) == nullptr || !can_vary(key) ? "" : key;
}

/// Returns near names out of all, or else the short ones.
std::string hint_for_study_key(const std::string& name) {
  if (!nearest_names(name, known_names()).empty()) return did_you_mean(name, known_names());
  std::string known;
  for (const StudyName& row : study_names())
    known += fmt::format("{}{}", known.empty() ? "known: " : ", ", row.name);
  return known;
}

/// Without the table there is no study.
void read_study(TableReader& document, const ScenarioDocument& source, Scenario& scenario) {
  const Table* table = document.table("study");
  if (table != nullptr) StudyReader(*table, document, source, scenario).read();
}

}  // namespace foretrain
