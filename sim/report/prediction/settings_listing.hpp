// The report of `job settings`: training settings of other tools as they were read.
#pragma once

#include <string>
#include <vector>

#include "sim/import/settings/settings.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// Content of the report.
struct SettingsListing {
  const std::vector<TrainingSettings>& files;
};

/// Returns every key with its line and its meaning, what is ignored, and the tables of a scenario.
std::string write_settings_table(const SettingsListing& listing);

/// Returns schema foretrain.settings/1. Keys are added, never renamed.
std::string write_settings_json(const SettingsListing& listing);

/// Returns one line for each key of a file that becomes a key of a scenario.
std::string settings_effects(const TrainingSettings& settings);

/// The formats of `job settings`; the first is the default.
inline constexpr Format<SettingsListing> kSettingsFormats[] = {{"table", write_settings_table},
                                                               {"json", write_settings_json}};

}  // namespace foretrain
