// The compared strategies differ in nothing but their plan: they share the cluster's graph, the device model
// and the workload. A difference between two steps is therefore a difference between their parts, which sum
// to the steps.
#include "sim/analysis/search/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/answer/compare_answer.hpp"
#include "sim/analysis/causes/step_causes.hpp"
#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/search/strategy_order.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/names.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns the baseline of speedups: the plain loop on one GPU of the job's own nodes.
Scenario plain_loop(Scenario scenario) {
  scenario = with_strategy(std::move(scenario), "single");
  scenario.sampler = Sampler::distributed;
  return scenario;
}

/// Returns the largest number of GPUs that needs a place in the cluster's graph.
int most_gpus(const Scenario& scenario) {
  return std::max(scenario.gpus.back(), scenario.anchor ? scenario.anchor->gpus : 1);
}

/// Predicts every strategy on every number of GPUs and ranks the rows. The constructor calibrates first, so
/// that all predictors copy the calibrated model.
class Comparer {
 public:
  Comparer(const ComparedScenarios& scenarios, const Progress& progress, const EvidenceUse& evidence)
      : own_(scenarios.own),
        names_(scenarios.names),
        own_name_(scenarios.own_name.empty() ? own_.strategy : scenarios.own_name),
        progress_(progress),
        plain_(plain_loop(own_)),
        base_(own_, most_gpus(own_)) {
    calibrate(evidence);
    // Predictors refer to their scenarios and must not move once the intervals refer to it.
    predictors_.reserve(scenarios.strategies.size());
    for (const Scenario& scenario : scenarios.strategies)
      predictors_.emplace_back(scenario, base_).read_parts();
    intervals_.resize(predictors_.size());
  }

  Comparison compare() {
    Comparison out = heading();
    // The strategies all count their speedup from the same step.
    PointPredictor plain(plain_, base_);
    const Throughput one = plain.throughput(1);
    out.one_gpu_step_s = one.step_s;
    for (std::size_t i = 0; i < own_.gpus.size(); ++i) {
      out.numbers.push_back(on_gpus(own_.gpus[i], one.samples_per_s, out.decisions));
      if (progress_) progress_(static_cast<double>(i + 1) / static_cast<double>(own_.gpus.size()));
    }
    if (std::all_of(out.numbers.begin(), out.numbers.end(),
                    [](const ComparedGpus& row) { return row.best() == nullptr; }))
      throw InputError("none of the strategies runs on these GPUs",
                       out.numbers.front().strategies.front().why_not);
    note_frameworks(out);
    return out;
  }

 private:
  /// Throws InputError when the scenario's own strategy cannot run on the measured number of GPUs.
  void refuse_impossible_anchor() const {
    const Scenario& measured = own_.anchor->job ? *own_.anchor->job : own_;
    if (const std::string why = why_not(measured, own_.anchor->gpus); !why.empty())
      throw InputError(fmt::format("measured.gpus = {}: {}", own_.anchor->gpus, why));
  }

  void calibrate(const EvidenceUse& evidence) {
    if (own_.anchor) refuse_impossible_anchor();
    const MeasuredCalibration measured = calibrate_to_measured(base_, most_gpus(own_), evidence);
    evidence_ = measured.evidence;
    if (measured.anchored)
      decisions_.add(
          "anchor", scaling_text(*measured.anchored),
          fmt::format("measured with {}, the model scaled by it serves all strategies", own_.strategy));
  }

  Comparison heading() const {
    Comparison out;
    out.evidence = evidence_;
    out.training = named_with(own_.model.name, own_.model.tuning);
    out.scenario = own_.name, out.model = own_.model.name, out.cluster = own_.cluster.name;
    out.precision = precision_of(own_), out.own_strategy = own_name_;
    out.baseline = step_model_of(own_).baseline;
    out.strong_scaling = own_.global_batch.has_value();
    out.global_batch = own_.global_batch.value_or(0);
    out.samples = own_.workload.data.samples, out.epochs = own_.epochs;
    for (std::size_t i = 0; i < predictors_.size(); ++i) out.strategies.push_back(name_at(i));
    out.decisions = decisions_;
    out.warnings = own_.warnings;
    out.note = own_.note;
    return out;
  }

  /// Builds the rows of one number of GPUs: predict, draw, order, then explain against the fastest.
  ComparedGpus on_gpus(int gpus, double one_gpu_rate, Decisions& decisions) {
    ComparedGpus out;
    out.gpus = gpus, out.nodes = reserved_gpus(own_, gpus).nodes;
    std::vector<DrawnSpeed> speeds;
    for (std::size_t i = 0; i < predictors_.size(); ++i) {
      out.strategies.push_back(one(i, gpus, one_gpu_rate, decisions));
      speeds.push_back(drawn(i, out.strategies.back()));
    }
    set_order(out, own_name_, speeds, draws_);
    hold_against_best(out);
    out.answer = answered(out);
    return out;
  }

