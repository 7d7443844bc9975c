// Training settings of other tools as a value: every key that was read, with its place and what it comes to
// in a scenario.
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

/// The largest settings file, and how many keys one may have.
inline constexpr std::size_t kLargestSettings = 1u << 20, kMostSettings = 5'000;

using SettingKind = YamlNode::Kind;

/// What a key comes to.
enum class KeyFate : std::uint8_t {
  effect,        ///< keys of the scenario
  usual,         ///< what the model does anyway
  no_influence,  ///< nothing that time or memory depends on
  not_modelled,  ///< matters, and is left out
  open,          ///< cannot be known from the file ("auto")
  unknown
};
/// "effect", "not_modelled", …: as in JSON.
std::string_view name_of(KeyFate fate);

/// A key of a scenario, and its value as TOML.
struct SettingEffect {
  std::string key, value;
  friend bool operator==(const SettingEffect&, const SettingEffect&) = default;
};

/// One key of a settings file.
struct ReadKey {
  std::string file;
  SourceSpan span{};
  std::string path;   ///< "zero_optimization.stage"
  std::string value;  ///< as it stands there
  KeyFate fate = KeyFate::unknown;
  std::vector<SettingEffect> effects{};
  std::string note{};  ///< may be empty
};

/// A file as it was read. Numbers are 0 where it does not say them.
struct TrainingSettings {
  std::string file, format;
  std::vector<ReadKey> keys;
  int processes = 0;  ///< of the job, one per GPU
  int machines = 0;
  /// The library starts those processes itself, whatever starts the program.
  bool starts_processes = false;
};

/// Path of the key that holds the names by which a Python program makes its network.
inline constexpr std::string_view kNetworkOfProgram = "network";

/// Where "auto" and numbers that depend on the job are looked up.
struct SettingsContext {
  int gpus = 0;  ///< of the job; 0: not known
  /// What the training program is told; "auto" is resolved by it.
  const std::vector<ProgramArgument>* arguments = nullptr;
  /// Opens a file that a settings file names; none: such files are said not to be read.
  ScriptFinder find{};
  /// Behind the name of the program that is read: what its own arguments are.
  const std::vector<ShellWord>* words = nullptr;
};

/// The keys of the scenario, each once, in their order; a later one wins.
std::vector<SettingEffect> scenario_keys(const TrainingSettings& settings);
/// The value of one of them, as TOML; empty: nothing says it.
std::string value_of(const TrainingSettings& settings, std::string_view key);
/// The key that says it; nullptr: none.
const ReadKey* said_by(const TrainingSettings& settings, std::string_view key);

/// Settings that decide memory, time or the wire and that are not modelled (unmodelled_settings.cpp has the
/// table of them); nothing when all that decide are understood.
std::vector<UnmodelledSetting> unmodelled_settings(const TrainingSettings& settings);

/// What people should know of a prediction with them: what is left out, open or unknown.
std::vector<Diagnostic> notes_of(const TrainingSettings& settings);

}  // namespace foretrain
