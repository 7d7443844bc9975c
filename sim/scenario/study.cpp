// Combinations are counted like numbers, with a digit for each axis. An option that the strategy of a
// combination lacks stays at its first value.
#include "sim/scenario/study.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/study_options.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns whether a key is an option of this strategy, or one that all strategies have.
bool has_option(const StrategyEntry& strategy, std::string_view key) {
  const auto is_it = [&](const Knob& knob) { return fmt::format("strategy.{}", knob.name) == key; };
  const std::vector<Knob> shared = shared_knobs();
  return std::any_of(strategy.knobs.begin(), strategy.knobs.end(), is_it) ||
         std::any_of(shared.begin(), shared.end(), is_it);
}

/// Returns the strategy of a combination. Unknown strategies are reported when their combination is read,
/// with all its settings.
const StrategyEntry* strategy_of_study(const Study& study, const std::vector<std::size_t>& digits,
                                       const std::string& otherwise) {
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    if (study.axes[i].key != "strategy.name") continue;
    const auto* name = std::get_if<std::string>(&study.axes[i].values[digits[i]].data);
    return name == nullptr ? nullptr : find_strategy(*name);
  }
  return find_strategy(otherwise);
}

/// Returns whether a key has an effect with the strategy.
bool applies(std::string_view key, const StrategyEntry* strategy) {
  return strategy == nullptr || key == "strategy.name" || !key.starts_with("strategy.") ||
         has_option(*strategy, key);
}

/// Advances to the next combination; returns false after the last one.
bool advance(const Study& study, std::vector<std::size_t>& digits) {
  for (std::size_t i = digits.size(); i-- > 0;) {
    if (++digits[i] < study.axes[i].values.size()) return true;
    digits[i] = 0;
  }
  return false;
}

}  // namespace

bool is_option_of(const std::string& strategy, std::string_view key) {
  return applies(key, find_strategy(strategy));
}

std::vector<StudyPoint> study_points(const Study& study, const std::string& strategy) {
  std::vector<StudyPoint> points;
  std::vector<std::size_t> digits(study.axes.size(), 0);
  do {
    const StrategyEntry* entry = strategy_of_study(study, digits, strategy);
    StudyPoint point;
    bool repeats = false;
    for (std::size_t i = 0; i < study.axes.size(); ++i) {
      const bool is_set = applies(study.axes[i].key, entry);
      repeats = repeats || (!is_set && digits[i] > 0);
      point.push_back(is_set ? study.axes[i].values[digits[i]] : Value{});
    }
    if (!repeats) points.push_back(std::move(point));
  } while (advance(study, digits));
  return points;
}

std::vector<StudySetting> settings_of(const Study& study, const StudyPoint& point) {
  std::vector<StudySetting> settings;
  for (std::size_t i = 0; i < study.axes.size(); ++i) {
    const StudyAxis& axis = study.axes[i];
    if (axis.key == "run.gpus")
      settings.push_back({axis.key, {Array(axis.values), axis.span}, axis.span});
    else if (!std::holds_alternative<std::monostate>(point[i].data))
      settings.push_back({axis.key, point[i], axis.span});
  }
  return settings;
}

std::string text_of(const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value.data)) return *text;
  if (const auto* flag = std::get_if<bool>(&value.data)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<std::int64_t>(&value.data)) return fmt::format("{}", *integer);
  if (const auto* number = std::get_if<double>(&value.data)) return fmt::format("{}", *number);
  return "-";
}

}  // namespace foretrain
