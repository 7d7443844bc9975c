// A recommendation is made in two phases. First it chooses the number of GPUs with the strategy as it is.
// Then it improves what can be changed around that choice without requesting more: loader workers,
// micro-steps, and notes on other strategies.
//
// Candidates are the numbers that a person would request (requestable_gpu_counts()). Each is predicted once
// with its interval and priced; choose_jobs() applies limits and goal. More workers may make another number
// best, so choice and workers alternate, at most three rounds.
#include "sim/analysis/advice/recommend.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/answer/answer_of.hpp"
#include "sim/analysis/evidence/measured_calibration.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/step/step_model.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/variation.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

/// Share of the step that must wait for input before more workers are tried.
constexpr double kStall = 0.02;
/// Batches from this size on are not suggested, because nobody would train with them.
constexpr std::int64_t kWorthSaying = 100'000;

/// Returns the scenario as a job script would start it: one process for each GPU. A measured run keeps the
/// launch it was measured with.
Scenario with_usual_launch(Scenario scenario) {
  const StrategyEntry& strategy = *find_strategy(scenario.strategy);
  if (scenario.anchor || strategy.one_gpu || strategy.processes != Processes::per_gpu) return scenario;
  return with_process_per_gpu(std::move(scenario));
}

/// Returns the fewest micro-steps with which the batch fits; up to twice as many if only those divide the
/// batch.
std::int64_t micro_steps(std::int64_t batch, std::int64_t largest) {
  const std::int64_t least = (batch + largest - 1) / largest;
  for (std::int64_t steps = least; steps <= std::min(batch, 2 * least); ++steps) {
    if (batch % steps == 0) return steps;
  }
  return least;
}

/// Returns the note where more workers do not help.
std::string waits_for_input(double share) {
  return fmt::format("{:.0f} % of the step waits for input: decode less, cache, or load on the GPU",
                     100 * share);
}

/// Returns the share of the step that waits for input.
double input_share(const PredictionPoint& p) {
  return p.breakdown[static_cast<std::size_t>(Account::input_stall)] / p.step_s;
}

/// Makes one recommendation.
class Recommender {
 public:
  Recommender(const ComparedScenarios& scenarios, const RecommendationRequest& request,
              const Progress& progress, const EvidenceUse& evidence)
      : scenarios_(scenarios), request_(request), progress_(progress), evidence_(evidence) {}

