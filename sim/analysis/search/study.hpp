// A study: all combinations of the scenario's [study] are predicted; the fastest and the cheapest are named.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Combinations that differ only in their number of GPUs; they share one scenario.
struct StudyGroup {
  std::vector<StudySetting> settings;
  /// Indices into StudyQuestion::points.
  std::vector<std::size_t> points;
  /// The reason why these values do not go together; empty if they do.
  std::string why_not;
};

/// A scenario with a study, in which every combination is known to be right or has a reason.
struct StudyQuestion {
  SourceText source;
  ScenarioOverrides overrides;
  /// The scenario as it stands.
  Scenario own;
  std::vector<StudyPoint> points;
  std::vector<StudyGroup> groups;
};

/// Reads every combination. For a `source` without text, model and cluster come from `overrides`. A value
/// that is wrong in every combination is a mistake; all such mistakes are thrown at once as InputError.
/// Values that are wrong only together become a group with a reason.
StudyQuestion read_study(const SourceText& source, const ScenarioOverrides& overrides, Scenario own);

/// A combination on one number of GPUs.
struct StudyRow {
  /// Values, one for each axis.
  StudyPoint values;
  /// The reason why it cannot run; only `values` and `gpus` are then set.
  std::string why_not;
  int gpus = 1;
  /// Speedup and efficiency refer to the same combination on one GPU.
  PredictionPoint point;
};

/// A table of predictions over combinations of settings, with the fastest and the cheapest row.
struct StudyResult {
  /// Names of the scenario as it stands.
  std::string scenario, model, cluster, strategy, precision;
  std::vector<StudyAxis> axes;
  /// Rows in the order of the combinations, within each by number of GPUs.
  std::vector<StudyRow> rows;
  /// Samples of the data set; 0 if unknown, and an epoch is then one step.
  std::int64_t samples = 0;
  /// Index of the row with the shortest run, or with most samples per second; none where nothing fits.
  std::optional<std::size_t> fastest{};
  /// Index of the row with the fewest GPU-hours, or with most samples per second and GPU.
  std::optional<std::size_t> cheapest{};
  /// Measured runs that calibrate the model.
  std::vector<MeasuredRuns> measured{};
  Decisions decisions{};
  std::vector<std::string> warnings{};
  std::string note{};
};

/// Returns the reason why a scenario cannot run on this number of GPUs; empty when it can.
std::string why_not_on(const Scenario& scenario, int gpus);

/// Returns true if an axis of the study has this key.
bool varies(const StudyResult& study, std::string_view key);

/// Predicts all combinations. [measured], or measured runs of the scenario as it stands, calibrate the model;
/// the calibration applies to all combinations of its network and cluster. Rows that do not fit into memory
/// are neither fastest nor cheapest. Throws InputError when no combination runs.
StudyResult run_study(const StudyQuestion& question, const Progress& progress = nullptr,
                      const EvidenceUse& evidence = {});

}  // namespace foretrain
