// A small grid over a scenario: the keys that vary, the values of each, and their combinations as settings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// Largest number of combinations; a study with more is a mistake.
inline constexpr std::size_t kMostCombinations = 200;
/// Largest number of combinations times numbers of GPUs, if the study does not list the numbers.
inline constexpr std::size_t kMostStudyLines = 1000;

/// One key that varies.
struct StudyAxis {
  /// Name as written, for example "batch" or "data.workers_per_gpu".
  std::string name;
  /// Key of the scenario: "model.batch_per_gpu".
  std::string key;
  /// Place of the name.
  SourceSpan span;
  std::vector<Value> values;
};

/// Table [study]; without axes there is no study.
struct Study {
  std::vector<StudyAxis> axes;
};

/// A setting of one combination. It keeps its place in [study], so that mistakes are reported there.
struct StudySetting {
  std::string key;
  Value value;
  SourceSpan span;
};

/// One value per axis, in their order; std::monostate if the combination's strategy does not have the option.
using StudyPoint = std::vector<Value>;

/// Returns every combination in the order written, the last axis fastest. Those that differ only in options
/// that their strategy does not have count once. `strategy`: that of the scenario, if no axis has strategies.
std::vector<StudyPoint> study_points(const Study& study, const std::string& strategy);

/// Returns the settings of a point. Numbers of GPUs are not part of them: run.gpus holds all that the study
/// requests, so that one scenario serves all combinations that differ only there.
std::vector<StudySetting> settings_of(const Study& study, const StudyPoint& point);

/// Returns a value as the table shows it: "64", "dp", "true", or "-" for nothing.
std::string text_of(const Value& value);

}  // namespace foretrain
