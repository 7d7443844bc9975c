// Combines the effects of many keys into the keys of one scenario: a later file and a later line win.
#include "sim/import/settings/settings.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// Unknown keys that one note names; more are counted.
constexpr std::size_t kMostNamed = 8;

/// Returns a note about the unknown keys; empty: there are none.
std::string unknown_note(const TrainingSettings& settings) {
  std::vector<std::string> names;
  for (const ReadKey& key : settings.keys) {
    if (key.fate == KeyFate::unknown) names.push_back(printable(shortened(key.path, 60)));
  }
  if (names.empty()) return "";
  // The rest is only counted.
  const std::size_t more = names.size() > kMostNamed ? names.size() - kMostNamed : 0;
  names.resize(names.size() - more);
  return fmt::format("not known here: {}{}", fmt::join(names, ", "),
                     more > 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

/// The names are in the order of the enumeration.
std::string_view name_of(KeyFate fate) {
  static constexpr std::array<std::string_view, 6> kNames{"effect",       "usual", "no_influence",
                                                          "not_modelled", "open",  "unknown"};
  return kNames[static_cast<std::size_t>(fate)];
}

/// A key keeps the place of its first effect and gets the value of its last one.
std::vector<SettingEffect> scenario_keys(const TrainingSettings& settings) {
  std::vector<SettingEffect> out;
  for (const ReadKey& read : settings.keys) {
    for (const SettingEffect& effect : read.effects) {
      const auto present = std::ranges::find(out, effect.key, &SettingEffect::key);
      if (present == out.end())
        out.push_back(effect);
      else
        present->value = effect.value;
    }
  }
  return out;
}

/// Searches backwards, because the last key wins.
const ReadKey* said_by(const TrainingSettings& settings, std::string_view key) {
  const auto says = [key](const ReadKey& read) {
    return std::ranges::find(read.effects, key, &SettingEffect::key) != read.effects.end();
  };
  const auto found = std::find_if(settings.keys.rbegin(), settings.keys.rend(), says);
  return found == settings.keys.rend() ? nullptr : &*found;
}

/// An empty text is no value of TOML, so it can stand for none.
std::string value_of(const TrainingSettings& settings, std::string_view key) {
  const ReadKey* read = said_by(settings, key);
  return read == nullptr ? "" : std::ranges::find(read->effects, key, &SettingEffect::key)->value;
}

/// Unknown keys share one note, because a file of another version may have many.
std::vector<Diagnostic> notes_of(const TrainingSettings& settings) {
  std::vector<Diagnostic> out;
  for (const ReadKey& key : settings.keys) {
    if (key.fate != KeyFate::not_modelled && key.fate != KeyFate::open) continue;
    out.push_back({key.file, key.span, "",
                   fmt::format("{} = {} is {}{}{}", key.path, key.value,
                               key.fate == KeyFate::open ? "open" : "not modelled",
                               key.note.empty() ? "" : ": ", key.note),
                   ""});
  }
  if (std::string unknown = unknown_note(settings); !unknown.empty())
    out.push_back({settings.file, {}, "", std::move(unknown), ""});
  return out;
}

}  // namespace foretrain
