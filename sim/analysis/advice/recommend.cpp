// First the number of GPUs, with the strategy as it is; then what can be changed around it without asking for
// more.
#include "sim/analysis/advice/recommend.hpp"

#include <algorithm>
#include <cmath>
#include <deque>

#include <fmt/format.h>

#include "sim/analysis/advice/job_choice.hpp"
#include "sim/analysis/advice/job_numbers.hpp"
#include "sim/analysis/advice/job_resources.hpp"
#include "sim/analysis/step/anchor.hpp"
#include "sim/analysis/uncertainty/intervals.hpp"
#include "sim/base/quantity.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/workload/device/input_time.hpp"

namespace foretrain {

namespace {

/// Another strategy is worth changing the script for from here on, and more workers are worth their cores.
constexpr double kWorthStrategy = 0.97, kWorthWorkers = 0.99;
/// Input waits below this part of the step are no reason for more workers.
constexpr double kStall = 0.02;
/// Batches that nobody would train with.
constexpr std::int64_t kWorthSaying = 100'000;

/// As a job script would start it: one process for each GPU. A measured run keeps the launch it was measured
/// with.
Scenario with_usual_launch(Scenario scenario) {
  if (scenario.anchor || scenario.strategy == "single" ||
      find_strategy(scenario.strategy)->processes != Processes::per_gpu)
    return scenario;
  scenario.launch.processes_per_node = 0;
  if (scenario.launch.with == Launcher::python) scenario.launch.with.reset();
  return scenario;
}

/// As few micro-steps as there must be, and rather some more than a batch that they do not divide.
std::int64_t micro_steps(std::int64_t batch, std::int64_t largest) {
  const std::int64_t least = (batch + largest - 1) / largest;
  for (std::int64_t steps = least; steps <= std::min(batch, 2 * least); ++steps) {
    if (batch % steps == 0) return steps;
  }
  return least;
}

double input_share(const PredictionPoint& p) {
  return p.breakdown[static_cast<std::size_t>(Account::input_stall)] / p.step_s;
}

class Recommender {
 public:
  Recommender(const ComparedScenarios& scenarios, const RecommendationRequest& request,
              const Progress& progress)
      : scenarios_(scenarios), request_(request), progress_(progress) {}

  Recommendation recommend() {
    refuse_unknown_length();
    own_ = fitted(with_usual_launch(scenarios_.own));
    PointPredictor base(own_, most_gpus());
    if (own_.anchor) anchor(base);
    Recommendation out = choose_jobs(own_options(base), request_, billing());
    if (!out.best) return out;
    std::vector<std::string> notes;
    std::optional<PointPredictor> again;
    if (const Scenario* changed = try_workers(base, *out.best, notes)) {
      own_ = *changed;
      again.emplace(own_, base);
      out = choose_jobs(own_options(*again), request_, billing());
      if (!out.best) return out;
    }
    out.notes = std::move(notes);
    try_strategies(again ? *again : base, out);
    note_launch(out);
    note_batch(out);
    out.plan = plan_of(own_, *out.best);
    return out;
  }

 private:
  void refuse_unknown_length() const {
    if (scenarios_.own.workload.data.samples == 0)
      throw InputError("how long is an epoch? A recommendation needs the number of samples",
                       "as in --set data.samples=1281167 --set run.epochs=90");
  }

  bool has_loader() const { return own_.workload.data.loader != LoaderKind::none; }
  const Site& site() const { return own_.cluster.site; }
  CostUnit billing() const {
    if (request_.price_per_gpu_hour) return {"", request_.price_per_gpu_hour};
    const Billing& rates = site().billing;
    const bool is_billed = rates.per_gpu_hour > 0 || rates.per_core_hour > 0 || rates.per_gib_hour > 0;
    return is_billed ? CostUnit{rates.unit, std::nullopt} : CostUnit{"GPU-h", 1.0};
  }

  int most_gpus() const {
    const std::vector<int> numbers = numbers_to_ask_for(own_);
    return std::max(numbers.empty() ? 1 : numbers.back(), own_.anchor ? own_.anchor->gpus : 1);
  }

