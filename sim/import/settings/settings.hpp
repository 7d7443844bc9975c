// Declares the training settings of other tools as a value: every key that was read, with its place and what
// it comes to in a scenario.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/import/job_script.hpp"
#include "sim/import/jobs/yaml.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Bytes of the largest settings file, and how many keys one may have.
inline constexpr std::size_t kLargestSettings = 1u << 20, kMostSettings = 5'000;

using SettingKind = YamlNode::Kind;

/// The account of a key: what it comes to.
enum class KeyFate : std::uint8_t {
  /// Sets keys of the scenario.
  effect,
  /// Agrees with what the model assumes anyway.
  usual,
  /// Time and memory do not depend on it.
  no_influence,
  /// Matters, and is left out of the prediction.
  not_modelled,
  /// Cannot be known from the file ("auto").
  open,
  unknown
};
/// Returns the name as in JSON: "effect", "not_modelled" and so on.
std::string_view name_of(KeyFate fate);

/// A key of a scenario, such as "strategy.name", and its value as TOML.
struct SettingEffect {
  std::string key, value;
  friend bool operator==(const SettingEffect&, const SettingEffect&) = default;
};

/// One key of a settings file.
struct ReadKey {
  std::string file;
  SourceSpan span{};
  /// Path, such as "zero_optimization.stage"; empty: a default of the tool.
  std::string path;
  /// Value as shown.
  std::string value;
  KeyFate fate = KeyFate::unknown;
  std::vector<SettingEffect> effects{};
  /// Explanation for users; may be empty.
  std::string note{};
};

/// The settings of one file. Numbers are 0 where the file does not give them.
struct TrainingSettings {
  std::string file, format;
  std::vector<ReadKey> keys;
  /// Processes of the job, one for each GPU.
  int processes = 0;
  int machines = 0;
  /// The library starts the processes itself, whatever starts the program.
  bool starts_processes = false;
};

/// Path of the entry with the names by which a Python program makes its network.
inline constexpr std::string_view kNetworkOfProgram = "network";

/// The context of a file: where "auto" and numbers that depend on the job are looked up.
struct SettingsContext {
  /// GPUs of the job; 0: not known.
  int gpus = 0;
  /// Arguments of the training program, which resolve "auto"; nullptr: not known.
  const std::vector<ProgramArgument>* arguments = nullptr;
  /// Opens a file that a settings file names; empty: such files are noted as not read.
  ScriptFinder find{};
  /// Words behind the name of the program that is read, which are its own arguments.
  const std::vector<ShellWord>* words = nullptr;
};

/// Returns the keys of the scenario, each once, in the order of their first effect; a later value wins.
std::vector<SettingEffect> scenario_keys(const TrainingSettings& settings);
/// Returns the value of one of them, as TOML; empty: nothing sets it.
std::string value_of(const TrainingSettings& settings, std::string_view key);
/// Returns the key that sets it, which belongs to `settings`; nullptr: none.
const ReadKey* said_by(const TrainingSettings& settings, std::string_view key);

/// Returns the settings that decide memory, time or the wire and are not modelled (unmodelled_settings.cpp
/// has their table); empty when all that decide are understood.
std::vector<UnmodelledSetting> unmodelled_settings(const TrainingSettings& settings);

/// Returns notes for users of a prediction with these settings: what is left out, open or unknown.
std::vector<Diagnostic> notes_of(const TrainingSettings& settings);

}  // namespace foretrain
