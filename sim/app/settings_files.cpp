// Reads training settings of other tools. A file that another file names is searched beside it.
#include "sim/app/settings_files.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/import/job_checks.hpp"
#include "sim/import/settings/readers.hpp"
#include "sim/scenario/toml/reader.hpp"

namespace foretrain {

namespace fs = std::filesystem;

namespace {

/// Returns the text of a file below `folder`. Nothing is returned for a name that leads out of the folder,
/// that is longer than 256 characters, or that belongs to no readable text.
std::optional<SourceText> text_in(const fs::path& folder, const std::string& name) {
  const fs::path path = name;
  const bool leaves = path.is_absolute() || std::find(path.begin(), path.end(), fs::path("..")) != path.end();
  const std::string found = (folder / path).string();
  if (name.empty() || name.size() > 256 || leaves || !is_readable_file(found) ||
      !text_file_refusal(found).empty())
    return std::nullopt;
  SourceText text = read_text_file(found);
  if (text.text.find('\0') != std::string::npos) return std::nullopt;
  return text;
}

/// Returns the job's number of GPUs when the command line states one number, or one besides a single GPU; 0:
/// unknown.
int requested_gpus(const std::vector<int>& gpus) {
  if (gpus.empty()) return 0;
  const auto [least, most] = std::ranges::minmax(gpus);
  return least == most || (gpus.size() == 2 && least == 1) ? most : 0;
}

/// Returns the strategy of an option, or else that of the files; empty when neither states one.
std::string chosen_strategy(const std::vector<TrainingSettings>& all, const ScenarioOverrides& overrides) {
  constexpr std::string_view kName = "strategy.name=";
  std::string chosen;
  for (const TrainingSettings& read : all) {
    if (std::string said = value_of(read, "strategy.name"); !said.empty()) chosen = std::move(said);
  }
  for (const std::string& setting : overrides.settings) {
    if (setting.starts_with(kName)) chosen = setting.substr(kName.size());
  }
  if (!overrides.strategy.empty()) chosen = overrides.strategy;
  std::erase(chosen, '"');
  return chosen;
}

}  // namespace

ScriptFinder sibling_files(const std::string& file) {
  const fs::path folder = fs::path(file).parent_path();
  // A path as written on another machine rarely exists here, so its last part is tried as well.
  return [folder](const std::string& name) -> std::optional<SourceText> {
    if (name.find('\0') != std::string::npos) return std::nullopt;
    if (auto found = text_in(folder, name)) return found;
    const std::size_t slash = name.rfind('/');
    return slash == std::string::npos ? std::nullopt : text_in(folder, name.substr(slash + 1));
  };
}

std::vector<TrainingSettings> open_settings(const std::vector<std::string>& files, int gpus) {
  std::vector<TrainingSettings> out;
  std::vector<Diagnostic> mistakes;
  for (const std::string& file : files) {
    try {
      const SourceText text = read_text_file(file, kLargestSettings);
      out.push_back(read_settings(text, {gpus, nullptr, sibling_files(file)}));
    } catch (const InputError& error) {
      mistakes.insert(mistakes.end(), error.diagnostics().begin(), error.diagnostics().end());
    }
  }
  if (!mistakes.empty()) throw InputError(std::move(mistakes));
  return out;
}

// Every setting keeps its file and line as its origin, for messages.
void apply_settings(const std::vector<std::string>& files, ScenarioOverrides& overrides) {
  std::vector<std::string> settings;
  std::vector<TrainingSettings> all = open_settings(files, requested_gpus(overrides.gpus));
  // Options that the chosen strategy does not have are left out with a note.
  const std::string strategy = chosen_strategy(all, overrides);
  for (TrainingSettings& read : all) {
    for (const Diagnostic& note : leave_out_options(strategy, read))
      overrides.notes.push_back(one_line(note));
    for (const SettingEffect& effect : scenario_keys(read)) {
      // A network that the user names wins over one that a file describes.
      const bool is_network = effect.key == "model.network" || effect.key == "model.name";
      if (is_network && !overrides.model.empty()) continue;
      settings.push_back(effect.key + "=" + effect.value);
      if (const ReadKey* key = said_by(read, effect.key))
        overrides.origins[settings.back()] = {key->file, SettingOrigin::Kind::file, key->span};
    }
    for (const Diagnostic& note : notes_of(read)) overrides.notes.push_back(one_line(note));
    for (UnmodelledSetting& setting : unmodelled_settings(read))
      overrides.unmodelled.push_back(std::move(setting));
  }
  // Settings of files come first, so that those of the command line win.
  overrides.settings.insert(overrides.settings.begin(), settings.begin(), settings.end());
}

}  // namespace foretrain