  /// With micro-steps where a batch fits no number of GPUs: as many as make it fit, the global batch stays.
  /// The most GPUs decide: sharded strategies need least there, and the others no more than on two.
  Scenario fitted(Scenario scenario) const {
    const std::vector<int> numbers = numbers_to_ask_for(scenario);
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

  void anchor(PointPredictor& base) {
    const Anchored anchored = fit_anchor(base.simulator(), base.device(), *own_.anchor);
    base.set_device(anchored.device);
    anchored_ = parts_of(anchored);
  }

  Intervals intervals_of(PointPredictor& points) const {
    return anchored_ ? Intervals(points, *anchored_, own_.anchor->gpus) : Intervals(points);
  }

  std::vector<JobOption> own_options(PointPredictor& base) {
    Intervals intervals = intervals_of(base);
    std::vector<JobOption> options;
    const std::vector<int> numbers = numbers_to_ask_for(own_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (progress_) progress_(static_cast<double>(i) / static_cast<double>(numbers.size()));
      options.push_back(option(base, intervals, numbers[i], base.throughput(1).samples_per_s));
    }
    return options;
  }

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
    if (has_loader()) out.workers_per_gpu = scenario.workload.data.workers_per_gpu;
    price(out, scenario);
    return out;
  }

  void price(JobOption& job, const Scenario& scenario) const {
    const PredictionPoint& p = job.point;
    const double latest = p.total_interval.high_s, wanted = time_limit_s(latest);
    const Partition* partition = partition_for(site(), p.gpus, p.nodes, latest);
    const double longest = partition != nullptr ? to_seconds(partition->longest) : 0;
    if (partition != nullptr) job.partition = partition->name;
    job.jobs =
        longest > 0 && latest > longest ? static_cast<int>(std::ceil(std::min(wanted / longest, 1e6))) : 1;
    job.time_limit_s = longest > 0 ? std::min(wanted, longest) : wanted;
    job.gpu_hours = paid_gpu_hours(scenario, partition, p.gpus, p.nodes, p.total_s);
    job.energy_kwh = gpu_energy_kwh(p, scenario.cluster.node.gpu);
    const auto fixed = billing().per_gpu_hour;
    job.cost = fixed ? *fixed * job.gpu_hours : billing_cost(scenario, partition, p.gpus, p.nodes, p.total_s);
    const auto wait = request_.queue_waits_s.find(p.gpus);
    job.time_to_result_s =
        p.total_s + job.jobs * (wait != request_.queue_waits_s.end() ? wait->second : request_.queue_wait_s);
  }

  /// On the same GPUs another strategy where it is worth it, and then for the runners-up too. On one GPU
  /// there is nothing between GPUs to do better.
  void try_strategies(PointPredictor& base, Recommendation& out) {
    if (out.best->point.gpus == 1) return;
    const Scenario* changed = nullptr;
    for (const Scenario& other : scenarios_.strategies) {
      if (other.strategy == own_.strategy || !why_not(other, out.best->point.gpus).empty()) continue;
      if (const Scenario* tried = try_strategy(base, other, *out.best, out.notes)) changed = tried;
    }
    if (changed == nullptr) return;
    for (JobOption& job : out.runners_up) {
      if (auto tried = worth(base, *changed, job, 1)) job = std::move(*tried);
    }
    add_trades(out);
  }

  /// The job as the scenario runs it, where that takes at most `part` of its time and keeps the limits.
  std::optional<JobOption> worth(PointPredictor& base, const Scenario& scenario, const JobOption& job,
                                 double part) {
    try {
      PointPredictor points(scenario, base);
      Intervals intervals = intervals_of(points);
      JobOption tried = option(points, intervals, job.point.gpus, base.throughput(1).samples_per_s);
      if (tried.point.total_s > part * job.point.total_s || !broken_limit(tried, request_).empty())
        return std::nullopt;
      return tried;
    } catch (const InputError&) {
      return std::nullopt;  // it cannot train this network on these GPUs
    }
  }