  /// Returns the predictor of a row; set_order() has changed the order of the rows.
  PointPredictor& predictor_of(const ComparedStrategy& row) {
    std::size_t place = 0;
    while (name_at(place) != row.strategy) ++place;
    return predictors_[place];
  }

  /// Returns the seconds that each cause of a step adds when all causes are removed one after another; the
  /// kernels are the rest. All rows remove the causes in the same order, so their parts can be subtracted.
  std::vector<StepPart> parts_by_removal(const ComparedStrategy& row, int gpus) {
    PointPredictor& points = predictor_of(row);
    std::vector<CausePart> order;
    for (const Removable what : kRemovable) order.push_back({what, 0});
    const std::vector<double> seconds = parts_in_order(points, gpus, order);
    const double factor = points.correction().factor(gpus);
    std::vector<StepPart> parts;
    for (std::size_t i = 0; i < order.size(); ++i) {
      // Links have one name for all strategies, because the slowest link may differ between them.
      const bool is_link = order[i].what == Removable::links;
      parts.push_back(
          {is_link ? "communication" : words_for(order[i].what, points.simulator(), points.step(gpus)),
           factor * seconds[i]});
    }
    parts.push_back({"the GPU's own kernels", factor * seconds.back()});
    return parts;
  }

  /// Sets the differences of all rows to the fastest one.
  void hold_against_best(ComparedGpus& out) {
    const ComparedStrategy* best = out.best();
    if (best == nullptr) return;
    const std::vector<StepPart> of_best = parts_by_removal(*best, out.gpus);
    for (ComparedStrategy& row : out.strategies)
      if (&row != best && row.why_not.empty())
        row.against_best = difference(parts_by_removal(row, out.gpus), of_best);
  }

  /// Returns the verdict for one number of GPUs, with the causes of the row that it is about.
  Answer answered(const ComparedGpus& numbers) {
    std::optional<StepCauses> causes;
    const ComparedStrategy* row = compared_row(numbers, own_name_);
    if (row != nullptr) causes = causes_of(predictor_of(*row), numbers.gpus);
    Answer answer = answer_of(numbers, own_name_, std::move(causes), names_.empty());
    // The scenario gives the question, the assumptions and what the model does not cover.
    answer.question = fmt::format("which {} for {} on {}, on {}", names_.empty() ? "strategy" : "layout",
                                  own_.model.name, own_.cluster.name, counted(numbers.gpus, "GPU"));
    answer.assumptions = assumptions_of(own_);
    answer.not_understood = unmodelled_words(own_, numbers.nodes);
    say_what_is_unmodelled(answer, own_);
    return answer;
  }

  std::string name_at(std::size_t place) const {
    return names_.empty() ? predictors_[place].simulator().scenario().strategy : names_[place].name;
  }

  std::string why_not_at(std::size_t place, int gpus) const {
    if (!names_.empty() && !names_[place].why_not.empty()) return names_[place].why_not;
    const StepSimulator& simulator = predictors_[place].simulator();
    return simulator.model().why_not(simulator.scenario(), gpus);
  }

  /// Predicts one row. A simulation that fails with a mistake of the input makes a row that cannot run.
  ComparedStrategy one(std::size_t place, int gpus, double one_gpu_rate, Decisions& decisions) {
    PointPredictor& predictor = predictors_[place];
    const Scenario& scenario = predictor.simulator().scenario();
    ComparedStrategy row{name_at(place), why_not_at(place, gpus), {}, {}};
    // A row without a prediction still states what it needs.
    row.needs = what_it_needs(*find_strategy(scenario.strategy), own_.workload.framework.kind);
    if (!row.why_not.empty()) return row;
    try {
      Decisions own;
      row.point = predictor.point(gpus, own);
      row.point.speedup = row.point.samples_per_s / one_gpu_rate;
      row.point.efficiency = row.point.speedup / gpus;
      row.raw_step_s = predictor.step(gpus).step_s;
      row.parts = predictor.step(gpus).parts;
      for (StepPart& part : row.parts) part.seconds *= predictor.correction().factor(gpus);
      row.job_losses = job_losses(scenario, gpus);
      for (const Decision& d : own.list()) decisions.add(row.strategy + ": " + d.subject, d.choice, d.why);
    } catch (const InputError& error) {
      row.why_not = error.first_message();
    }
    return row;
  }

  bool is_own_framework(const StepSimulator& other) const {
    return other.model().framework(other.scenario()) == step_model_of(own_).framework(own_);
  }

  /// Returns the speed of a row in each draw of the uncertain inputs.
  DrawnSpeed drawn(std::size_t place, const ComparedStrategy& row) {
    DrawnSpeed out{row.point.samples_per_s, {}, place, is_own_framework(predictors_[place].simulator())};
    // A row that cannot run shows no ratio, so its draws are not computed.
    if (!row.why_not.empty() || !row.point.fits()) return out;
    // Intervals simulate, so they are made for strategies that run only.
    std::optional<Intervals>& intervals = intervals_[place];
    if (!intervals) intervals.emplace(predictors_[place]);
    out.step_factors = step_factors(intervals->response(row.point.gpus), draws_, row.point.gpus);
    return out;
  }

