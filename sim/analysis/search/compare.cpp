// Strategies differ in nothing but their plan: they share the cluster's graph, the device model and the
// workload. Differences between two steps are differences between their parts, which sum to the steps.
#include "sim/analysis/search/compare.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/base/names.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/opened_catalogs.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

Scenario plain_loop(Scenario scenario) {
  scenario.strategy = "single";
  scenario.launch = {};
  scenario.sampler = Sampler::distributed;
  return scenario;
}

int most_gpus(const Scenario& scenario) {
  return std::max(scenario.gpus.back(), scenario.anchor ? scenario.anchor->gpus : 1);
}

bool ranks_before(const ComparedStrategy& a, const ComparedStrategy& b) {
  if (a.why_not.empty() != b.why_not.empty()) return a.why_not.empty();
  if (!a.why_not.empty()) return false;
  if (a.point.fits() != b.point.fits()) return a.point.fits();
  return a.point.samples_per_s > b.point.samples_per_s;
}

class Comparer {
 public:
  Comparer(const ComparedScenarios& scenarios, const Progress& progress)
      : own_(scenarios.own), progress_(progress), plain_(plain_loop(own_)), base_(own_, most_gpus(own_)) {
    if (own_.anchor) anchor();
    for (const Scenario& scenario : scenarios.strategies)
      predictors_.emplace_back(scenario, base_).read_parts();
  }

  Comparison compare() {
    Comparison out = heading();
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
  void anchor() {
    if (const std::string why = why_not(own_, own_.anchor->gpus); !why.empty())
      throw InputError(fmt::format("measured.gpus = {}: {}", own_.anchor->gpus, why));
    const Anchored anchored = fit_anchor(base_.simulator(), base_.device(), *own_.anchor);
    base_.set_device(anchored.device);
    decisions_.add(
        "anchor", fmt::format("{} x {:.3f}", anchored.scaled, anchored.factor),
        fmt::format("measured with {}, the model scaled by it serves all strategies", own_.strategy));
  }

  Comparison heading() const {
    Comparison out;
    out.scenario = own_.name, out.model = own_.model.name, out.cluster = own_.cluster.name;
    out.precision = name_of(own_.workload.precision), out.own_strategy = own_.strategy;
    out.strong_scaling = own_.global_batch.has_value();
    out.samples = own_.workload.data.samples, out.epochs = own_.epochs;
    for (const PointPredictor& predictor : predictors_)
      out.strategies.push_back(predictor.simulator().scenario().strategy);
    out.decisions = decisions_;
    out.warnings = own_.warnings;
    out.note = own_.note;
    return out;
  }

  ComparedGpus on_gpus(int gpus, double one_gpu_rate, Decisions& decisions) {
    ComparedGpus out;
    out.gpus = gpus, out.nodes = reserved_gpus(own_, gpus).nodes;
    for (PointPredictor& predictor : predictors_)
      out.strategies.push_back(one(predictor, gpus, one_gpu_rate, decisions));
    std::stable_sort(out.strategies.begin(), out.strategies.end(), ranks_before);
    const ComparedStrategy* best = out.best();
    for (ComparedStrategy& row : out.strategies) {
      if (&row != best && row.why_not.empty()) row.against_best = difference(row.parts, best->parts);
    }
    return out;
  }

  ComparedStrategy one(PointPredictor& predictor, int gpus, double one_gpu_rate, Decisions& decisions) const {
    const Scenario& scenario = predictor.simulator().scenario();
    ComparedStrategy row{scenario.strategy, why_not_together(scenario, gpus), {}, {}};
    if (!row.why_not.empty()) return row;
    try {
      Decisions own;
      row.point = predictor.point(gpus, own);
      row.point.speedup = row.point.samples_per_s / one_gpu_rate;
      row.point.efficiency = row.point.speedup / gpus;
      row.parts = predictor.step(gpus).parts;
      row.job_losses = job_losses(scenario, gpus);
      for (const Decision& d : own.list())
        decisions.add(scenario.strategy + ": " + d.subject, d.choice, d.why);
    } catch (const InputError& error) {
      row.why_not = error.first_message();
    }
    return row;
  }

  /// Said once, for all strategies that do not run in the scenario's framework.
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
  const Progress& progress_;
  Scenario plain_;
  PointPredictor base_;
  std::vector<PointPredictor> predictors_;
  Decisions decisions_;
};

}  // namespace

const ComparedStrategy* ComparedGpus::best() const {
  return strategies.empty() || !strategies.front().why_not.empty() ? nullptr : &strategies.front();
}

ComparedScenarios read_compared(const SourceText& source, const ScenarioOverrides& overrides,
                                const std::vector<std::string>& strategies) {
  OpenedCatalogs opened;
  const auto read = [&source, &opened](const ScenarioOverrides& asked) {
    return source.text.empty() ? make_scenario(asked, opened) : read_scenario(source, asked, opened);
  };
  ScenarioOverrides asked = overrides;
  asked.one_of_several = true;
  asked.strategy.clear();
  ComparedScenarios out{read(asked), {}};
  for (const std::string& strategy : strategies) {
    asked.strategy = strategy;
    out.strategies.push_back(read(asked));
  }
  return out;
}

Comparison compare(const ComparedScenarios& scenarios, const Progress& progress) {
  return Comparer(scenarios, progress).compare();
}

std::vector<std::string> strategies_named(const std::vector<std::string>& names) {
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
  if (!names.empty())
    std::erase_if(ordered, [&](const std::string& name) {
      return std::find(found.begin(), found.end(), name) == found.end();
    });
  return ordered;
}

std::vector<std::string> strategies_of(FrameworkKind framework) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : strategy_catalog()) {
    if (entry.framework.value_or(framework) == framework) names.emplace_back(entry.name);
  }
  return names;
}

}  // namespace foretrain
