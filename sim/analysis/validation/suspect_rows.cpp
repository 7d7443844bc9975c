// Rules that find suspect rows. A rule compares a measurement with other measurements of the file first, and
// with the prediction only where there are none. The limits are wide: the difference between repeats of one
// job, and the model's errors on sound machines (docs/accuracy_collectives.md), stay below them.
#include "sim/analysis/validation/suspect_rows.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/median.hpp"
#include "sim/base/quantity.hpp"

namespace foretrain {

namespace {

/// Time over that of the next larger size.
constexpr double kFalls = 1.4;
/// Smallest such difference in microseconds.
constexpr double kFallsUs = 20;
/// Ratio of two runs of one operation.
constexpr double kRunsDiffer = 1.7;
/// Measured over predicted time of large messages.
constexpr double kSlowLinks = 2;
/// The same ratio for a machine that is better than its description.
constexpr double kFastLinks = 0.75;
/// The same ratio for small messages.
constexpr double kSlowMessages = 3;
/// Smallest such difference in microseconds.
constexpr double kSlowMessageUs = 50;
/// Sizes from which bandwidth, and up to which latency, decides the time.
constexpr std::int64_t kBandwidthDecides = 16 << 20, kLatencyDecides = 64 << 10;
/// Fewest points of a median.
constexpr std::size_t kFewestPoints = 3;

/// Throughput over that on fewer GPUs, below which a run loses.
constexpr double kLosesThroughput = 0.7;
/// Smallest predicted value of that ratio for such a verdict.
constexpr double kGains = 0.95;
/// Speedup over perfect scaling.
constexpr double kBeyondPerfect = 1.1;
/// Predicted over measured throughput.
constexpr double kSlowRun = 1.8;
/// Largest median error of the other series on the cluster for such a verdict.
constexpr double kAlikeError = 0.25;
/// Fewest other series for such a verdict.
constexpr std::size_t kFewestAlike = 2;

/// Returns the median of measured over predicted time for sizes from `least` to `most`; nothing for fewer
/// than three.
std::optional<double> slowness(const ValidatedCollectiveSeries& series, std::int64_t least,
                               std::int64_t most) {
  std::vector<double> ratios;
  for (const ValidatedCollective& p : series.points)
    if (p.bytes >= least && p.bytes <= most) ratios.push_back(p.measured / p.predicted);
  if (ratios.size() < kFewestPoints) return std::nullopt;
  return median(std::move(ratios));
}

std::optional<double> slowness_of_large(const ValidatedCollectiveSeries& series) {
  return slowness(series, kBandwidthDecides, std::numeric_limits<std::int64_t>::max());
}

std::string size_text(std::int64_t bytes) { return to_string(Bytes{bytes}); }

/// Returns the sentence on the worst pair of sizes of which the larger one took much less time; empty if
/// there is none.
std::string falling_time(const ValidatedCollectiveSeries& series) {
  std::string worst;
  double most = kFalls;
  for (std::size_t i = 0; i + 1 < series.points.size(); ++i) {
    const ValidatedCollective &small = series.points[i], &large = series.points[i + 1];
    const double times = small.measured / large.measured;
    // The model may expect the fall, for example because of another protocol or a copy.
    const bool expected = small.predicted / large.predicted * kFalls > times;
    const bool little = small.measured - large.measured < kFallsUs;
    if (small.bytes == large.bytes || times < most || expected || little) continue;
    most = times;
    worst = fmt::format(
        "{} took {:.1f} times as long as {}: other work disturbed this run, or it measured a start-up",
        size_text(small.bytes), times, size_text(large.bytes));
  }
  return worst;
}

/// Returns the median ratio of the times of two series at the sizes that both have.
std::optional<double> against(const ValidatedCollectiveSeries& series,
                              const ValidatedCollectiveSeries& other) {
  std::vector<double> ratios;
  for (const ValidatedCollective& p : series.points) {
    const auto same = std::ranges::find(other.points, p.bytes, &ValidatedCollective::bytes);
    if (same != other.points.end()) ratios.push_back(p.measured / same->measured);
  }
  if (ratios.size() < kFewestPoints) return std::nullopt;
  return median(std::move(ratios));
}

/// Returns, for each cluster and for jobs on one node and on several, how slow large messages are.
std::map<std::pair<std::string, bool>, double> slowness_by_reach(const CollectiveValidation& validation) {
  std::map<std::pair<std::string, bool>, std::vector<double>> all;
  for (const ValidatedCollectiveSeries& series : validation.series)
    if (const auto slow = slowness_of_large(series)) all[{series.cluster, series.nodes > 1}].push_back(*slow);
  std::map<std::pair<std::string, bool>, double> out;
  for (auto& [reach, ratios] : all) out[reach] = median(std::move(ratios));
  return out;
}

/// Applies all rules to the series of a validation.
class SuspectCollectives {
 public:
  explicit SuspectCollectives(const CollectiveValidation& validation)
      : validation_(validation), by_reach_(slowness_by_reach(validation)) {}