  /// Adds one warning for all strategies that run in another framework than the scenario's.
  void note_frameworks(Comparison& out) const {
    const FrameworkKind own = own_.workload.framework.kind;
    std::vector<std::string> foreign;
    FrameworkKind other = own;
    for (const PointPredictor& predictor : predictors_) {
      const Scenario& scenario = predictor.simulator().scenario();
      if (scenario.workload.framework.kind == own) continue;
      foreign.push_back(scenario.strategy);
      other = scenario.workload.framework.kind;
    }
    if (foreign.empty()) return;
    out.warnings.push_back(fmt::format("{} run{} in {} with its defaults, the others in {}",
                                       fmt::join(foreign, ", "), foreign.size() == 1 ? "s" : "",
                                       name_of(other), name_of(own)));
  }

  const Scenario& own_;
  const std::vector<ComparedName>& names_;
  std::string own_name_;
  const Progress& progress_;
  Scenario plain_;
  PointPredictor base_;
  std::optional<AppliedEvidence> evidence_;
  std::vector<PointPredictor> predictors_;
  /// Intervals by predictor, made at its first use.
  std::vector<std::optional<Intervals>> intervals_;
  Draws draws_;
  Decisions decisions_;
};

}  // namespace

const ComparedStrategy* ComparedGpus::best() const {
  const auto found = std::ranges::find(strategies, fastest, &ComparedStrategy::strategy);
  return fastest.empty() || found == strategies.end() ? nullptr : &*found;
}

const ComparedStrategy* ComparedGpus::first() const {
  return fastest.empty() ? nullptr : &strategies.front();
}

namespace {

/// Returns the usual strategies of the scenario's framework and its own, in the catalog's order.
std::vector<std::string> usual_and_own(const Scenario& own) {
  const std::vector<std::string> usual = usual_strategies(own.workload.framework.kind);
  std::vector<std::string> names = strategy_names();
  // Erasing from the catalog's list keeps its order.
  std::erase_if(names, [&](const std::string& name) {
    return name != own.strategy && std::ranges::find(usual, name) == usual.end();
  });
  return names;
}

/// Reads the scenario with a strategy; an empty name keeps the scenario's own.
Scenario read_one(const SourceText& source, ScenarioOverrides overrides, const std::string& strategy,
                  OpenedCatalogs& opened) {
  overrides.one_of_several = true, overrides.strategy = strategy;
  return source.text.empty() ? make_scenario(overrides, opened) : read_scenario(source, overrides, opened);
}

}  // namespace

/// The scenario is read once as it stands, to find the model that knows what it can be compared with.
ComparedScenarios read_compared(const SourceText& source, const ScenarioOverrides& overrides,
                                const std::vector<std::string>& strategies) {
  OpenedCatalogs opened;
  Scenario own = read_one(source, overrides, {}, opened);
  const StepModel& model = step_model_of(own);
  return model.read_compared(source, overrides, strategies, std::move(own), opened);
}

ComparedScenarios read_compared_strategies(const SourceText& source, const ScenarioOverrides& overrides,
                                           const std::vector<std::string>& strategies, Scenario own,
                                           OpenedCatalogs& opened) {
  ComparedScenarios out{std::move(own), {}};
  for (const std::string& strategy : strategies.empty() ? usual_and_own(out.own) : strategies)
    out.strategies.push_back(read_one(source, overrides, strategy, opened));
  return out;
}

Comparison compare(const ComparedScenarios& scenarios, const Progress& progress,
                   const EvidenceUse& evidence) {
  return Comparer(scenarios, progress, evidence).compare();
}

std::vector<std::string> strategies_named(const std::vector<std::string>& names) {
  if (names.empty() || names == std::vector<std::string>{"all"})
    return names.empty() ? names : strategy_names();
  std::vector<std::string> found;
  for (const std::string& name : names) {
    const StrategyEntry* entry = find_strategy(name);
    if (entry == nullptr)
      throw InputError(fmt::format("unknown strategy \"{}\"", name.substr(0, 60)),
                       did_you_mean(name.substr(0, 60), strategy_names()));
    if (std::find(found.begin(), found.end(), entry->name) != found.end())
      throw InputError(fmt::format("--strategies has {} twice", entry->name));
    found.emplace_back(entry->name);
  }
  std::vector<std::string> ordered = strategy_names();
  std::erase_if(ordered, [&](const std::string& name) {
    return std::find(found.begin(), found.end(), name) == found.end();
  });
  return ordered;
}

std::vector<std::string> usual_strategies(FrameworkKind framework) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (what_it_needs(entry, framework).empty()) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace foretrain
