// Table [study]: the keys that vary and their values, checked before any combination is read.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/sections/scenario_document.hpp"
#include "sim/scenario/toml/table_reader.hpp"

namespace foretrain {

/// A short name of a key that is often varied.
struct StudyName {
  std::string_view name;
  std::string_view key;
  std::string_view example;
  std::string_view fallback = "none";
  /// Meaning of the name; if it is empty, that of the key holds.
  std::string_view meaning = {};
};
/// Returns the short names. "batch" is model.global_batch if the scenario has one.
const std::vector<StudyName>& study_names();

/// Returns the scenario's key that a name of an axis means, short or dotted; empty if no such key may vary.
std::string varied_key(const std::string& name);
/// Returns a hint for a name that is no key.
std::string hint_for_study_key(const std::string& name);

/// Reads [study] into `scenario`, whose strategy is known. Axes whose key the command line sets are omitted.
/// Reports unknown keys, values that are no lists of plain values, repeated values and keys, options that
/// none of the strategies has, and more than kMostCombinations.
void read_study(TableReader& document, const ScenarioDocument& source, Scenario& scenario);

}  // namespace foretrain
