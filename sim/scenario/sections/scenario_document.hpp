// A scenario's text and the command line's settings as one document, in which every value keeps the place
// where it was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// The merged document. Settings are appended as further lines below the file's text, so that one Diagnostics
/// serves both. found() moves mistakes on those lines back to "--set key=value:1:column", or to whatever else
/// gave the setting.
class ScenarioDocument {
 public:
  /// Parses and merges; settings replace values of the text. Syntax errors are reported and not thrown. Not
  /// copyable, because diagnostics() is bound to the object.
  ScenarioDocument(const SourceText& source, const ScenarioOverrides& overrides);
  ScenarioDocument(const ScenarioDocument&) = delete;
  ScenarioDocument& operator=(const ScenarioDocument&) = delete;

  const Table& table() const { return table_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  /// Returns whether text or settings have a key such as "data.prefetch".
  bool has(std::string_view dotted_key) const { return find(dotted_key) != nullptr; }
  /// Returns the keys of all sections, as "data.prefetch", in the order of the text.
  std::vector<std::string> keys() const;
  /// Returns whether the key's value comes from the command line.
  bool is_setting(std::string_view dotted_key) const;
  /// Returns whether the scenario is one of several (ScenarioOverrides::one_of_several), or a combination of
  /// a study.
  bool one_of_several() const { return one_of_several_ || is_combination_; }
  /// Returns whether the scenario is a combination of a study (ScenarioOverrides::combination).
  bool is_combination() const { return is_combination_; }
  /// Returns whether the file's text has [measured] and the command line requests another job than the text.
  bool changes_measured_job() const { return changes_measured_job_; }
  /// Returns every mistake reported so far, with its true origin.
  std::vector<Diagnostic> found() const;

 private:
  /// One option of the command line: its name in messages, and its text on a line of its own. For a setting
  /// from a file it also has the place in that file.
  struct Setting {
    std::string origin;
    std::string text;
    SettingOrigin given;
    /// The text with its line ends, which the text of a network has.
    std::string as_given;
  };

  /// Returns the options in the order of their lines.
  static std::vector<Setting> settings_of(const ScenarioOverrides& overrides);
  /// Returns the file's text with the options as further lines.
  static SourceText joined(const SourceText& source, int file_lines, const std::vector<Setting>& settings);
  /// Returns the entry of a dotted key, or nullptr.
  const Entry* find(std::string_view dotted_key) const;
  /// Merges all options into the table.
  void apply(const ScenarioOverrides& overrides);
  /// Merges one setting "key=value"; a value that is not TOML is taken as a word.
  void apply_key_value(const Setting& setting, int line);
  /// Merges the settings of a combination, which win over all others.
  void apply_combination(const std::vector<StudySetting>& combination);
  /// Sets one key; tables on the path are made.
  void set(const std::vector<std::string>& path, Value value, SourceSpan key_span);
  /// Merges a table into another; values of `from` win.
  void merge(Table& into, Table from);
  /// Removes keys of the file that only its own strategy needs.
  void leave_file_of_strategy(const std::string& strategy);
  /// Removes one key of a table, if it is the file's.
  void erase_of_file(std::string_view table, std::string_view key);
  /// Returns whether options change the job that [measured] describes.
  bool finds_another_job(const ScenarioOverrides& overrides) const;

  /// Number of lines of the file; the lines of settings follow them.
  int file_lines_;
  std::vector<Setting> settings_;
  SourceText text_;
  Diagnostics diagnostics_;
  Table table_;
  bool one_of_several_, is_combination_, changes_measured_job_ = false;
};

}  // namespace foretrain