  /// What was worth it; nullptr: nothing was.
  const Scenario* try_workers(PointPredictor& base, JobOption best, std::vector<std::string>& notes) {
    const double stalled = input_share(best.point), step_before = best.point.step_s;
    if (stalled < kStall || !has_loader()) return nullptr;
    const int cores = cores_of_rank(own_.workload.data, own_.cluster.node),
              before = own_.workload.data.workers_per_gpu;
    const Scenario* changed = nullptr;
    for (int workers = before; workers < cores;) {
      workers = std::min(cores, std::max(1, 2 * workers));
      Scenario& scenario = variants_.emplace_back(own_);
      scenario.workload.data.workers_per_gpu = workers;
      auto tried = worth(base, scenario, best, kWorthWorkers);
      if (!tried) continue;  // a few workers may cost more than they load, more of them not
      best = std::move(*tried), changed = &scenario;
    }
    if (changed != nullptr)
      notes.push_back(
          fmt::format("{} worker{} per GPU instead of {}: a step takes {} instead of {}, of which {:.0f} % "
                      "was waiting for input",
                      best.workers_per_gpu, best.workers_per_gpu == 1 ? "" : "s", before,
                      to_string(seconds(best.point.step_s)), to_string(seconds(step_before)), 100 * stalled));
    else
      notes.push_back(fmt::format(
          "{:.0f} % of the step waits for input, and more than {} worker{} on {} core{} per GPU do not help: "
          "decode less, cache, or load on the GPU",
          100 * stalled, before, before == 1 ? "" : "s", cores, cores == 1 ? "" : "s"));
    return changed;
  }

  const Scenario* try_strategy(PointPredictor& base, const Scenario& other, JobOption& best,
                               std::vector<std::string>& notes) {
    Scenario& scenario = variants_.emplace_back(with_usual_launch(other));
    if (has_loader()) scenario.workload.data.workers_per_gpu = best.workers_per_gpu;
    scenario.workload.batch_per_gpu = own_.workload.batch_per_gpu;
    scenario.knobs.accumulation = own_.knobs.accumulation;
    auto tried = worth(base, scenario, best, kWorthStrategy);
    if (!tried) return nullptr;
    notes.push_back(fmt::format("{} takes {:.0f} % less time than {} on these GPUs", tried->strategy,
                                100 * (1 - tried->point.total_s / best.point.total_s), best.strategy));
    best = std::move(*tried);
    return &scenario;
  }

  void note_launch(Recommendation& out) const {
    if (scenarios_.own.launch.with == Launcher::python && !own_.launch.with)
      out.notes.push_back(
          "started as one process per GPU; python alone starts one, which leaves the other GPUs idle");
  }

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

  const ComparedScenarios& scenarios_;
  const RecommendationRequest& request_;
  const Progress& progress_;
  Scenario own_;
  std::deque<Scenario> variants_;
  std::optional<AnchoredParts> anchored_;
};

}  // namespace

Recommendation recommend(const ComparedScenarios& scenarios, const RecommendationRequest& request,
                         const Progress& progress) {
  return Recommender(scenarios, request, progress).recommend();
}

ComparedScenarios read_recommended(const SourceText& source, const ScenarioOverrides& overrides) {
  ComparedScenarios out{source.text.empty() ? make_scenario(overrides) : read_scenario(source, overrides),
                        {}};
  const StrategyEntry* own = find_strategy(out.own.strategy);
  if (own->processes != Processes::per_gpu) return out;
  std::vector<std::string> others;
  for (const StrategyEntry& entry : strategy_catalog()) {
    const bool is_like =
        entry.processes == own->processes && entry.framework == own->framework && entry.name != "single";
    if (is_like && entry.name != own->name) others.emplace_back(entry.name);
  }
  if (!others.empty()) out.strategies = read_compared(source, overrides, others).strategies;
  return out;
}

}  // namespace foretrain
