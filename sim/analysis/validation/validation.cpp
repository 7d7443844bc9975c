// A series is one model on one cluster with one strategy, precision and batch; its rows differ in the number
// of GPUs. Each becomes a scenario; the smallest row is the anchor.
#include "sim/analysis/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/epoch.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

namespace {

using TrainingRows = std::vector<const Measurement*>;
using Metric = Measurement::Metric;

/// Rows that share what the step depends on. A series of the file may hold several such groups.
struct GroupKey {
  std::string series, model, cluster, strategy, precision, settings;
  std::int64_t batch;
  Metric metric;
  auto operator<=>(const GroupKey&) const = default;
};

std::string joined(const std::vector<std::pair<std::string, std::string>>& settings) {
  std::string text;
  for (const auto& [key, value] : settings) text += key + "=" + value + ";";
  return text;
}

GroupKey group_key_of(const Measurement& m) {
  return {m.series,           m.model,         m.cluster, m.strategy, m.precision,
          joined(m.settings), m.batch_per_gpu, m.metric};
}

std::vector<TrainingRows> group(const std::vector<Measurement>& measurements) {
  std::map<GroupKey, std::size_t> index;
  std::vector<TrainingRows> groups;
  for (const Measurement& m : measurements) {
    const auto [it, is_new] = index.try_emplace(group_key_of(m), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(&m);
  }
  for (TrainingRows& rows : groups) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Measurement* a, const Measurement* b) { return a->gpus < b->gpus; });
  }
  return groups;
}

ScenarioOverrides overrides_for(const TrainingRows& rows, const std::vector<std::string>& settings) {
  const Measurement& m = *rows.front();
  ScenarioOverrides overrides;
  overrides.model = m.model;
  overrides.cluster = m.cluster;
  overrides.strategy = m.strategy;
  overrides.batch = m.batch_per_gpu;
  for (const Measurement* row : rows) overrides.gpus.push_back(row->gpus);
  overrides.settings.push_back(fmt::format("model.precision=\"{}\"", m.precision));
  for (const auto& [key, value] : m.settings) overrides.settings.push_back(key + "=" + value);
  overrides.settings.insert(overrides.settings.end(), settings.begin(), settings.end());
  return overrides;
}

double step_of(const StepSimulator& simulator, const Measurement& m) {
  if (m.metric == Metric::step_s) return m.value;
  if (m.metric == Metric::samples_per_s) return static_cast<double>(simulator.global_batch(m.gpus)) / m.value;
  const EpochShape shape = epoch_shape(simulator.scenario(), m.gpus);
  return m.value / static_cast<double>(std::max<std::int64_t>(1, shape.steps));
}

/// A step time in the row's own metric; a rate as samples per second.
double in_metric(const StepSimulator& simulator, const Measurement& m, double step_s) {
  const double samples_per_s = static_cast<double>(simulator.global_batch(m.gpus)) / step_s;
  switch (m.metric) {
    case Metric::step_s:
      return step_s;
    case Metric::samples_per_s:
    case Metric::rate:
      return samples_per_s;
    case Metric::epoch_s:
      break;
  }
  const EpochShape shape = epoch_shape(simulator.scenario(), m.gpus);
  return step_s * static_cast<double>(std::max<std::int64_t>(1, shape.steps));
}

bool more_is_better(Metric metric) { return metric == Metric::samples_per_s || metric == Metric::rate; }

/// What the anchor's throughput promises N GPUs.
double linear_scaling(const Measurement& anchor, const Measurement& m) {
  const double ratio = static_cast<double>(m.gpus) / anchor.gpus;
  if (more_is_better(m.metric)) return anchor.value * ratio;
  return m.metric == Metric::step_s ? anchor.value : anchor.value / ratio;
}

bool is_wanted(const Measurement& m, const std::vector<int>& gpus) {
  return gpus.empty() || std::find(gpus.begin(), gpus.end(), m.gpus) != gpus.end();
}

