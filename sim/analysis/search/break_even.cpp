// The inverse questions. A question is a yes or no about a varied scenario: two simulations, of one GPU and
// of N, answer it. A bisection on a logarithmic scale then finds the value at which the answer changes.
#include "sim/analysis/search/break_even.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/search/crossover_of_job.hpp"
#include "sim/analysis/step/link_waits.hpp"
#include "sim/analysis/step/point_predictor.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/variation.hpp"

namespace foretrain {

namespace {

/// Largest batch, and most steps of an epoch, that are tried.
constexpr std::int64_t kLargestBatch = 65'536, kMostSteps = std::int64_t{1} << 32;
/// Widths are tried in eighths of the network's own, up to 16 times it.
constexpr std::int64_t kPerWidth = 8, kWidest = 128;
/// Link speeds are tried in steps of 1 %, up to 64 times faster or slower. The fastest number of GPUs takes a
/// search for each speed, so its steps are 10 %.
constexpr double kSpeedStep = 1.01, kSearchedSpeedStep = 1.1, kFastestLink = 64;

/// Asks all questions about one scenario and number of GPUs.
class Questions {
 public:
  Questions(const Scenario& scenario, const DeviceModel& device, int gpus)
      : scenario_(scenario), device_(device), gpus_(gpus) {}

  BreakEven answers() {
    BreakEven out;
    out.gpus = gpus_, out.strong_scaling = scenario_.global_batch.has_value();
    out.speedup = speedup(scenario_);
    out.batch = batch(), out.width = width(), out.epoch_samples = epoch();
    ask_link(out);
    return out;
  }

 private:
  /// Calls `ask` with a predictor of the scenario that has the calibrated device model.
  template <class Ask>
  auto on(const Scenario& scenario, int most, Ask ask) const {
    PointPredictor points(scenario, most);
    points.set_device(device_);
    return ask(points);
  }

  double speedup(const Scenario& scenario) const {
    return on(scenario, gpus_, [this](PointPredictor& points) {
      return points.throughput(gpus_).samples_per_s / points.throughput(1).samples_per_s;
    });
  }

  bool beats_one(const Scenario& scenario) const { return speedup(scenario) > 1; }

  /// Returns true if the varied scenario fits into memory.
  bool fits(const Scenario& scenario) const {
    return on(scenario, gpus_, [this](PointPredictor& points) {
      Decisions unused;
      return points.point(gpus_, unused).fits();
    });
  }

  /// Returns true if the varied scenario can be simulated at all; a step longer than a day cannot.
  bool can_run(const Scenario& scenario) const {
    try {
      return speedup(scenario) > 0;
    } catch (const InputError&) {
      return false;
    }
  }

  /// Varies the batch. The upper limit shrinks until the largest batch can be simulated.
  BreakEvenValue batch() const {
    const std::int64_t own = batch_of(scenario_), least = scenario_.global_batch ? std::int64_t{gpus_} : 1;
    std::int64_t most = std::max(own, kLargestBatch);
    // The limit shrinks to an eighth each time; an exact limit is not needed.
    while (most > own && !can_run(with_batch(scenario_, most))) most = std::max(own, most / 8);
    BreakEvenValue out{.now = static_cast<double>(own),
                       .beats_now = beats_one(scenario_),
                       .limit = static_cast<double>(most)};
    const auto at = first_holding(std::min(least, most), most,
                                  [this](std::int64_t n) { return beats_one(with_batch(scenario_, n)); });
    if (at) out.at = static_cast<double>(*at), out.fits = fits(with_batch(scenario_, *at));
    return out;
  }

  /// Varies the network's width. If less width helps, the search goes downwards from the network's own.
  BreakEvenValue width() const {
    const auto scaled = [this](std::int64_t eighths) {
      return with_width(scenario_, static_cast<double>(eighths) / kPerWidth);
    };
    BreakEvenValue out{
        .now = 1, .beats_now = beats_one(scenario_), .limit = static_cast<double>(kWidest) / kPerWidth};
    try {
      std::int64_t most = kWidest;
      while (most > kPerWidth && !can_run(scaled(most))) most /= 2;
      out.limit = static_cast<double>(most) / kPerWidth;
      const auto beats = [&](std::int64_t n) { return beats_one(scaled(n)); };
      auto at = first_holding(1, most, beats);
      // A smaller width beats one GPU while the present one does not: the largest such width is the answer.
      out.is_upper = at && *at < kPerWidth && !out.beats_now;
      if (out.is_upper)
        at = kPerWidth -
             *first_holding(1, kPerWidth - *at, [&](std::int64_t less) { return beats(kPerWidth - less); });
      if (at) out.at = static_cast<double>(*at) / kPerWidth, out.fits = fits(scaled(*at));
    } catch (const InputError& error) {
      out = {.now = 1,
             .why_not = error.diagnostics().empty() ? error.what() : error.diagnostics().front().message};
    }
    return out;
  }

  Scenario with_samples(std::int64_t samples) const {
    Scenario out = scenario_;
    out.workload.data.samples = samples;
    return out;
  }

  /// Returns true if the run with this data set ends sooner on N GPUs than on one.
  bool ends_sooner(std::int64_t samples) const {
    return on(with_samples(samples), gpus_, [this](PointPredictor& points) {
      Decisions unused;
      return points.point(gpus_, unused).total_s < points.point(1, unused).total_s;
    });
  }

