// The alternatives beside the best job, and in words what each gains and loses.
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "sim/analysis/advice/job_order.hpp"
#include "sim/analysis/advice/recommend.hpp"
#include "sim/analysis/spreads/spread_table.hpp"

namespace foretrain {

namespace {

/// A ratio that has words of its own.
struct Fraction {
  double value;
  std::string_view words;
};
/// Words that are clearer than a percentage.
constexpr std::array<Fraction, 7> kFractions{{{1, "about the same"},
                                              {0.25, "a quarter of the"},
                                              {1.0 / 3, "a third of the"},
                                              {0.5, "half the"},
                                              {2, "twice the"},
                                              {3, "three times the"},
                                              {4, "four times the"}}};

/// Returns a ratio in words: "half the time", "20 % less time", "1.6 times the GPU-hours". `noun` is what is
/// compared.
std::string share_of(double ratio, std::string_view noun, std::string_view less, std::string_view more) {
  for (const Fraction& fraction : kFractions)
    if (is_alike(ratio, fraction.value)) return fmt::format("{} {}", fraction.words, noun);
  if (ratio < 1.5)
    return fmt::format("{:.0f} % {} {}", 100 * std::abs(ratio - 1), ratio < 1 ? less : more, noun);
  return ratio < 10 ? fmt::format("{:.2g} times the {}", ratio, noun)
                    : fmt::format("{:.0f} times the {}", ratio, noun);
}

/// Returns a ratio of costs in the unit of Recommendation::cost_unit.
std::string cost_share(double ratio, const std::string& unit) {
  if (unit.empty()) return share_of(ratio, "cost", "lower", "higher");
  return share_of(ratio, unit == "GPU-h" ? "GPU-hours" : unit, "fewer", "more");
}

/// Returns the clause on the risk to miss the deadline; empty if the job is in time or has none.
std::string risk_of(const JobOption& job) {
  if (!job.keeps_deadline || *job.keeps_deadline >= kInTime) return {};
  const double risk = 1 - *job.keeps_deadline;
  if (risk >= kInTime) return ", but it misses the deadline";
  const std::string percent = fmt::format("{:.0f}", 100 * risk);
  const bool starts_with_vowel = percent.front() == '8' || percent == "11" || percent == "18";
  return fmt::format(", but {} {} % risk to miss the deadline", starts_with_vowel ? "an" : "a", percent);
}

/// Returns the clause on time, cost and risk against the best job.
std::string trade_of(const JobOption& job, const JobOption& best, const std::string& unit) {
  std::string out;
  if (job.point.total_s > 0 && best.point.total_s > 0)
    out = share_of(job.point.total_s / best.point.total_s, "time", "less", "more");
  if (job.cost > 0 && best.cost > 0)
    out += (out.empty() ? "" : " and ") + cost_share(job.cost / best.cost, unit);
  return out + risk_of(job);
}

/// Returns the job with the fewest GPUs that are at least half of `gpus`, else the largest one below. Jobs
/// must be in ascending order of GPUs.
const JobOption* half_of(const std::vector<const JobOption*>& jobs, int gpus) {
  const JobOption* found = nullptr;
  for (const JobOption* job : jobs) {
    if (job->point.gpus >= gpus) break;
    if (found == nullptr || 2 * found->point.gpus < gpus) found = job;
  }
  return found;
}

/// Returns the job with the most GPUs that are at most twice `gpus`, else the smallest one beyond.
const JobOption* double_of(const std::vector<const JobOption*>& jobs, int gpus) {
  const JobOption* found = nullptr;
  for (const JobOption* job : jobs) {
    if (job->point.gpus <= gpus) continue;
    if (found == nullptr || job->point.gpus <= 2 * gpus) found = job;
  }
  return found;
}

}  // namespace

/// The interval gives the widths of both sides of the lognormal distribution around the median.
double chance_in_time(double total_s, const Interval& total, double deadline_s) {
  if (total.low_s <= 0 || total.high_s <= total.low_s) return deadline_s >= total.high_s ? 1 : 0;
  return chance_below(deadline_s / total_s,
                      {std::log(total.high_s / total_s), std::log(total_s / total.low_s)});
}

std::vector<JobOption> alternative_jobs(const std::vector<JobOption>& options, const JobOption& best,
                                        const RecommendationRequest& request) {
  std::vector<const JobOption*> smaller, larger;
  RecommendationRequest without_deadline = request;
  without_deadline.deadline_s.reset();
  for (const JobOption& job : options) {
    const bool is_smaller = job.point.gpus < best.point.gpus;
    // A smaller alternative may miss the deadline, because its trade states the risk.
    if (broken_limit(job, is_smaller ? without_deadline : request).empty())
      (is_smaller ? smaller : larger).push_back(&job);
  }
  std::vector<JobOption> out;
  const JobOption* below = half_of(smaller, best.point.gpus);
  const JobOption* above = double_of(larger, best.point.gpus);
  if (below != nullptr) out.push_back(*below);
  if (above != nullptr) out.push_back(*above);
  // The other side gives a second job if one side has none.
  if (out.size() == 1) {
    const JobOption* next =
        below != nullptr ? half_of(smaller, below->point.gpus) : double_of(larger, above->point.gpus);
    if (next != nullptr) out.push_back(*next);
  }
  return out;
}

void add_trades(Recommendation& recommendation) {
  for (JobOption& job : recommendation.runners_up)
    job.trade = trade_of(job, *recommendation.best, recommendation.cost_unit);
}

}  // namespace foretrain
