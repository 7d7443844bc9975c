// Table [study]: which keys vary over which values, checked before any combination is read.
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
  std::string_view meaning = {};  ///< empty: that of the key
};
/// "batch" is model.global_batch where the scenario has one.
const std::vector<StudyName>& study_names();

/// The scenario's key that a name of an axis means, short or dotted; empty where no such key may vary.
std::string varied_key(const std::string& name);
/// What may have been meant by a name that is none.
std::string hint_for_study_key(const std::string& name);

/// Reads [study] into `scenario`, whose strategy is known; axes whose key the command line sets are left out.
/// Reports unknown keys, what is no list of plain values, repeated values and keys, options that none of the
/// strategies has, and more than kMostCombinations.
void read_study(TableReader& document, const ScenarioDocument& source, Scenario& scenario);

}  // namespace foretrain