  /// Varies the data set in whole steps, so that no partial step blurs the answer.
  BreakEvenValue epoch() const {
    const std::int64_t own = scenario_.workload.data.samples;
    // The epoch is varied in steps of the N GPUs, so every trial has whole steps.
    const std::int64_t step = on(scenario_, gpus_, [this](PointPredictor& points) {
      return static_cast<std::int64_t>(points.simulator().global_batch(gpus_));
    });
    BreakEvenValue out{.now = static_cast<double>(own),
                       .limit = static_cast<double>(step) * static_cast<double>(kMostSteps)};
    out.beats_now = own > 0 && ends_sooner(own);
    const auto at =
        first_holding(1, kMostSteps, [&](std::int64_t steps) { return ends_sooner(steps * step); });
    if (at) out.at = static_cast<double>(*at) * static_cast<double>(step);
    return out;
  }

  /// Returns the kind of link that the N GPUs wait for most; none if they wait for no link.
  std::optional<std::size_t> bounding_link() const {
    const LinkWaits waits =
        on(scenario_, gpus_, [this](PointPredictor& points) { return points.step(gpus_).waits; });
    const auto most = std::max_element(waits.begin(), waits.begin() + kBackgroundWait);
    if (*most <= 0) return std::nullopt;
    return static_cast<std::size_t>(most - waits.begin());
  }

  /// Varies the speed of that link, for the comparison with one GPU and for the fastest number of GPUs.
  void ask_link(BreakEven& out) const {
    out.fastest_now = out.fastest_then = fastest(scenario_);
    const auto kind = bounding_link();
    if (!kind) {
      out.bandwidth.why_not = out.fastest.why_not = "the step waits for no link";
      return;
    }
    const auto link = static_cast<LinkKind>(*kind);
    out.link = name_of_link(*kind, scenario_.cluster);
    out.link_bytes_per_s = link_speed(link, scenario_.cluster).per_second;
    out.bandwidth = bandwidth(link, out.speedup > 1);
    ask_fastest(link, out);
  }

  /// Slows the link down if N GPUs beat one already, speeds it up otherwise.
  BreakEvenValue bandwidth(LinkKind link, bool beats_now) const {
    BreakEvenValue out{
        .now = 1, .beats_now = beats_now, .limit = beats_now ? 1 / kFastestLink : kFastestLink};
    const auto changes = [&](double factor) {
      return beats_one(with_link_speed(scenario_, link, factor)) != beats_now;
    };
    out.at = first_change(out.limit, kSpeedStep, changes);
    return out;
  }

  /// The whole cluster may be fastest already; then slower links are tried instead of faster ones.
  void ask_fastest(LinkKind link, BreakEven& out) const {
    const int now = out.fastest_now;
    const bool is_all = now == most_searched(scenario_);
    out.fastest = {.now = 1, .beats_now = is_all, .limit = is_all ? 1 / kFastestLink : kFastestLink};
    const auto changes = [&](double factor) {
      return fastest(with_link_speed(scenario_, link, factor)) != now;
    };
    out.fastest.at = first_change(out.fastest.limit, kSearchedSpeedStep, changes);
    if (out.fastest.at) out.fastest_then = fastest(with_link_speed(scenario_, link, *out.fastest.at));
  }

  int fastest(const Scenario& scenario) const {
    const int most = most_searched(scenario);
    return on(scenario, most,
              [most](PointPredictor& points) { return search_crossover(points, most).fastest_gpus; });
  }

  /// Returns the factor nearest to 1, in the direction of `limit`, at which the answer changes.
  template <class Changes>
  static std::optional<double> first_change(double limit, double step, Changes changes) {
    const double log_step = std::log(step) * (limit < 1 ? -1 : 1);
    const auto most = static_cast<std::int64_t>(std::ceil(std::log(limit) / log_step));
    const auto factor = [&](std::int64_t n) { return std::exp(log_step * static_cast<double>(n)); };
    const auto at = first_holding(1, most, [&](std::int64_t n) { return changes(factor(n)); });
    return at ? std::optional(factor(*at)) : std::nullopt;
  }

  const Scenario& scenario_;
  const DeviceModel& device_;
  int gpus_;
};

}  // namespace

std::optional<std::int64_t> first_holding(std::int64_t low, std::int64_t high,
                                          const std::function<bool(std::int64_t)>& holds) {
  if (holds(low)) return low;
  if (high == low || !holds(high)) return std::nullopt;
  while (high - low > 1) {
    // The geometric mean halves the range on a logarithmic scale.
    const auto root =
        static_cast<std::int64_t>(std::sqrt(static_cast<double>(low) * static_cast<double>(high)));
    const std::int64_t middle = std::clamp(root, low + 1, high - 1);
    (holds(middle) ? high : low) = middle;
  }
  return high;
}

void check_break_even(const Scenario& scenario, int gpus) {
  const auto all = static_cast<int>(gpus_of_job(scenario));
  if (gpus < 2)
    throw InputError(fmt::format("--break-even {}: it takes at least 2 GPUs to beat one", gpus),
                     "as in --break-even 8");
  if (gpus > all)
    throw InputError(
        fmt::format("--break-even {}: cluster {} has {}", gpus, scenario.cluster.name, counted(all, "GPU")),
        "ask for a number of GPUs it has");
  if (const std::string why = why_not(scenario, gpus); !why.empty())
    throw InputError(fmt::format("--break-even {}: {}", gpus, why),
                     "ask for a number of GPUs the strategy can use");
}

BreakEven find_break_even(const Scenario& scenario, const DeviceModel& device, int gpus) {
  return Questions(scenario, device, gpus).answers();
}

}  // namespace foretrain