/// The rows that count, and with an anchor the smallest of each group that has such rows.
std::vector<TrainingRows> keep_wanted(std::vector<TrainingRows> groups, const ValidationOptions& options) {
  for (TrainingRows& rows : groups) {
    const bool any = std::any_of(rows.begin(), rows.end(),
                                 [&](const Measurement* m) { return is_wanted(*m, options.gpus); });
    const Measurement* anchor = options.anchor && any ? rows.front() : nullptr;
    std::erase_if(rows, [&](const Measurement* m) { return m != anchor && !is_wanted(*m, options.gpus); });
  }
  std::erase_if(groups, [](const TrainingRows& rows) { return rows.empty(); });
  return groups;
}

/// Whether the nodes a row names can hold its GPUs; otherwise it runs where the scenario's layout puts it.
bool fits(const Measurement& m, const ClusterSpec& cluster) {
  return m.nodes >= 1 && m.nodes <= std::min(m.gpus, nodes_of_kind(cluster, 0)) &&
         m.gpus <= m.nodes * cluster.node.gpus;
}

int most_nodes(const TrainingRows& rows, const ClusterSpec& cluster) {
  int most = 1;
  for (const Measurement* m : rows) most = std::max(most, fits(*m, cluster) ? m->nodes : 1);
  return most;
}

/// Predicts the rows of one group. A number of GPUs is simulated once, however many rows have it.
class GroupValidator {
 public:
  GroupValidator(const TrainingRows& rows, const Scenario& scenario, const Draws& draws,
                 const ValidationOptions& options)
      : rows_(rows),
        draws_(draws),
        options_(options),
        simulator_(scenario, rows.back()->gpus, most_nodes(rows, scenario.cluster)),
        device_(default_device_model(scenario)),
        spreads_(spreads_of({}, scenario)),
        reference_gpus_(options.anchor ? rows.front()->gpus : 1) {
    for (const Measurement* m : rows) {
      if (fits(*m, scenario.cluster)) simulator_.spread(m->gpus, m->nodes);
    }
    if (options.anchor) use_anchor();
  }

  std::vector<ValidatedPoint> points() {
    std::vector<ValidatedPoint> points;
    for (const Measurement* m : rows_) {
      if (m != anchor_) points.push_back(point(*m));
    }
    return points;
  }
  /// Why no device model reaches the anchor; empty when one does.
  const std::string& why_unreached() const { return why_unreached_; }

  UnreachedAnchor unreached() const {
    UnreachedAnchor out{anchor_->series, anchor_->line, anchor_->gpus, why_unreached_, {}};
    for (const Measurement* m : rows_) {
      if (m != anchor_) out.unscored.push_back({m->gpus, run_of(*m)});
    }
    return out;
  }

 private:
  void use_anchor() {
    anchor_ = rows_.front();
    spreads_ = spreads_of({.kernels = true}, simulator_.scenario());
    if (anchor_->metric == Metric::rate) {
      unit_ = anchor_->value / in_metric(simulator_, *anchor_, step(anchor_->gpus).step_s);
      return;
    }
    try {
      Anchored anchored = fit_anchor(simulator_, device_, {anchor_->gpus, step_of(simulator_, *anchor_)});
      device_ = anchored.device;
      if (anchored.step) steps_.emplace(anchor_->gpus, *std::move(anchored.step));
      spreads_ = spreads_of(parts_of(anchored), simulator_.scenario());
    } catch (const InputError& error) {
      why_unreached_ = error.first_message();
    }
  }

  ValidatedRow run_of(const Measurement& m) const {
    return {m.model,    m.cluster,   simulator_.scenario().cluster.node.gpu.name,
            m.strategy, m.precision, m.batch_per_gpu,
            m.nodes,    m.metric};
  }

  const SimulatedStep& step(int gpus) {
    if (const auto known = steps_.find(gpus); known != steps_.end()) return known->second;
    return steps_.emplace(gpus, simulator_.simulate(gpus, device_, Reading::accounts)).first->second;
  }

  Spreads spreads_at(int gpus) const {
    return with_calibration(spreads_, simulator_.scenario().cluster.calibration, gpus,
                            simulator_.placement(gpus).nodes);
  }

