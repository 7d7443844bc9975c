// Training settings of other tools as they were read, for people and as JSON.
#pragma once

#include <string>
#include <vector>

#include "sim/import/settings/settings.hpp"
#include "sim/report/formats.hpp"

namespace foretrain {

/// What `settings` prints of a settings file.
struct SettingsListing {
  const std::vector<TrainingSettings>& files;
};

/// Every key with its line and what it comes to, what is left out, and the tables of a scenario.
std::string write_settings_table(const SettingsListing& listing);

/// Schema foretrain.settings/1: keys are added, never renamed.
std::string write_settings_json(const SettingsListing& listing);

/// Of one file: the keys that become keys of a scenario, a line each.
std::string settings_effects(const TrainingSettings& settings);

inline constexpr Format<SettingsListing> kSettingsFormats[] = {{"table", write_settings_table},
                                                               {"json", write_settings_json}};

}  // namespace foretrain