  /// Alternates between the choice of a job and of workers, then adds notes about everything else.
  Recommendation recommend() {
    refuse_unknown_length(scenarios_.own);
    refuse_contradiction(scenarios_.own, request_);
    // The launch changes the numbers that can be requested, so it comes before the batch.
    own_ = fitted(with_usual_launch(scenarios_.own));
    PointPredictor base(own_, most_gpus());
    calibration_ = calibrate_to_measured(base, most_gpus(), evidence_);
    // A measurement on that many nodes counts as the first run, so its limit does not apply.
    if (own_.anchor && reserved_gpus(own_, own_.anchor->gpus).nodes >= request_.first_run_nodes)
      request_.first_run_nodes = 0;
    Recommendation out = choose_jobs(own_options(base), request_, billing_of(own_, request_));
    if (!out.best) return out;
    // More workers may make another number of GPUs best, which may need more of them in turn.
    constexpr int kMostRounds = 3;
    std::vector<std::string> notes;
    std::optional<PointPredictor> again;
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<std::string> said;
      const Scenario* changed = try_workers(again ? *again : base, *out.best, said);
      // A later round that changes nothing has no new note.
      if (changed || !again) notes.insert(notes.end(), said.begin(), said.end());
      if (!changed) break;
      own_ = *changed;
      again.emplace(own_, base);
      out = choose_jobs(own_options(*again), request_, billing_of(own_, request_));
      if (!out.best) return out;
    }
    out.notes.insert(out.notes.begin(), notes.begin(), notes.end());
    // The advice on workers comes before the one on more nodes.
    if (again) out.next_step = notes.back();
    note_strategies(out);
    note_launch(out);
    note_batch(out);
    warn_of_batch(again ? *again : base, out);
    out.plan = plan_of(own_, *out.best);
    out.grid_g_per_kwh = site().grid_g_per_kwh;
    out.confirming = confirming_runs(own_, out);
    return out;
  }

 private:
  bool has_workers() const { return has_workers_to_set(own_.workload); }
  const Site& site() const { return own_.cluster.site; }
  int most_gpus() const {
    const std::vector<int> numbers = numbers_within(own_, request_);
    return std::max(numbers.empty() ? 1 : numbers.back(), own_.anchor ? own_.anchor->gpus : 1);
  }

  /// Divides the batch into as many micro-steps as make it fit, where it fits no number of GPUs; the global
  /// batch stays. The largest number of GPUs decides: sharded strategies need least there, and others no more
  /// than on two.
  Scenario fitted(Scenario scenario) const {
    const std::vector<int> numbers = numbers_within(scenario, request_);
    if (numbers.empty() || scenario.global_batch) return scenario;
    PointPredictor points(scenario, numbers.back());
    Decisions ignored;
    const PredictionPoint p = points.point(numbers.back(), ignored);
    if (p.fits() || p.largest_batch == 0) return scenario;
    const std::int64_t micro = micro_steps(p.batch_per_gpu, p.largest_batch);
    scenario.knobs.accumulation =
        static_cast<int>(std::min<std::int64_t>(4096, scenario.knobs.accumulation * micro));
    scenario.workload.batch_per_gpu = (p.batch_per_gpu + micro - 1) / micro;
    return scenario;
  }

  /// Returns an option for each number of GPUs within the limits.
  std::vector<JobOption> own_options(PointPredictor& base) {
    Intervals intervals = intervals_of(base, calibration_);
    std::vector<JobOption> options;
    const std::vector<int> numbers = numbers_within(own_, request_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (progress_) progress_(static_cast<double>(i) / static_cast<double>(numbers.size()));
      options.push_back(option(base, intervals, numbers[i], base.throughput(1).samples_per_s));
    }
    return options;
  }

  /// Predicts and prices one number of GPUs.
  JobOption option(PointPredictor& points, Intervals& intervals, int gpus, double one_gpu_rate) const {
    Decisions ignored;
    JobOption out;
    const Scenario& scenario = points.simulator().scenario();
    out.strategy = scenario.strategy;
    out.point = points.point(gpus, ignored);
    out.point.speedup = out.point.samples_per_s / one_gpu_rate;
    out.point.efficiency = out.point.speedup / gpus;
    intervals.add_to(out.point);
    out.accumulation = scenario.knobs.accumulation;
    if (has_workers()) out.workers_per_gpu = scenario.workload.data.workers_per_gpu;
    price_job(out, scenario, request_);
    return out;
  }

  /// Adds a note on a faster strategy; the recommendation keeps the scenario's own. One GPU is skipped,
  /// because strategies differ in what they do between GPUs.
  void note_strategies(Recommendation& out) const {
    const int gpus = out.best->point.gpus;
    if (gpus == 1 || scenarios_.strategies.empty()) return;
    ComparedScenarios alike{own_, {own_}};
    for (const Scenario& other : scenarios_.strategies) {
      if (other.strategy != own_.strategy) alike.strategies.push_back(as_best(other, *out.best));
    }
    alike.own.gpus = {gpus};
    const ComparedGpus numbers = compare(alike).numbers.front();
    const ComparedStrategy* fastest = numbers.best();
    const auto own = std::ranges::find(numbers.strategies, own_.strategy, &ComparedStrategy::strategy);
    if (fastest == nullptr || fastest->strategy == own_.strategy) return;
    const std::string what = fmt::format("{} would take {:.0f} % less time than {} on these GPUs",
                                         fastest->strategy, 100 * (1 - own->ratio), own_.strategy);
    if (own->standing == Standing::not_told_apart)
      out.notes.push_back(what + ", less than the predictions can tell: no reason to rewrite for it");
    if (own->standing == Standing::slower)
      out.notes.push_back(fmt::format("{} (90 %: {:.0f} to {:.0f} %), if you rewrite for it", what,
                                      100 * (1 - own->ratio_range.high), 100 * (1 - own->ratio_range.low)));
  }

  /// Returns another strategy with the job's launch, workers and batch.
  Scenario as_best(const Scenario& other, const JobOption& best) const {
    Scenario scenario = with_usual_launch(other);
    if (has_workers()) scenario.workload.data.workers_per_gpu = best.workers_per_gpu;
    scenario.workload.batch_per_gpu = own_.workload.batch_per_gpu;
    scenario.knobs.accumulation = own_.knobs.accumulation;
    return scenario;
  }

  /// Returns the job as the scenario runs it, if it takes less time than `job` and keeps the limits.
  std::optional<JobOption> worth(PointPredictor& base, const Scenario& scenario, const JobOption& job) {
    try {
      PointPredictor points(scenario, base);
      Intervals intervals = intervals_of(points, calibration_);
      JobOption tried = option(points, intervals, job.point.gpus, base.throughput(1).samples_per_s);
      if (tried.point.total_s >= job.point.total_s || !broken_limit(tried, request_).empty())
        return std::nullopt;
      return tried;
    } catch (const InputError&) {
      return std::nullopt;  // it cannot train this network on these GPUs
    }
  }

  /// Returns the scenario with the workers of input_remedy(), as predict advises, if that keeps the limits;
  /// nullptr if nothing is to be changed. Adds a note in either case. The pointer is this object's.
  const Scenario* try_workers(PointPredictor& base, const JobOption& best, std::vector<std::string>& notes) {
    const double stalled = input_share(best.point);
    if (stalled < kStall) return nullptr;
    if (!has_workers()) {
      notes.push_back(waits_for_input(stalled));
      return nullptr;
    }
    const DataSet& data = own_.workload.data;
    if (const auto remedy = input_remedy(base, best.point.gpus, {})) {
      Scenario& changed = variants_.emplace_back(own_);
      changed.workload.data.workers_per_gpu = remedy->workers;
      if (const auto tried = worth(base, changed, best)) {
        notes.push_back(fmt::format(
            "{} per {} instead of {}: a step takes {} instead of {}, of which {:.0f} % "
            "was waiting for input",
            counted(remedy->workers, "worker"), remedy->unit, remedy->workers_before,
            to_string(seconds(tried->point.step_s)), to_string(seconds(best.point.step_s)), 100 * stalled));
        return &changed;
      }
    }
    const int cores = static_cast<int>(cores_of_rank(data, own_.cluster.node));
    notes.push_back(fmt::format("{}. More than {} on {} per {} do not help", waits_for_input(stalled),
                                counted(data.workers_per_gpu, "worker"), counted(cores, "core"),
                                data.worker_unit()));
    return nullptr;
  }

  /// Adds a note where the script's own launch would leave GPUs idle.
  void note_launch(Recommendation& out) const {
    if (scenarios_.own.launch.with == Launcher::python && !own_.launch.with)
      out.notes.push_back(
          "started as one process per GPU; python alone starts one, which leaves the other GPUs idle");
  }

  /// Adds notes on micro-steps, on larger batches that fit, and on jobs in a row.
  void note_batch(Recommendation& out) const {
    const JobOption& best = *out.best;
    if (best.accumulation > scenarios_.own.knobs.accumulation)
      out.notes.push_back(fmt::format("{} samples per GPU do not fit at once: {} micro-steps of {}",
                                      scenarios_.own.workload.batch_per_gpu, best.accumulation,
                                      best.point.batch_per_gpu));
    else if (best.point.largest_batch >= 2 * best.point.batch_per_gpu &&
             best.point.largest_batch < kWorthSaying)
      out.notes.push_back(
          fmt::format("up to {} samples per GPU fit; a larger batch trains differently and is not "
                      "recommended for speed alone",
                      best.point.largest_batch));
    if (best.jobs > 1)
      out.notes.push_back(
          fmt::format("longer than {} allows: {} jobs in a row from checkpoints", best.partition, best.jobs));
  }

  /// Warns where a step trains on at least twice the samples of one GPU's step, which changes the training.
  void warn_of_batch(PointPredictor& base, Recommendation& out) const {
    const std::int64_t one = base.simulator().global_batch(1), all = out.best->point.global_batch;
    if (all < 2 * one) return;
    out.warnings.push_back(fmt::format(
        "a step trains on {:.3g} times as many samples as on one GPU, {} instead of {}: the learning rate "
        "has to "
        "follow (usually in proportion, with a warm-up), and very large batches need more epochs; "
        "--scaling strong keeps the batch",
        static_cast<double>(all) / static_cast<double>(one), all, one));
  }

  const ComparedScenarios& scenarios_;
  RecommendationRequest request_;
  const Progress& progress_;
  const EvidenceUse& evidence_;
  Scenario own_;
  /// Scenarios with changed workers; a deque keeps pointers to its elements valid.
  std::deque<Scenario> variants_;
  MeasuredCalibration calibration_;
};

}  // namespace