  /// Of the prediction itself, whatever the anchor made up for.
  const StepResponse& own_response(int gpus) {
    if (const auto known = responses_.find(gpus); known != responses_.end()) return known->second;
    return responses_
        .emplace(gpus,
                 simulated_response(simulator_, device_, step(gpus), gpus, spreads_at(gpus), reference()))
        .first->second;
  }

  Reference reference() { return reference_at(simulator_, reference_gpus_, step(reference_gpus_).step_s); }

  StepResponse response(int gpus) {
    return anchor_ == nullptr ? own_response(gpus)
                              : relative_to(own_response(reference_gpus_), own_response(gpus));
  }

  const Interval& interval(int gpus) {
    if (const auto known = intervals_.find(gpus); known != intervals_.end()) return known->second;
    return intervals_
        .emplace(gpus, step_interval(step(gpus).step_s, step_factors(response(gpus), draws_, gpus)))
        .first->second;
  }

  ValidatedPoint point(const Measurement& m) {
    ValidatedPoint p;
    p.gpus = m.gpus;
    p.measured = m.value;
    p.predicted = unit_ * in_metric(simulator_, m, step(m.gpus).step_s);
    p.error = std::abs(p.predicted / p.measured - 1);
    if (options_.intervals) {
      p.low = unit_ * in_metric(simulator_, m, interval(m.gpus).low_s);
      p.high = unit_ * in_metric(simulator_, m, interval(m.gpus).high_s);
      if (p.low > p.high) std::swap(p.low, p.high);
    }
    if (options_.evidence) p.evidence = evidence(m);
    if (anchor_ != nullptr) p.linear = linear_scaling(*anchor_, m);
    p.row = run_of(m);
    return p;
  }

  RowEvidence evidence(const Measurement& m) {
    const Reference from = reference();
    const Scenario& scenario = simulator_.scenario();
    RowEvidence e;
    e.line = m.line;
    if (options_.intervals) e.response = response(m.gpus);
    e.predicted_loss = predicted_loss(simulator_, m.gpus, step(m.gpus).step_s, from);
    e.more_nodes = std::max(1, simulator_.placement(m.gpus).nodes / from.nodes);
    e.beyond = m.gpus > from.gpus;
    e.framework = scenario.workload.framework.kind;
    e.execution = scenario.workload.framework.execution;
    e.architecture = scenario.cluster.node.gpu.architecture;
    e.reference_gpus = reference_gpus_;
    e.network = network_kind(scenario);
    return e;
  }

  const TrainingRows& rows_;
  const Draws& draws_;
  const ValidationOptions& options_;
  StepSimulator simulator_;
  DeviceModel device_;
  Spreads spreads_;
  int reference_gpus_;
  const Measurement* anchor_ = nullptr;
  double unit_ = 1;  ///< of the file's rates, by the anchor's row
  std::string why_unreached_;
  std::map<int, SimulatedStep> steps_;
  std::map<int, StepResponse> responses_;
  std::map<int, Interval> intervals_;
};

/// Whether a mistake stands in a setting of the command line, which is no fault of the row.
bool blames_settings(const InputError& error, const std::vector<std::string>& settings) {
  return std::any_of(error.diagnostics().begin(), error.diagnostics().end(), [&](const Diagnostic& d) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const std::string& setting) { return d.file.ends_with(setting); });
  });
}

/// Shows a wrong setting of a rule where it stands: no fault of the row either.
void blame_rules(const InputError& error, const Measurement& row, const Provenance& provenance) {
  Diagnostics mistakes(provenance.source);
  for (const ProvenanceRule& rule : provenance.rules) {
    for (const ToldSetting& setting : rule.settings) {
      const std::string text = setting.key + "=" + setting.value;
      for (const Diagnostic& d : error.diagnostics()) {
        if (d.file.ends_with(text) &&
            std::ranges::count(row.settings, std::pair(setting.key, setting.value)) > 0)
          mistakes.report(setting.place, fmt::format("{} (line {} of the measurements)", d.message, row.line),
                          d.hint);
      }
    }
  }
  mistakes.throw_if_any();
}

