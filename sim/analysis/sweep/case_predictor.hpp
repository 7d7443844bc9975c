// Predictions of the cases of a sweep: one scenario at a time on its numbers of GPUs, with everything that
// does not change kept from case to case.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/analysis/evidence/applied_evidence.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// The prediction of a case, or the reason why it cannot run; all else is then empty.
struct CaseResult {
  std::string why_not;
  PredictionPoint point;
  /// Energy of GPUs and nodes, where it is known.
  std::optional<double> energy_kwh;
  /// Cost in the unit of the site's billing, where it is known.
  std::optional<double> cost;
};

/// A figure of a result as a column of a table.
struct CaseFigure {
  std::string_view name;
  /// Type in SQL.
  std::string_view type;
  /// Meaning with its unit.
  std::string_view meaning;
  /// Returns the figure of a result; null where it is unknown.
  Value (*of)(const CaseResult& result);
};
/// Returns all figures in the order of the columns.
const std::vector<CaseFigure>& case_figures();

/// The scenario that a sweep varies.
struct SweptScenario {
  /// Source; without text the settings alone define a case.
  SourceText source;
  /// The scenario as it stands; without a source text the first case that can be read.
  Scenario own;
  /// Its calibration, which applies to all cases of its model and cluster.
  std::optional<Anchored> anchored;
  /// Measured runs of a store that this calibration comes from.
  std::vector<MeasuredRuns> measured{};
};

/// Reads the scenario of a sweep. Throws InputError for its mistakes. Without [measured], runs of it in
/// evidence calibrate the model.
SweptScenario swept_scenario(const SourceText& source, const EvidenceUse& evidence = {});

/// Predicts the cases of one sweep. Not thread-safe: each thread has its own. The swept scenario must outlive
/// it.
class CasePredictor {
 public:
  explicit CasePredictor(const SweptScenario& scenario) : scenario_(scenario) {}

  /// Predicts the same scenario on each of these numbers of GPUs. A mistake in the settings becomes the
  /// reason of all results.
  std::vector<CaseResult> predict(const std::vector<StudySetting>& settings, const std::vector<int>& gpus);
  /// Returns bounds that none of them can better, without a simulation (PointPredictor::best_conceivable), or
  /// the reason where it cannot run.
  std::vector<CaseResult> best_conceivable(const std::vector<StudySetting>& settings,
                                           const std::vector<int>& gpus);

 private:
  /// A cluster with the graph and collectives that its cases share.
  struct Machine {
    Scenario scenario;
    int most_gpus = 0, uses = 0;
    std::unique_ptr<PointPredictor> points;
  };

  /// Reads one case.
  Scenario read(const std::vector<StudySetting>& settings);
  /// Returns true if the calibration applies to this case.
  bool is_anchored(const Scenario& scenario) const;
  /// Returns a predictor whose graph serves this machine and number of GPUs.
  const PointPredictor& machine_of(const Scenario& scenario, const std::string& machine, int most_gpus);
  /// Predicts one number of GPUs.
  CaseResult result(PointPredictor& points, const Scenario& scenario, int gpus) const;
  /// Bounds one number of GPUs.
  CaseResult conceivable(PointPredictor& points, const Scenario& scenario, int gpus) const;
  /// Either of the two functions above.
  using OneCase = CaseResult (CasePredictor::*)(PointPredictor&, const Scenario&, int) const;
  /// Calls `one` for each number of GPUs of one case.
  std::vector<CaseResult> each(const std::vector<StudySetting>& settings, const std::vector<int>& gpus,
                               OneCase one);

  const SweptScenario& scenario_;
  OpenedCatalogs opened_;
  std::map<std::string, Machine> machines_;
};

}  // namespace foretrain
