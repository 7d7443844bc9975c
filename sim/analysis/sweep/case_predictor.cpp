// A case is read as a combination of a study is. The cluster's graph and its collectives come from the first
// case that had the same machine, which saves most of the time of a case.
#include "sim/analysis/sweep/case_predictor.hpp"

#include <algorithm>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/search/study.hpp"
#include "sim/analysis/step/known_figures.hpp"
#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

/// Most machines that are kept; all are dropped when there are more.
constexpr std::size_t kMostMachines = 64;
/// Cases of one machine after which it is built anew, because it keeps every size of message that was asked
/// for.
constexpr int kMostUses = 5000;

constexpr const char* kNoStep = "an epoch has no step: drop_last leaves no full batch";

Value number_value(double value) { return {value}; }
Value whole_value(std::int64_t value) { return {value}; }
/// Returns the figure, or null where it is unknown.
template <class T>
Value value_of(const std::optional<T>& figure) {
  return figure ? Value{*figure} : Value{};
}
KnownFigures known(const CaseResult& r) { return known_figures(r.point); }

/// Returns true for keys that change neither the cluster nor how its GPUs communicate.
bool is_of_training(const std::string& key) {
  for (const std::string_view table : {"model.", "data.", "strategy.", "loop.", "run.", "framework."})
    if (key.starts_with(table)) return true;
  return false;
}

/// Returns the settings that may change the cluster or its communication: equal texts have equal machines.
std::string machine_text(const std::vector<StudySetting>& settings) {
  std::string out;
  for (const StudySetting& setting : settings)
    if (!is_of_training(setting.key)) out += setting.key + '=' + text_of(setting.value) + '\n';
  return out;
}

/// Adds energy and cost of a run whose length is known.
void add_costs(const Scenario& scenario, CaseResult& result) {
  const PredictionPoint& p = result.point;
  if (!known_figures(p).total_s) return;
  const Partition* partition = partition_for(scenario.cluster.site, p.gpus, p.nodes, p.total_s);
  const auto above_none = [](double value) { return value > 0 ? std::optional(value) : std::nullopt; };
  result.energy_kwh = above_none(node_energy_kwh(scenario, partition, p));
  result.cost = above_none(billing_cost(scenario, partition, p.gpus, p.nodes, p.total_s));
}

}  // namespace

const std::vector<CaseFigure>& case_figures() {
  using R = const CaseResult&;
  static const std::vector<CaseFigure> figures{
      {"nodes", "INTEGER", "nodes that the GPUs are on", [](R r) { return whole_value(r.point.nodes); }},
      {"batch_per_gpu", "INTEGER", "samples of a GPU and micro-step",
       [](R r) { return whole_value(r.point.batch_per_gpu); }},
      {"global_batch", "INTEGER", "samples of a step", [](R r) { return whole_value(r.point.global_batch); }},
      {"steps_per_epoch", "INTEGER", "steps of an epoch",
       [](R r) { return value_of(known(r).steps_per_epoch); }},
      {"step_s", "REAL", "seconds of a step", [](R r) { return number_value(r.point.step_s); }},
      {"samples_per_s", "REAL", "samples a second", [](R r) { return number_value(r.point.samples_per_s); }},
      {"speedup", "REAL", "over one GPU of the same case", [](R r) { return value_of(known(r).speedup); }},
      {"efficiency", "REAL", "speedup over the number of GPUs",
       [](R r) { return value_of(known(r).efficiency); }},
      {"epoch_s", "REAL", "seconds of an epoch", [](R r) { return value_of(known(r).epoch_s); }},
      {"total_s", "REAL", "seconds of the run", [](R r) { return value_of(known(r).total_s); }},
      {"gpu_hours", "REAL", "GPU-hours of the run", [](R r) { return value_of(known(r).gpu_hours); }},
      {"energy_kwh", "REAL", "kWh of the GPUs and their share of the nodes",
       [](R r) { return value_of(r.energy_kwh); }},
      {"cost", "REAL", "of the run, in the unit of the cluster's billing",
       [](R r) { return value_of(r.cost); }},
      {"memory_bytes", "INTEGER", "of a GPU", [](R r) { return whole_value(r.point.memory.total().count); }},
      {"fits", "INTEGER", "1: into the memory of a GPU",
       [](R r) { return whole_value(r.point.fits() ? 1 : 0); }},
  };
  return figures;
}