Recommendation recommend_strategies(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                                    const Progress& progress, const EvidenceUse& evidence) {
  return Recommender(scenarios, request, progress, evidence).recommend();
}

/// A strategy without one process for each GPU has no alternatives of the same launch.
std::vector<std::string> other_strategies(const Scenario& own) {
  const StrategyEntry* strategy = find_strategy(own.strategy);
  std::vector<std::string> others;
  if (strategy->processes != Processes::per_gpu) return others;
  for (const StrategyEntry& entry : strategy_catalog()) {
    const bool is_like = entry.processes == strategy->processes && !entry.one_gpu &&
                         what_it_needs(entry, own.workload.framework.kind).empty();
    if (is_like && entry.name != strategy->name) others.emplace_back(entry.name);
  }
  return others;
}

Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                         const Progress& progress, const EvidenceUse& evidence) {
  return step_model_of(scenarios.own).recommend(scenarios, request, progress, evidence);
}

ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides) {
  ComparedScenarios out{source.text.empty() ? make_scenario(overrides) : read_scenario(source, overrides),
                        {}};
  const std::vector<std::string> others = step_model_of(out.own).weighed_beside(out.own);
  if (!others.empty()) out.strategies = read_compared(source, overrides, others).strategies;
  return out;
}

}  // namespace foretrain