  std::vector<SuspectSeries> find() {
    for (const ValidatedCollectiveSeries& series : validation_.series) {
      add(series, falling_time(series));
      add(series, differing_run(series));
      add(series, large_messages(series));
      add(series, small_messages(series));
    }
    return std::move(found_);
  }

 private:
  void add(const ValidatedCollectiveSeries& series, std::string why) {
    if (!why.empty()) found_.push_back({series.series, std::move(why)});
  }

  /// Compares with the fastest other run of the same operation and job.
  std::string differing_run(const ValidatedCollectiveSeries& series) const {
    const ValidatedCollectiveSeries* fastest = nullptr;
    double most = kRunsDiffer;
    for (const ValidatedCollectiveSeries& other : validation_.series) {
      const bool same = other.cluster == series.cluster && other.op == series.op &&
                        other.gpus == series.gpus && other.nodes == series.nodes && &other != &series;
      const auto times = same ? against(series, other) : std::nullopt;
      if (times && *times > most) fastest = &other, most = *times;
    }
    if (fastest == nullptr) return "";
    return fmt::format("{:.1f} times as long as {} of the same machine: versions, settings or load differ",
                       most, fastest->series);
  }

  /// Compares large messages with the described links. The finding on single nodes decides whether the
  /// network or the host is the likely reason.
  std::string large_messages(const ValidatedCollectiveSeries& series) const {
    const auto slow = slowness_of_large(series);
    if (!slow) return "";
    if (*slow < kFastLinks)
      return fmt::format(
          "large messages move {:.1f} times what the described links carry: the machine has other links, or "
          "sizes are in another unit",
          1 / *slow);
    if (*slow < kSlowLinks) return "";
    const auto inside = by_reach_.find({series.cluster, false});
    const bool knows_inside = inside != by_reach_.end();
    if (series.nodes > 1 && knows_inside && inside->second < kSlowLinks)
      return fmt::format(
          "between nodes large messages take {:.1f} times what the adapters need, within a node {:.1f} "
          "times: "
          "look at GPUDirect, at the adapter that was used, and at who shares it",
          *slow, inside->second);
    return fmt::format(
        "large messages take {:.1f} times what the described links need{}: look at the host (IOMMU, a "
        "virtual "
        "machine, few cores, remote memory) and at peer access",
        *slow, knows_inside && series.nodes > 1 ? ", as within a node" : "");
  }

  /// Compares small messages with the predicted latency, by ratio and by difference.
  std::string small_messages(const ValidatedCollectiveSeries& series) const {
    const auto slow = slowness(series, 0, kLatencyDecides);
    if (!slow || *slow < kSlowMessages) return "";
    const ValidatedCollective& p = series.points.front();
    if (p.measured - p.predicted < kSlowMessageUs) return "";
    return fmt::format(
        "{} take {:.0f} us, where such machines need about {:.0f}: look at GPUDirect, flushes, idle states "
        "of "
        "CPUs and the cores of the job",
        size_text(p.bytes), p.measured, p.predicted);
  }

