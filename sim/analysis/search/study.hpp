// A study: the combinations of [study] of one scenario, each predicted, with the fastest and the cheapest.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/prediction.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// Combinations that differ in nothing but their number of GPUs: they are one scenario.
struct StudyGroup {
  std::vector<StudySetting> settings;
  std::vector<std::size_t> points;  ///< of StudyQuestion::points
  std::string why_not;              ///< why these values do not go together; empty: they do
};

/// A scenario with a study, read so far that every combination is known to be right or to have a reason.
struct StudyQuestion {
  SourceText source;
  ScenarioOverrides overrides;
  Scenario own;  ///< the scenario as it stands
  std::vector<StudyPoint> points;
  std::vector<StudyGroup> groups;
};

/// Reads every combination. `source` without text: model and cluster come from `overrides`. A value with
/// which every combination is a mistake is one itself; all of them are thrown at once as InputError. Values
/// that are only together a mistake are a group with a reason.
StudyQuestion read_study(const SourceText& source, const ScenarioOverrides& overrides, Scenario own);

/// One combination on one number of GPUs.
struct StudyRow {
  StudyPoint values;    ///< one per axis
  std::string why_not;  ///< why it cannot run; the rest is then only `gpus`
  int gpus = 1;
  PredictionPoint point;  ///< speedup and efficiency refer to the same combination on one GPU
};

/// A table of predictions over combinations of settings, with the fastest and the cheapest row.
struct StudyResult {
  std::string scenario, model, cluster, strategy, precision;  ///< of the scenario as it stands
  std::vector<StudyAxis> axes;
  std::vector<StudyRow> rows;  ///< in the order of the combinations, within each by number of GPUs
  std::int64_t samples = 0;    ///< of the data set; 0 = unknown, then an epoch is one step
  /// Row with the shortest run, or most samples per second; none where nothing fits into memory.
  std::optional<std::size_t> fastest{};
  std::optional<std::size_t> cheapest{};  ///< with the fewest GPU hours, or most samples per second and GPU
  std::vector<MeasuredRuns> measured{};   ///< evidence that scales the model
  Decisions decisions{};
  std::vector<std::string> warnings{};
  std::string note{};
};

/// Why a scenario cannot run on so many GPUs; empty when it can.
std::string why_not_on(const Scenario& scenario, int gpus);

/// Whether an axis of the study has this key.
bool varies(const StudyResult& study, std::string_view key);

/// [measured], or runs in evidence of the scenario as it stands, scale the model; what they say of it holds
/// for all combinations of its network and cluster. What does not fit into memory is neither fastest nor
/// cheapest. Throws InputError when no combination runs.
StudyResult run_study(const StudyQuestion& question, const Progress& progress = nullptr,
                      const EvidenceUse& evidence = {});

}  // namespace foretrain