void skip(const TrainingRows& rows, const std::string& why, const ValidationOptions& options,
          Validation& validation) {
  for (const Measurement* m : rows) {
    if (is_wanted(*m, options.gpus)) validation.skipped.push_back({m->line, why});
  }
}

/// Adds a group's points to the series of its name.
void add_validated_points(const std::string& series, std::vector<ValidatedPoint> points,
                          Validation& validation) {
  auto found = std::find_if(validation.series.begin(), validation.series.end(),
                            [&](const ValidatedSeries& s) { return s.series == series; });
  if (found == validation.series.end())
    found = validation.series.insert(found, ValidatedSeries{series, 0, 0, {}});
  found->points.insert(found->points.end(), points.begin(), points.end());
}

/// What the numbers of a row say comes before the rules, so that these know its strategy, and the plain loop
/// behind them, since they do not know it any more.
std::vector<Measurement> rows_as_run(std::vector<Measurement> rows, const ValidationOptions& options,
                                     std::vector<InferredSetting>& inferred) {
  const auto add = [&](std::vector<InferredSetting> more) {
    inferred.insert(inferred.end(), more.begin(), more.end());
  };
  std::erase_if(rows, [&](const Measurement& m) { return !options.anchor && !is_wanted(m, options.gpus); });
  add(name_several_workers(rows));
  add(apply_provenance(options.provenance, rows));
  if (!options.anchor) add(name_plain_loops(rows));
  return rows;
}

void validate_group(const TrainingRows& rows, const ValidationOptions& options, OpenedCatalogs& opened,
                    const Draws& draws, Validation& validation) {
  if (!options.anchor && rows.front()->metric == Metric::rate)
    return skip(rows, "a rate in unknown units needs an anchor", options, validation);
  try {
    Scenario scenario = make_scenario(overrides_for(rows, options.settings), opened);
    if (options.change) scenario.cluster = options.change(std::move(scenario.cluster));
    GroupValidator group(rows, scenario, draws, options);
    if (group.why_unreached().empty())
      add_validated_points(rows.front()->series, group.points(), validation);
    else
      validation.unreached.push_back(group.unreached());
  } catch (const InputError& error) {
    if (blames_settings(error, options.settings)) throw;
    blame_rules(error, *rows.front(), options.provenance);
    skip(rows, error.first_message(), options, validation);
  }
}

void summarize(Validation& validation) {
  std::vector<double> all, linear;
  int contained = 0;
  for (ValidatedSeries& series : validation.series) {
    std::vector<double> own;
    for (const ValidatedPoint& p : series.points) {
      own.push_back(p.predicted / p.measured - 1);
      contained += p.low <= p.measured && p.measured <= p.high ? 1 : 0;
      if (p.linear > 0) linear.push_back(p.linear / p.measured - 1);
      series.worst = std::max(series.worst, p.error);
    }
    all.insert(all.end(), own.begin(), own.end());
    series.median = statistics_of(own).median;
  }
  validation.scored = static_cast<int>(all.size());
  if (!all.empty()) validation.coverage = contained / static_cast<double>(all.size());
  validation.error = statistics_of(all);
  validation.linear = statistics_of(linear);
  std::stable_sort(validation.skipped.begin(), validation.skipped.end(),
                   [](const SkippedRow& a, const SkippedRow& b) { return a.row < b.row; });
  std::ranges::stable_sort(validation.unreached, {}, &UnreachedAnchor::row);
}

}  // namespace

Validation validate(const MeasurementFile& file, const ValidationOptions& options, const Progress& progress) {
  Validation validation;
  validation.anchored = options.anchor;
  validation.provenance = options.provenance.source.name;
  const std::vector<Measurement> measured = rows_as_run(file.scaling, options, validation.inferred_settings);
  validation.rows = static_cast<int>(std::count_if(
      measured.begin(), measured.end(), [&](const Measurement& m) { return is_wanted(m, options.gpus); }));
  const std::vector<TrainingRows> groups = keep_wanted(group(measured), options);
  OpenedCatalogs opened;
  const Draws draws;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(groups.size()));
    validate_group(groups[i], options, opened, draws, validation);
  }
  summarize(validation);
  return validation;
}

}  // namespace foretrain
