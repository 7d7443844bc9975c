// Predicting the cases of a sweep: one scenario at a time on its numbers of GPUs, with all that is alike kept
// from case to case.
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

/// What a case comes to; with a reason why not the rest is empty.
struct CaseResult {
  std::string why_not;
  PredictionPoint point;
  std::optional<double> energy_kwh;  ///< of GPUs and nodes, where it is known
  std::optional<double> cost;        ///< in the unit of the site's billing, where it is known
};

/// A figure of a result as a column of a table.
struct CaseFigure {
  std::string_view name;
  std::string_view type;     ///< of SQL
  std::string_view meaning;  ///< with its unit
  Value (*of)(const CaseResult& result);
};
/// In the order of the columns.
const std::vector<CaseFigure>& case_figures();

/// The scenario that a sweep is of.
struct SweptScenario {
  SourceText source;  ///< no text: the settings alone
  Scenario own;       ///< as it stands; without text the first case that can be read
  /// Its measured step, of which all cases of its model and cluster make use.
  std::optional<Anchored> anchored;
  std::vector<MeasuredRuns> measured{};  ///< evidence that this step is from
};

/// The scenario that a sweep names, with its mistakes thrown. Without [measured] runs of it in evidence take
/// that place.
SweptScenario swept_scenario(const SourceText& source, const EvidenceUse& evidence = {});

/// For one thread.
class CasePredictor {
 public:
  explicit CasePredictor(const SweptScenario& scenario) : scenario_(scenario) {}

  /// The same scenario on each of these numbers.
  std::vector<CaseResult> predict(const std::vector<StudySetting>& settings, const std::vector<int>& gpus);
  /// What none of them can be better than, without a simulation (PointPredictor::best_conceivable); with a
  /// reason where it cannot run.
  std::vector<CaseResult> best_conceivable(const std::vector<StudySetting>& settings,
                                           const std::vector<int>& gpus);

 private:
  /// A cluster with what was found out on it.
  struct Machine {
    Scenario scenario;
    int most_gpus = 0, uses = 0;
    std::unique_ptr<PointPredictor> points;
  };

  Scenario read(const std::vector<StudySetting>& settings);
  bool is_anchored(const Scenario& scenario) const;
  const PointPredictor& machine_of(const Scenario& scenario, const std::string& machine, int most_gpus);
  CaseResult result(PointPredictor& points, const Scenario& scenario, int gpus) const;
  CaseResult conceivable(PointPredictor& points, const Scenario& scenario, int gpus) const;
  using OneCase = CaseResult (CasePredictor::*)(PointPredictor&, const Scenario&, int) const;
  std::vector<CaseResult> each(const std::vector<StudySetting>& settings, const std::vector<int>& gpus,
                               OneCase one);

  const SweptScenario& scenario_;
  OpenedCatalogs opened_;
  std::map<std::string, Machine> machines_;
};

}  // namespace foretrain
