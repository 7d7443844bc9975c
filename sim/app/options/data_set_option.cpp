// Turns --dataset into settings of [data]. A name of the catalog comes first; a name that looks like a path,
// or is a file or folder, is surveyed on disk.
#include "sim/app/options/data_set_option.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/diagnostics.hpp"
#include "sim/base/names.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/data_survey.hpp"
#include "sim/scenario/catalog.hpp"
#include "sim/scenario/toml/given_files.hpp"

namespace foretrain {

namespace {

/// Returns true for a path or an existing file. Questions from elsewhere (GivenFiles) may not look at this
/// disk.
bool is_on_disk(const std::string& name) {
  std::error_code none;
  if (GivenFiles::current() != nullptr) return false;
  return name.find('/') != std::string::npos ||
         (name.find('\0') == std::string::npos && std::filesystem::exists(name, none));
}

/// Returns true when the user has set this key.
bool says_key(const ScenarioOverrides& overrides, std::string_view key) {
  return std::ranges::any_of(overrides.settings, [key](const std::string& setting) {
    return setting.starts_with(std::string(key) + "=");
  });
}

/// Returns the settings that a survey of files on disk yields.
std::vector<std::string> settings_of(const DataSurvey& survey) {
  return {fmt::format("data.samples={}", survey.samples),
          fmt::format("data.stored_bytes=\"{} B\"", survey.stored_bytes.count),
          fmt::format("data.decode=\"{:.6g} us\"", to_microseconds(survey.decode)),
          fmt::format("data.decode_spread={:.6f}", survey.decode_spread), "data.storage=\"nvme\""};
}

}  // namespace

// A survey measures sizes and estimates decoding; its storage is an assumption, which a note states.
void apply_data_set(const std::string& name, ScenarioOverrides& overrides) {
  if (name.empty()) return;
  std::vector<std::string> settings;
  const std::string known = spelt_alike(name, names_in(CatalogKind::datasets));
  if (!known.empty() || name.ends_with(".toml")) {
    settings.push_back(fmt::format("data.name=\"{}\"", known.empty() ? name : known));
  } else if (is_on_disk(name)) {
    const DataSurvey survey = survey_data(name);
    settings = settings_of(survey);
    for (const std::string& note : survey.notes) overrides.notes.push_back("data set: " + note);
    if (!says_key(overrides, "data.storage"))
      overrides.notes.push_back(
          "data set: read from local NVMe, which is assumed; data.storage says otherwise");
  } else {
    throw InputError(fmt::format("unknown data set \"{}\"", shortened(name, 60)),
                     unknown_name_hint(CatalogKind::datasets, name) +
                         " A file or folder of that name is not there either");
  }
  for (const std::string& setting : settings) overrides.origins[setting] = {"--dataset " + name};
  // The settings come first, so that values that the user gave win.
  overrides.settings.insert(overrides.settings.begin(), settings.begin(), settings.end());
}

}  // namespace foretrain
