// Rows of one job (cluster, GPUs, nodes, settings) share a communicator, whatever their series and operation,
// because building one is the expensive part.
#include "sim/analysis/validation/collective_validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/collective/nccl/job.hpp"
#include "sim/scenario/named_cluster.hpp"
#include "sim/scenario/sections/collective_sections.hpp"

namespace foretrain {

namespace {

using CollectiveRows = std::vector<const CollectiveMeasurement*>;

/// Returns the settings as "key=value".
std::vector<std::string> texts_of(const Settings& settings) {
  std::vector<std::string> texts;
  for (const auto& [key, value] : settings) texts.push_back(key + "=" + value);
  return texts;
}

/// Returns the rows by job, in the order of their first rows.
std::vector<CollectiveRows> group_by_job(const std::vector<CollectiveMeasurement>& measurements) {
  std::map<std::tuple<std::string, int, int, Settings>, std::size_t> index;
  std::vector<CollectiveRows> groups;
  for (const CollectiveMeasurement& m : measurements) {
    const auto [it, is_new] = index.try_emplace({m.cluster, m.gpus, m.nodes, m.settings}, groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(&m);
  }
  return groups;
}

/// Returns the first mistake in one line, for the list of skipped rows.
std::string reason_of(const InputError& error) {
  if (error.diagnostics().empty()) return error.what();
  const Diagnostic& first = error.diagnostics().front();
  return first.hint.empty() ? first.message : fmt::format("{} ({})", first.message, first.hint);
}

/// Clusters by name and calibration, each read once; the mistake of one that cannot be read is kept as well.
class Clusters {
 public:
  const ClusterSpec& open(const std::string& name, const std::optional<std::string>& calibration) {
    const auto [it, is_new] = known_.try_emplace({name, calibration});
    Entry& entry = it->second;
    if (is_new) {
      try {
        entry.spec = open_cluster(name, calibration);
      } catch (const InputError& error) {
        entry.fault = reason_of(error);
      }
    }
    if (!entry.fault.empty()) throw InputError(entry.fault);
    return entry.spec;
  }

 private:
  struct Entry {
    ClusterSpec spec;
    std::string fault;
  };
  std::map<std::pair<std::string, std::optional<std::string>>, Entry> known_;
};

/// Returns the operation of a row. Requires a name that the reader of measured rows accepted.
CollectiveOp op_of(const std::string& name) {
  return *std::ranges::find_if(kCollectiveOps, [&](CollectiveOp op) { return name_of(op) == name; });
}

/// Returns the time that NCCL's own tuner expects, in microseconds, as a baseline for the model's error;
/// nothing where NCCL has no algorithm.
std::optional<float> nccl_forecast(const Communicator& communicator, const CollectivePlan& plan) {
  if (communicator.size() < 2 || !plan.algorithm) return std::nullopt;
  return nccl::predicted_us(communicator.job().table, plan.op, plan.size.count, *plan.algorithm,
                            plan.protocol);
}

/// Scores the rows of all jobs. The constructor checks the settings once, so that a wrong one is thrown and
/// not counted as a fault of every row.
class CollectiveValidator {
 public:
  CollectiveValidator(const std::vector<std::string>& settings, const CollectiveTrial& trial)
      : settings_(settings), trial_(trial) {
    read_collective_knobs(settings);
  }

  /// Builds the communicator of a job and scores its rows; a mistake skips all of them.
  void score(const CollectiveRows& rows) {
    try {
      // Rows of the job agree in all that determines the communicator.
      const CollectiveMeasurement& m = *rows.front();
      std::vector<std::string> settings = texts_of(m.settings);
      settings.insert(settings.end(), settings_.begin(), settings_.end());
      const CollectiveKnobs knobs = read_collective_knobs(settings);
      ClusterSpec spec = clusters_.open(m.cluster, knobs.calibration);
      if (knobs.gpudirect) spec.node.gpudirect = *knobs.gpudirect;
      if (trial_.change) spec = trial_.change(std::move(spec));
      const Placement placement = place_job(spec, m.gpus, m.nodes);
      const Cluster cluster = Cluster::build(spec, placement.nodes);
      CollectiveSettings job = knobs.settings();
      if (!knobs.processes_per_node) job.processes_per_node = usual_processes_per_node(placement.nodes);
      const Communicator communicator(cluster, placement, job,
                                      trial_.searched != nullptr ? *trial_.searched : searched_);
      for (const CollectiveMeasurement* row : rows) score(*row, communicator);
    } catch (const InputError& error) {
      for (const CollectiveMeasurement* row : rows) result_.skipped.push_back({row->line, reason_of(error)});
    }
  }

  /// Completes the statistics and returns the validation.
  CollectiveValidation result() {
    for (ValidatedCollectiveSeries& series : result_.series) summarize(series);
    std::ranges::stable_sort(result_.series, std::ranges::greater{}, &ValidatedCollectiveSeries::median);
    std::ranges::stable_sort(result_.skipped, {}, &SkippedRow::row);
    result_.scored = static_cast<int>(all_.size());
    result_.large_rows = static_cast<int>(large_.size());
    result_.nccl_rows = static_cast<int>(nccl_.size());
    add_coverage();
    result_.error = statistics_of(std::move(all_));
    result_.large = statistics_of(std::move(large_));
    result_.nccl_model = statistics_of(std::move(nccl_));
    return std::move(result_);
  }

 private:
  /// Computes the share of rows inside their intervals, and the median width.
  void add_coverage() {
    std::vector<double> widths;
    int held = 0;
    for (const ValidatedCollectiveSeries& series : result_.series) {
      for (const ValidatedCollective& p : series.points) {
        widths.push_back((p.high - p.low) / p.predicted);
        held += p.low <= p.measured && p.measured <= p.high ? 1 : 0;
      }
    }
    if (!widths.empty()) result_.coverage = held / static_cast<double>(widths.size());
    result_.width = statistics_of(std::move(widths)).median;
  }

  /// Scores one row.
  void score(const CollectiveMeasurement& row, const Communicator& communicator) {
    if (row.bytes == 0) return result_.skipped.push_back({row.line, "0 bytes: nothing is sent"});
    const CollectivePlan plan = communicator.plan(op_of(row.op), {row.bytes}, false);
    ValidatedCollective p;
    p.bytes = row.bytes;
    p.measured = row.time_us;
    // nccl-tests runs calls one after the other without waiting, and divides by their number.
    p.predicted = to_seconds(plan.back_to_back()) * 1e6;
    p.error = std::abs(p.predicted / p.measured - 1);
    p.kind = evidence_of(communicator, plan), p.line = row.line;
    p.spread_case = collective_case(communicator, plan), p.source = row.source;
    const Reach reach = reach_of(communicator, plan);
    p.low = p.predicted * std::exp(-reach.below), p.high = p.predicted * std::exp(reach.above);
    p.nccl_model = nccl_forecast(communicator, plan).value_or(0);
    p.algorithm = plan.algorithm_name(), p.protocol = plan.protocol, p.channels = plan.channels;
    series_of(row).points.push_back(p);
    all_.push_back(p.predicted / p.measured - 1);
    if (row.bytes >= kLargeMessage) large_.push_back(all_.back());
    if (p.nccl_model > 0) nccl_.push_back(p.nccl_model / p.measured - 1);
  }

  ValidatedCollectiveSeries& series_of(const CollectiveMeasurement& row) {
    const auto [it, is_new] = index_.try_emplace(row.series, result_.series.size());
    if (is_new)
      result_.series.push_back({row.series, row.cluster, row.op, row.gpus, row.nodes, 0, 0, 0, 0, 0, {}});
    return result_.series[it->second];
  }

  /// Computes the statistics of one series.
  static void summarize(ValidatedCollectiveSeries& series) {
    std::vector<double> errors, large;
    for (const ValidatedCollective& p : series.points) {
      errors.push_back(p.predicted / p.measured - 1);
      if (p.bytes >= kLargeMessage) large.push_back(errors.back());
      series.worst = std::max(series.worst, p.error);
    }
    const ErrorStatistics s = statistics_of(std::move(errors));
    series.median = s.median, series.p90 = s.p90, series.bias = s.bias;
    series.large_median = statistics_of(std::move(large)).median;
    std::ranges::stable_sort(series.points, {}, &ValidatedCollective::bytes);
  }

  const std::vector<std::string>& settings_;
  const CollectiveTrial& trial_;
  nccl::NodeGraphCache searched_;
  Clusters clusters_;
  CollectiveValidation result_;
  std::map<std::string, std::size_t> index_;
  std::vector<double> all_, large_, nccl_;
};

}  // namespace

CollectiveValidation validate_collectives(const std::vector<CollectiveMeasurement>& rows,
                                          const std::vector<std::string>& settings, const Progress& progress,
                                          const CollectiveTrial& trial) {
  CollectiveValidator validator(settings, trial);
  const std::vector<CollectiveRows> groups = group_by_job(rows);
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(groups.size()));
    validator.score(groups[i]);
  }
  CollectiveValidation result = validator.result();
  result.rows = static_cast<int>(rows.size());
  return result;
}

}  // namespace foretrain
