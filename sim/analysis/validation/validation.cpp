// A series is one model on one cluster with one strategy, precision and batch; its rows differ in the number
// of GPUs. Each series becomes a scenario, and its smallest row the anchor.
//
// The steps are: infer settings of the rows, group them, predict every group, join the outcomes by series,
// and compute statistics. Groups that ask the same question, such as copies of a series, share one simulator.
// Groups are ordered by question, so only one simulator is in memory at a time. A mistake in a row skips its
// group; a mistake in the user's settings or rules is thrown.
#include "sim/analysis/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "sim/analysis/validation/group_validator.hpp"
#include "sim/scenario/opened_catalogs.hpp"

namespace foretrain {

ScenarioOverrides overrides_for(const TrainingRows& rows, const std::vector<std::string>& settings) {
  const Measurement& m = *rows.front();
  ScenarioOverrides overrides;
  overrides.model = m.model;
  overrides.cluster = m.cluster;
  overrides.strategy = m.strategy;
  overrides.batch = m.batch_per_gpu;
  for (const Measurement* row : rows) overrides.gpus.push_back(row->gpus);
  // Rows are in ascending order, so equal numbers are adjacent; a repeated row adds no simulation.
  overrides.gpus.erase(std::unique(overrides.gpus.begin(), overrides.gpus.end()), overrides.gpus.end());
  overrides.settings.push_back(fmt::format("model.precision=\"{}\"", m.precision));
  for (const auto& [key, value] : m.settings) overrides.settings.push_back(key + "=" + value);
  overrides.settings.insert(overrides.settings.end(), settings.begin(), settings.end());
  return overrides;
}

namespace {

using Metric = Measurement::Metric;

/// The columns that rows of one group share. A series of the file may hold several such groups.
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

/// Returns the groups in the order of their first rows, each in ascending order of GPUs.
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

bool is_wanted(const Measurement& m, const std::vector<int>& gpus) {
  return gpus.empty() || std::find(gpus.begin(), gpus.end(), m.gpus) != gpus.end();
}

/// Keeps the rows that are scored, and with an anchor the smallest row of each group that has such rows.
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

/// Returns true if the mistake is in a setting of the command line, which is no fault of the row.
bool blames_settings(const InputError& error, const std::vector<std::string>& settings) {
  return std::any_of(error.diagnostics().begin(), error.diagnostics().end(), [&](const Diagnostic& d) {
    return std::any_of(settings.begin(), settings.end(),
                       [&](const std::string& setting) { return d.file.ends_with(setting); });
  });
}

/// Throws the mistake at its place in the rules if a rule's setting caused it, which is no fault of the row
/// either.
void blame_rules(const InputError& error, const Measurement& row, const Provenance& provenance) {
  Diagnostics mistakes(provenance.source);
  for (const ProvenanceRule& rule : provenance.rules) {
    for (const RuleSetting& setting : rule.settings) {
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

/// Adds all scored rows of a group to the skipped ones.
void skip(const TrainingRows& rows, const std::string& why, const ValidationOptions& options,
          Validation& validation) {
  for (const Measurement* m : rows) {
    if (is_wanted(*m, options.gpus)) validation.skipped.push_back({m->line, why});
  }
}

/// Returns the rows with all inferred settings. Names that numbers imply come before the rules, so that rules
/// see the right strategy. Plain loops come after them, because rules would no longer recognize the strategy.
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

/// The facts that determine the predictions of a group.
struct GroupCase {
  /// The group without its series.
  GroupKey job;
  /// GPUs and nodes of each row.
  std::vector<std::pair<int, int>> numbers;
  /// Measured value of the anchor; 0 without one.
  double anchor = 0;
  auto operator<=>(const GroupCase&) const = default;
};

GroupCase case_of(const TrainingRows& rows, const ValidationOptions& options) {
  GroupCase out{group_key_of(*rows.front()), {}, options.anchor ? rows.front()->value : 0};
  out.job.series.clear();
  for (const Measurement* m : rows) out.numbers.emplace_back(m->gpus, m->nodes);
  return out;
}

/// The outcome of one group: points, a failure to reach the anchor, or a mistake.
struct GroupOutcome {
  std::vector<ValidatedPoint> points;
  std::optional<UnreachedAnchor> unreached;
  std::optional<InputError> error;
};

/// Predicts groups of one question with one simulator. It is not copied, because the group refers to the
/// scenario.
class CaseValidator {
 public:
  CaseValidator(const TrainingRows& rows, const ValidationOptions& options, OpenedCatalogs& opened) {
    try {
      scenario_ = make_scenario(overrides_for(rows, options.settings), opened);
      if (options.change) scenario_.cluster = options.change(std::move(scenario_.cluster));
      group_.emplace(rows, scenario_, options);
    } catch (const InputError& error) {
      error_ = error;
    }
  }
  CaseValidator(const CaseValidator&) = delete;
  CaseValidator& operator=(const CaseValidator&) = delete;

  /// Returns the outcome for one group; a mistake ends the whole question.
  GroupOutcome outcome(const TrainingRows& rows) {
    if (error_) return {{}, {}, error_};
    if (!group_->why_unreached().empty()) return {{}, group_->unreached(rows), {}};
    try {
      return {group_->points(rows), {}, {}};
    } catch (const InputError& error) {
      error_ = error;
    }
    return {{}, {}, error_};
  }

 private:
  Scenario scenario_;
  std::optional<GroupValidator> group_;
  std::optional<InputError> error_;
};

/// Returns the outcomes in the order of the groups. Groups of one question are predicted one after the other,
/// so that only one simulator is in memory, however many questions a file has.
std::vector<GroupOutcome> outcomes_of(const std::vector<TrainingRows>& groups,
                                      const ValidationOptions& options, const Progress& progress) {
  std::map<GroupCase, std::vector<std::size_t>> cases;
  for (std::size_t i = 0; i < groups.size(); ++i) cases[case_of(groups[i], options)].push_back(i);
  std::vector<GroupOutcome> outcomes(groups.size());
  OpenedCatalogs opened;
  std::size_t done = 0;
  for (const auto& [job, places] : cases) {
    if (progress) progress(static_cast<double>(done) / static_cast<double>(groups.size()));
    done += places.size();
    if (!options.anchor && job.job.metric == Metric::rate) continue;
    CaseValidator predicted(groups[places.front()], options, opened);
    for (const std::size_t place : places) outcomes[place] = predicted.outcome(groups[place]);
  }
  return outcomes;
}

/// Joins outcomes in the order of the groups; points of one series come under its name.
class JoinedOutcomes {
 public:
  JoinedOutcomes(const ValidationOptions& options, Validation& validation)
      : options_(options), validation_(validation) {}

  void add(const TrainingRows& rows, GroupOutcome outcome) {
    if (!options_.anchor && rows.front()->metric == Metric::rate)
      return skip(rows, "a rate in unknown units needs an anchor", options_, validation_);
    if (outcome.error) return add_error(rows, *outcome.error);
    if (outcome.unreached) return validation_.unreached.push_back(*std::move(outcome.unreached));
    std::vector<ValidatedPoint>& points = series_of(rows.front()->series).points;
    points.insert(points.end(), outcome.points.begin(), outcome.points.end());
  }

 private:
  /// Throws mistakes of settings and rules, and skips the rows for all others.
  void add_error(const TrainingRows& rows, const InputError& error) {
    if (blames_settings(error, options_.settings)) throw InputError(error);
    blame_rules(error, *rows.front(), options_.provenance);
    skip(rows, error.first_message(), options_, validation_);
  }

  ValidatedSeries& series_of(const std::string& name) {
    const auto [known, is_new] = places_.try_emplace(name, validation_.series.size());
    if (is_new) validation_.series.push_back({name, 0, 0, {}});
    return validation_.series[known->second];
  }

  const ValidationOptions& options_;
  Validation& validation_;
  std::map<std::string, std::size_t> places_;
};

/// Computes the statistics of series and of all rows, and sorts the failures by line.
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
  std::vector<GroupOutcome> outcomes = outcomes_of(groups, options, progress);
  JoinedOutcomes joined(options, validation);
  for (std::size_t i = 0; i < groups.size(); ++i) joined.add(groups[i], std::move(outcomes[i]));
  summarize(validation);
  return validation;
}

}  // namespace foretrain