/// Calibrates only if there is a measured step or a store, because that simulates.
SweptScenario swept_scenario(const SourceText& source, const EvidenceUse& evidence) {
  SweptScenario out{source, {}, std::nullopt, {}};
  if (source.text.empty()) return out;
  out.own = read_scenario(source, {});
  if (!out.own.anchor && evidence.field == nullptr) return out;
  const int most = std::max(out.own.gpus.back(), out.own.anchor ? out.own.anchor->gpus : 1);
  PointPredictor base(out.own, most);
  MeasuredCalibration measured = calibrate_to_measured(base, most, evidence);
  out.anchored = std::move(measured.anchored);
  if (measured.is_by_evidence()) out.measured = {measured.evidence->measured.front()};
  return out;
}

Scenario CasePredictor::read(const std::vector<StudySetting>& settings) {
  ScenarioOverrides overrides;
  overrides.combination = settings;
  return scenario_.source.text.empty() ? make_scenario(overrides, opened_)
                                       : read_scenario(scenario_.source, overrides, opened_);
}

bool CasePredictor::is_anchored(const Scenario& scenario) const {
  return scenario_.anchored && scenario.model.name == scenario_.own.model.name &&
         scenario.cluster.name == scenario_.own.cluster.name;
}

/// A machine serves cases with at most as many GPUs as its graph was made for.
const PointPredictor& CasePredictor::machine_of(const Scenario& scenario, const std::string& machine,
                                                int most_gpus) {
  const auto known = machines_.find(machine);
  // A machine with a graph for fewer GPUs is replaced by a larger one.
  const bool serves = known != machines_.end() && known->second.most_gpus >= most_gpus;
  if (serves && ++known->second.uses < kMostUses) return *known->second.points;
  if (machines_.size() >= kMostMachines) machines_.clear();
  machines_.erase(machine);
  Machine& made = machines_[machine];
  made.scenario = scenario, made.most_gpus = most_gpus;
  made.points = std::make_unique<PointPredictor>(made.scenario, most_gpus);
  return *made.points;
}

CaseResult CasePredictor::result(PointPredictor& points, const Scenario& scenario, int gpus) const {
  CaseResult out;
  out.why_not = why_not_on(scenario, gpus);
  if (!out.why_not.empty()) return out;
  try {
    Decisions none;
    const double one = points.throughput(1).samples_per_s;
    out.point = points.point(gpus, none);
    out.point.speedup = out.point.samples_per_s / one;
    out.point.efficiency = out.point.speedup / gpus;
    if (out.point.steps_per_epoch == 0) out.why_not = kNoStep;
    add_costs(scenario, out);
  } catch (const InputError& error) {
    out.why_not = error.first_message();
  }
  return out;
}

CaseResult CasePredictor::conceivable(PointPredictor& points, const Scenario& scenario, int gpus) const {
  CaseResult out;
  out.why_not = why_not_on(scenario, gpus);
  if (!out.why_not.empty()) return out;
  out.point = points.best_conceivable(gpus);
  if (out.point.steps_per_epoch == 0) out.why_not = kNoStep;
  add_costs(scenario, out);
  return out;
}

std::vector<CaseResult> CasePredictor::predict(const std::vector<StudySetting>& settings,
                                               const std::vector<int>& gpus) {
  return each(settings, gpus, &CasePredictor::result);
}

std::vector<CaseResult> CasePredictor::best_conceivable(const std::vector<StudySetting>& settings,
                                                        const std::vector<int>& gpus) {
  return each(settings, gpus, &CasePredictor::conceivable);
}

std::vector<CaseResult> CasePredictor::each(const std::vector<StudySetting>& settings,
                                            const std::vector<int>& gpus, OneCase one) {
  std::vector<CaseResult> out;
  try {
    const Scenario scenario = read(settings);
    int most = 1;
    // Numbers that cannot run must not enlarge the graph.
    for (const int number : gpus) most = why_not_on(scenario, number).empty() ? std::max(most, number) : most;
    PointPredictor points(scenario, machine_of(scenario, machine_text(settings), most));
    points.set_device(is_anchored(scenario) ? scenario_.anchored->device : default_device_model(scenario));
    for (const int number : gpus) out.push_back((this->*one)(points, scenario, number));
  } catch (const InputError& error) {
    // A mistake in the settings concerns every number of GPUs.
    out.assign(gpus.size(), CaseResult{error.first_message(), {}, {}, {}});
  }
  return out;
}

}  // namespace foretrain
