// Writes training settings by what they mean. Keys with an effect have a line each; all others are named in
// as few lines as possible.
//
// A key has one of these fates: it becomes a key of the scenario, it matters and is not modelled, it is open,
// it is unknown, it has the usual value, or it has no influence on time and memory.
#include "sim/report/prediction/settings_listing.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/printable.hpp"
#include "sim/report/json_value.hpp"

namespace foretrain {

namespace {

/// Returns file and line of a key, as far as they are needed.
std::string settings_place(const TrainingSettings& settings, const ReadKey& key) {
  const std::string line = key.span.line > 0 ? std::to_string(key.span.line) : "";
  if (key.file == settings.file) return line.empty() ? "default" : "line " + line;
  return fmt::format("{}{}{}", printable(key.file), line.empty() ? "" : ":", line);
}

/// Returns the key and value as they were stated.
std::string stated_text(const ReadKey& key) {
  return key.path.empty() ? printable(key.note)
                          : fmt::format("{} = {}", printable(key.path), printable(key.value));
}

/// Returns a value for a table. A text of several lines is only written in the scenario itself.
std::string in_a_line(const std::string& value) {
  return value.find('\n') == std::string::npos ? value : "(text of a file)";
}

/// Returns the keys of a scenario that the setting becomes.
std::string effects_text(const ReadKey& key) {
  std::vector<std::string> parts;
  for (const SettingEffect& effect : key.effects)
    parts.push_back(fmt::format("{} = {}", effect.key, in_a_line(effect.value)));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// Adds all keys of one fate, each with its note.
void add_with_reason(const TrainingSettings& settings, KeyFate fate, std::string_view title,
                     std::string& out) {
  const auto is_it = [fate](const ReadKey& key) { return key.fate == fate; };
  if (!std::ranges::any_of(settings.keys, is_it)) return;
  out += fmt::format("\n{}\n", title);
  for (const ReadKey& key : settings.keys) {
    if (is_it(key))
      out += fmt::format("  {:<10} {}{}{}\n", settings_place(settings, key), stated_text(key),
                         key.note.empty() ? "" : ": ", printable(key.note));
  }
}

/// Adds the names of all keys of one fate, several on a line of at most 100 characters.
void add_names(const TrainingSettings& settings, KeyFate fate, std::string_view title, std::string& out) {
  std::string line;
  for (const ReadKey& key : settings.keys) {
    if (key.fate != fate || key.path.empty()) continue;
    const std::string name = printable(shortened(key.path, 80));
    if (line.empty())
      line = fmt::format("\n{}: {}", title, name);
    else if (line.size() - (line.rfind('\n') + 1) + name.size() > 100)
      line += ",\n  " + name;
    else
      line += ", " + name;
  }
  if (!line.empty()) out += line + "\n";
}

/// Returns the settings as a scenario, table by table in the order of their first key. Of a key that several
/// files state, the last value counts.
std::string scenario_text(const std::vector<TrainingSettings>& files) {
  std::vector<SettingEffect> all;
  std::vector<std::string> tables;
  for (const TrainingSettings& settings : files) {
    for (const SettingEffect& key : scenario_keys(settings)) {
      std::erase_if(all, [&](const SettingEffect& present) { return present.key == key.key; });
      all.push_back(key);
    }
  }
  for (const SettingEffect& key : all) {
    const std::string table = key.key.substr(0, key.key.find('.'));
    if (std::ranges::find(tables, table) == tables.end()) tables.push_back(table);
  }
  std::string out;
  for (const std::string& table : tables) {
    out += fmt::format("{}[{}]\n", out.empty() ? "" : "\n", table);
    for (const SettingEffect& key : all) {
      if (key.key.starts_with(table + "."))
        out += fmt::format("{} = {}\n", key.key.substr(table.size() + 1), key.value);
    }
  }
  return out;
}

}  // namespace

std::string settings_effects(const TrainingSettings& settings) {
  std::string out;
  for (const ReadKey& key : settings.keys) {
    if (key.fate != KeyFate::effect) continue;
    out += fmt::format("  {:<10} {:<52} {}\n", settings_place(settings, key), stated_text(key),
                       effects_text(key));
    if (!key.note.empty() && !key.path.empty()) out += fmt::format("  {:<10} {}\n", "", printable(key.note));
  }
  return out;
}

// The order is by importance: effects, what is not modelled, what is open, and then mere names.
std::string write_settings_table(const SettingsListing& listing) {
  std::string out;
  for (const TrainingSettings& settings : listing.files) {
    out += fmt::format("{}{}: {}\n\n", out.empty() ? "" : "\n", printable(settings.file), settings.format);
    out += settings_effects(settings);
    add_with_reason(settings, KeyFate::not_modelled, "Matters for time or memory, and is not modelled", out);
    add_with_reason(settings, KeyFate::open, "Open", out);
    add_names(settings, KeyFate::unknown, "Not known here", out);
    add_names(settings, KeyFate::usual, "As the model has it", out);
    add_names(settings, KeyFate::no_influence, "Without influence", out);
  }
  const std::string scenario = scenario_text(listing.files);
  return scenario.empty() ? out : out + "\nAs a scenario\n\n" + scenario;
}

// "becomes" is the fate of the key.
Json settings_json(const TrainingSettings& settings) {
  Json keys = Json::array();
  for (const ReadKey& key : settings.keys) {
    Json effects = Json::array();
    for (const SettingEffect& effect : key.effects)
      effects.push_back({{"key", effect.key}, {"value", effect.value}});
    keys.push_back({{"file", key.file},
                    {"line", key.span.line > 0 ? Json(key.span.line) : Json(nullptr)},
                    {"key", key.path},
                    {"value", key.value},
                    {"becomes", name_of(key.fate)},
                    {"scenario", effects},
                    {"note", key.note}});
  }
  return {{"file", settings.file},
          {"format", settings.format},
          {"processes", settings.processes > 0 ? Json(settings.processes) : Json(nullptr)},
          {"machines", settings.machines > 0 ? Json(settings.machines) : Json(nullptr)},
          {"keys", keys}};
}

std::string write_settings_json(const SettingsListing& listing) {
  Json files = Json::array();
  for (const TrainingSettings& settings : listing.files) {
    files.push_back(settings_json(settings));
  }
  return json_text(
      Json{{"schema", "foretrain.settings/1"}, {"files", files}, {"scenario", scenario_text(listing.files)}});
}

}  // namespace foretrain
