// Contradictions of settings. Each setting is compared with all settings before it.
#include "sim/scenario/sections/given_settings.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/ascii.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/base/printable.hpp"

namespace foretrain {

namespace {

/// A setting as typed, and its key and value.
struct GivenSetting {
  std::string text, key, value;
};

/// Returns a value without TOML's quotes.
std::string without_quotes(std::string_view value) {
  const bool is_quoted =
      value.size() > 1 && value.front() == value.back() && (value.front() == '"' || value.front() == '\'');
  return std::string(is_quoted ? value.substr(1, value.size() - 2) : value);
}

/// Splits a setting. The key is empty if the setting is not written key=value, which its reader reports.
GivenSetting given_setting(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) return {text, "", ""};
  const std::string_view whole = text;
  return {text, std::string(trimmed(whole.substr(0, equals))),
          without_quotes(trimmed(whole.substr(equals + 1)))};
}

/// Returns the group that has both keys; nullptr if they go together.
const RivalKeys* group_of(const GivenSetting& one, const GivenSetting& other) {
  // "balance" and the global batch that it divides go together.
  if (one.value == "balance" || other.value == "balance") return nullptr;
  for (const RivalKeys& group : rival_keys()) {
    const auto has = [&group](const std::string& key) {
      return std::ranges::any_of(
          group.keys, [&](std::string_view name) { return key == fmt::format("{}.{}", group.table, name); });
    };
    if (one.key != other.key && has(one.key) && has(other.key)) return &group;
  }
  return nullptr;
}

/// Returns the setting for a message, as in "--set model.batch_per_gpu=64".
std::string spoken_setting(const GivenSetting& setting) {
  return "--set " + shortened(printable(setting.text), 80);
}

/// Reports a contradiction between two settings at the key of the later one.
void hold_against(const GivenSetting& earlier, const GivenSetting& later, Diagnostics& problems) {
  const SourceSpan key{1, 1, static_cast<int>(later.key.size())};
  if (earlier.key == later.key && earlier.value != later.value)
    problems.report(key, fmt::format("{} has another value in {}", later.key, spoken_setting(earlier)),
                    "keep one of the two");
  else if (const RivalKeys* group = group_of(earlier, later))
    problems.report(key, fmt::format("{} excludes {}", later.key, spoken_setting(earlier)),
                    std::string(group->hint));
}

}  // namespace

/// Each group has a hint that explains how its keys differ.
const std::vector<RivalKeys>& rival_keys() {
  static const std::vector<RivalKeys> kRivals{
      {"model",
       {"batch_per_gpu", "global_batch"},
       "batch_per_gpu keeps the work per GPU the same (weak scaling), global_batch divides it (strong "
       "scaling)"},
      {"measured", {"samples_per_s", "step", "epoch"}, "give one of them"}};
  return kRivals;
}

/// The comparison is quadratic in the number of settings.
void check_given_settings(const std::vector<std::string>& settings) {
  std::vector<GivenSetting> given;
  std::vector<Diagnostic> found;
  for (const std::string& text : settings) {
    const GivenSetting later = given_setting(text);
    const SourceText source{spoken_setting(later), text};
    Diagnostics problems(source);
    for (const GivenSetting& earlier : given)
      // One contradiction is reported per setting.
      if (!later.key.empty() && problems.empty()) hold_against(earlier, later, problems);
    found.insert(found.end(), problems.found().begin(), problems.found().end());
    given.push_back(later);
  }
  if (!found.empty()) throw InputError(std::move(found));
}

}  // namespace foretrain