  const CollectiveValidation& validation_;
  /// Slowness by cluster and by whether jobs have several nodes.
  std::map<std::pair<std::string, bool>, double> by_reach_;
  std::vector<SuspectSeries> found_;
};

bool measures_time(const ValidatedPoint& p) {
  return p.row.metric == Measurement::Metric::step_s || p.row.metric == Measurement::Metric::epoch_s;
}

/// Returns the throughput over that of perfect scaling.
double scaling_efficiency(const ValidatedPoint& p, double value) {
  return measures_time(p) ? p.linear / value : value / p.linear;
}

/// Returns predicted over measured throughput.
double slowness(const ValidatedPoint& p) {
  return measures_time(p) ? p.measured / p.predicted : p.predicted / p.measured;
}

/// Compares each number of GPUs with the next, where perfect scaling is known.
std::string lost_throughput(const ValidatedSeries& series) {
  for (std::size_t i = 0; i + 1 < series.points.size(); ++i) {
    const ValidatedPoint &few = series.points[i], &many = series.points[i + 1];
    if (few.linear <= 0 || many.linear <= 0 || many.gpus <= few.gpus) continue;
    const double more = static_cast<double>(many.gpus) / few.gpus;
    const double measured =
        more * scaling_efficiency(many, many.measured) / scaling_efficiency(few, few.measured);
    const double predicted =
        more * scaling_efficiency(many, many.predicted) / scaling_efficiency(few, few.predicted);
    if (measured < kLosesThroughput && predicted > kGains)
      return fmt::format(
          "loses {:.0f} % of its throughput from {} to {} GPUs, where the described machine gains: this run "
          "is "
          "broken or shares its network",
          100 * (1 - measured), few.gpus, many.gpus);
  }
  return "";
}

/// Returns the sentence on a point above perfect scaling.
std::string beyond_perfect(const ValidatedSeries& series) {
  for (const ValidatedPoint& p : series.points) {
    if (p.linear <= 0 || scaling_efficiency(p, p.measured) < kBeyondPerfect) continue;
    return fmt::format(
        "{} are {:.2f} times as fast as perfect scaling allows: the run on fewest GPUs was slow, or they are "
        "not "
        "alike",
        counted(p.gpus, "GPU"), scaling_efficiency(p, p.measured));
  }
  return "";
}

/// Returns the point that is slowest against its prediction, if it lies outside its interval and beyond
/// kSlowRun; nullptr if there is none.
const ValidatedPoint* slowest_point(const ValidatedSeries& series) {
  const ValidatedPoint* slowest = nullptr;
  double most = kSlowRun;
  for (const ValidatedPoint& p : series.points) {
    const bool outside = measures_time(p) ? p.measured > p.high : p.measured < p.low;
    if (outside && slowness(p) > most) slowest = &p, most = slowness(p);
  }
  return slowest;
}

double median_error(const ValidatedSeries& series) {
  std::vector<double> errors;
  for (const ValidatedPoint& p : series.points) errors.push_back(p.error);
  return median(std::move(errors));
}

/// Compares a slow run with the other series of its cluster: if they are as predicted, the run itself is odd.
std::string slow_run(const ValidatedSeries& series, const Validation& validation) {
  const ValidatedPoint* p = slowest_point(series);
  if (p == nullptr) return "";
  std::vector<double> others;
  for (const ValidatedSeries& other : validation.series) {
    if (&other != &series && !other.points.empty() && other.points.front().row.cluster == p->row.cluster)
      others.push_back(median_error(other));
  }
  const std::string found =
      fmt::format("{} are {:.1f} times slower than predicted", counted(p->gpus, "GPU"), slowness(*p));
  if (others.size() >= kFewestAlike && median(others) <= kAlikeError)
    return fmt::format(
        "{}, and {} other series on this cluster are not: look at what this run has of its own", found,
        others.size());
  const char* const where = p->row.nodes > 1 ? "the network" : "the links";
  return fmt::format("{}: measure {} with nccl-tests, and validate that first", found, where);
}

}  // namespace

std::vector<SuspectSeries> suspect_series(const CollectiveValidation& validation) {
  return SuspectCollectives(validation).find();
}

std::vector<SuspectSeries> suspect_series(const Validation& validation) {
  std::vector<SuspectSeries> found;
  for (const ValidatedSeries& series : validation.series) {
    for (std::string why : {lost_throughput(series), beyond_perfect(series), slow_run(series, validation)})
      if (!why.empty()) found.push_back({series.series, std::move(why)});
  }
  return found;
}

}  // namespace foretrain
