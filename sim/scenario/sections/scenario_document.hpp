// A scenario's text and the command line's settings as one document, in which every value still knows where
// it was written.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// The settings stand as further lines below the file's text, so that one Diagnostics serves both; found()
/// puts mistakes on those lines back to "--set key=value:1:column", or to what else gave the setting.
class ScenarioDocument {
 public:
  /// Parses and merges; settings replace what the text says. Not copyable: diagnostics() is bound to it.
  ScenarioDocument(const SourceText& source, const ScenarioOverrides& overrides);
  ScenarioDocument(const ScenarioDocument&) = delete;
  ScenarioDocument& operator=(const ScenarioDocument&) = delete;

  const Table& table() const { return table_; }
  Diagnostics& diagnostics() { return diagnostics_; }
  /// Whether text or settings hold a key such as "data.prefetch".
  bool has(std::string_view dotted_key) const { return find(dotted_key) != nullptr; }
  /// Keys of all sections, as "data.prefetch", in the order of the text.
  std::vector<std::string> keys() const;
  /// Whether the key's value comes from the command line.
  bool is_setting(std::string_view dotted_key) const;
  /// ScenarioOverrides::one_of_several, or a combination of a study.
  bool one_of_several() const { return one_of_several_ || is_combination_; }
  /// ScenarioOverrides::combination.
  bool is_combination() const { return is_combination_; }
  /// Whether the file's text holds [measured] and the command line asks for another job than the text.
  bool changes_measured_job() const { return changes_measured_job_; }
  /// Every mistake reported so far, with its true origin.
  std::vector<Diagnostic> found() const;

 private:
  /// One option of the command line: what messages call it, and its text on a line of its own; of a setting
  /// that a file gave, also the place in it.
  struct Setting {
    std::string origin;
    std::string text;
    SettingOrigin given;
    std::string as_given;  ///< with its line ends, which the text of a network has
  };

  static std::vector<Setting> settings_of(const ScenarioOverrides& overrides);
  static SourceText joined(const SourceText& source, int file_lines, const std::vector<Setting>& settings);
  const Entry* find(std::string_view dotted_key) const;
  void apply(const ScenarioOverrides& overrides);
  void apply_key_value(const Setting& setting, int line);
  void apply_combination(const std::vector<StudySetting>& combination);
  void set(const std::vector<std::string>& path, Value value, SourceSpan key_span);
  void merge(Table& into, Table from);
  void leave_file_of_strategy(const std::string& strategy);
  void erase_of_file(std::string_view table, std::string_view key);
  bool finds_another_job(const ScenarioOverrides& overrides) const;

  int file_lines_;
  std::vector<Setting> settings_;
  SourceText text_;
  Diagnostics diagnostics_;
  Table table_;
  bool one_of_several_, is_combination_, changes_measured_job_ = false;
};

}  // namespace foretrain
