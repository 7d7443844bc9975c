// A small grid over a scenario: the keys that vary, the values of each, and their combinations as settings.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/scenario/toml/value.hpp"

namespace foretrain {

/// A study of more combinations is a mistake.
inline constexpr std::size_t kMostCombinations = 200;
/// Combinations times the numbers of GPUs of each, where the study does not say them.
inline constexpr std::size_t kMostStudyLines = 1000;

/// One key that varies.
struct StudyAxis {
  std::string name;  ///< as written: "batch", "data.workers_per_gpu"
  std::string key;   ///< of the scenario: "model.batch_per_gpu"
  SourceSpan span;   ///< of the name
  std::vector<Value> values;
};

/// Table [study]; without axes there is none.
struct Study {
  std::vector<StudyAxis> axes;
};

/// What one combination sets. It keeps its place in [study], so that mistakes are reported there.
struct StudySetting {
  std::string key;
  Value value;
  SourceSpan span;
};

/// One value per axis, in their order; nothing (std::monostate) where the combination's strategy does not
/// have the option.
using StudyPoint = std::vector<Value>;

/// Every combination in the order written, the last axis fastest. Those that differ only in options which
/// their strategy does not have are one. `strategy`: of the scenario, where no axis has strategies.
std::vector<StudyPoint> study_points(const Study& study, const std::string& strategy);

/// The settings of a point. Numbers of GPUs are no part of them: run.gpus holds all that the study asks for,
/// so that one scenario serves all combinations that differ only there.
std::vector<StudySetting> settings_of(const Study& study, const StudyPoint& point);

/// "64", "dp", "true": a value as the table shows it; "-" for nothing.
std::string text_of(const Value& value);

}  // namespace foretrain
