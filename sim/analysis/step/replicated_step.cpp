// The step time is the distance between the ends of two steps, once the pipeline of input and launches has
// filled; the breakdown is what the compute stream did or waited for between them. Both come from the same
// timeline, so they agree to the picosecond.
//
// The cost of a simulation is linear in the tasks of kWarmUpSteps + window steps. A training with many
// micro-steps is extrapolated from two shorter ones, so its cost does not grow with the accumulation.
#include "sim/analysis/step/replicated_step.hpp"

#include <algorithm>

#include "sim/cluster/node_kinds.hpp"
#include "sim/engine/executor.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"
#include "sim/strategy/step/single.hpp"

namespace foretrain {

namespace {

/// Steps before the measured ones; after two, workers, queues and communication are in the steady state.
constexpr int kWarmUpSteps = 2;
/// Most steps that one window covers, whatever the interval between loss.item() calls.
constexpr int kLongestWindow = 10;
/// Most micro-steps that are simulated; further ones cost the same each and are extrapolated.
constexpr int kMostMicroSteps = 8;
/// Stands for the slowest link of a cluster that has none, in bytes/s.
constexpr double kFastestLink = 1e18;

/// Returns the steps after which the script repeats itself: one, or those between two loss.item() calls.
int window_of(const TrainingLoop& loop) { return std::clamp(loop.loss_item_every, 1, kLongestWindow); }

/// Throws InputError for a plan whose durations alone add up to more than StepSimulator::kLongestStep for
/// each step, because the clock could not hold its run.
void refuse_endless(const TaskGraph& graph, double slowest, int steps) {
  double total = 0;
  for (const Task& task : graph.tasks())
    total += to_seconds(task.duration) + static_cast<double>(task.traffic.count) / slowest;
  refuse_endless_step(total / steps);
}

/// Converts the sums of a path into seconds of one step.
Breakdown to_breakdown(const CriticalPath& path, int steps) {
  Breakdown out{};
  for (std::size_t account = 0; account < kAccountCount; ++account)
    out[account] = to_seconds(path.spent[account]) / steps;
  // Waiting for a launch or a wake-up is the host's time, whatever it delays.
  for (const Time lag : path.lag) out[static_cast<std::size_t>(Account::host)] += to_seconds(lag) / steps;
  return out;
}

/// Returns the derivative of the step by each account. The derivative of an end is its critical path back to
/// the very beginning, and the step is the difference of two ends.
Breakdown sensitivity(const TaskGraph& graph, const Timeline& timeline, TaskId before, TaskId last,
                      int steps) {
  Breakdown out = to_breakdown(critical_path(graph, timeline, last, Time::zero()), steps);
  const Breakdown earlier = to_breakdown(critical_path(graph, timeline, before, Time::zero()), steps);
  for (std::size_t account = 0; account < kAccountCount; ++account) out[account] -= earlier[account];
  return out;
}

/// Sets accounts that extrapolation made negative to zero and rescales the others to the step's length.
void end_at_zero(SimulatedStep& step) {
  for (double& wait : step.waits) wait = std::max(0.0, wait);
  std::erase_if(step.parts, [](const StepPart& part) { return part.seconds < 0; });
  if (std::ranges::min(step.breakdown) >= 0) return;
  double sum = 0;
  for (double& account : step.breakdown) sum += account = std::max(0.0, account);
  for (double& account : step.breakdown) account *= step.step_s / sum;
}

/// Extends a step of `fewer` and one of `more` micro-steps by `extra` further ones: in the steady state each
/// costs as much as the last one did.
SimulatedStep extrapolate(const SimulatedStep& fewer, SimulatedStep more, int extra) {
  const auto extend = [extra](double a, double b) { return b + extra * (b - a); };
  more.step_s = std::max(more.step_s, extend(fewer.step_s, more.step_s));
  for (std::size_t i = 0; i < kAccountCount; ++i) {
    more.breakdown[i] = extend(fewer.breakdown[i], more.breakdown[i]);
    more.critical[i] = extend(fewer.critical[i], more.critical[i]);
  }
  for (std::size_t i = 0; i < kWaitKinds; ++i) more.waits[i] = extend(fewer.waits[i], more.waits[i]);
  for (StepPart& part : more.parts) {
    const auto same = std::find_if(fewer.parts.begin(), fewer.parts.end(),
                                   [&](const StepPart& other) { return other.name == part.name; });
    part.seconds = extend(same == fewer.parts.end() ? 0 : same->seconds, part.seconds);
  }
  end_at_zero(more);
  return more;
}

}  // namespace

/// Returns what plans of one kind of node share (collectives, kernel times, sizes); made at the first use.
const std::shared_ptr<PlanReuse>& StepSimulator::reuse_of(int kind) const {
  std::shared_ptr<PlanReuse>& reuse = reuse_[kind];
  if (!reuse)
    reuse = std::make_shared<PlanReuse>(PlanReuse{
        machine_->collectives, OperatorCosts(scenario_.workload, node_of_kind(cluster().spec(), kind).gpu)});
  return reuse;
}

/// Plans and runs warm-up and measured steps for one representative rank. Reuse of collectives and operator
/// costs makes a repeated run cheap; scale factors of the device model apply to the finished graph.
RecordedSteps StepSimulator::run_steps(const Run& wanted, const DeviceModel& device,
                                       PlanFunction make_plan) const {
  Workload workload = scenario_.workload;
  workload.batch_per_gpu = wanted.batch_per_gpu;
  StrategyOptions knobs = scenario_.knobs;
  knobs.accumulation = wanted.micro_steps;
  const Placement job = placement(wanted.gpus);
  // A rank of an unlike job is planned from its own place, so its node is turned to the front.
  const bool is_turned = !has_alike_ranks();
  const Placement ranks = is_turned ? seen_from(job, wanted.rank.first) : job;
  const std::shared_ptr<PlanReuse>& reuse = reuse_of(wanted.rank.kind);
  Plan plan = make_plan({workload, cluster(), ranks, knobs, device, wanted.steps, scenario_.collective,
                         reuse.get(), calls_of(scenario_.cluster), is_turned ? &job : nullptr});
  if (device.communication_time_scale != 1)
    plan.graph.scale_transfers(static_cast<std::uint8_t>(Account::exposed_communication),
                               device.communication_time_scale);
  for (std::uint8_t account = 0; account < kAccountCount; ++account)
    if (device.account_time_scale[account] != 1)
      plan.graph.scale_tasks(account, device.account_time_scale[account]);
  reuse->tasks = std::max(reuse->tasks, plan.graph.tasks().size());
  reuse->dependencies = std::max(reuse->dependencies, plan.graph.dependency_count());
  const ClusterLinks& links = cluster().links();
  // The sum of durations is checked before the run and the end after it, because waits can add up as well.
  refuse_endless(plan.graph, std::min(kFastestLink, links.slowest()), wanted.steps);
  Timeline timeline = run(plan.graph, [&links](LinkId link) { return links[link].bandwidth; });
  refuse_endless_step(to_seconds(timeline.end_of(plan.step_ends.back())) / wanted.steps);
  return {std::move(plan), std::move(timeline), job, {machine_, &machine_->cluster}};
}

RecordedRank StepSimulator::record_rank(const Run& run, const DeviceModel& device) const {
  RecordedRank recorded{run_steps(run, device, find_strategy(scenario_.strategy)->plan)};
  recorded.gpus = run.gpus, recorded.rank = run.rank;
  const Placement job = placement(run.gpus);
  const auto first = static_cast<std::size_t>(run.rank.first);
  recorded.links = recorded_links(recorded.steps.plan.graph, cluster(), job.ranks[first].node);
  return recorded;
}

void StepSimulator::read_accounts(const RecordedSteps& run, Reading reading, SimulatedStep& step) const {
  const TaskGraph& graph = run.plan.graph;
  const TaskId before = run.plan.step_ends[kWarmUpSteps - 1], last = run.plan.step_ends.back();
  const int window = window_of(scenario_.workload.loop);
  const QueueId stream = graph.tasks()[last].queue;
  // A window that begins on the same queue needs no tasks before it, which shortens the walk.
  const TaskId first = graph.tasks()[before].queue == stream ? before + 1 : 0;
  const std::vector<PathPiece> path =
      queue_path(graph, run.timeline, stream, run.timeline.end_of(before), run.timeline.end_of(last), first);
  step.breakdown = to_breakdown(sum_of(graph, path), window);
  step.critical = sensitivity(graph, run.timeline, before, last, window);
  step.waits = link_waits(graph, path, cluster(), window);
  if (reading == Reading::parts)
    step.parts = step_parts(graph, path, scenario_.workload.model->layer_names, window);
}

/// Measures one step as the mean over the window behind the warm-up.
SimulatedStep StepSimulator::simulate_micro_steps(const Run& wanted, const DeviceModel& device,
                                                  Reading reading) const {
  RecordedSteps run = run_steps(wanted, device, find_strategy(scenario_.strategy)->plan);
  const std::vector<TaskId>& ends = run.plan.step_ends;
  SimulatedStep step;
  step.step_s = to_seconds(run.timeline.end_of(ends.back()) - run.timeline.end_of(ends[kWarmUpSteps - 1])) /
                window_of(scenario_.workload.loop);
  if (reading == Reading::time) return step;
  read_accounts(run, reading, step);
  step.buckets = std::move(run.plan.buckets);
  step.memory = run.plan.memory;
  step.decisions = std::move(run.plan.decisions);
  return step;
}

StepSimulator::Run StepSimulator::run_of(int gpus, std::int64_t batch) const {
  return {gpus, batch, 1, kWarmUpSteps + window_of(scenario_.workload.loop)};
}

/// Simulates all micro-steps up to kMostMicroSteps; beyond, the last two simulated numbers give the slope.
SimulatedStep StepSimulator::simulate_alike(Run run, const DeviceModel& device, Reading reading) const {
  const int wanted = scenario_.knobs.accumulation;
  const auto simulated = [&](int micro_steps) {
    run.micro_steps = micro_steps;
    return simulate_micro_steps(run, device, reading);
  };
  if (wanted <= kMostMicroSteps) return simulated(wanted);
  return extrapolate(simulated(kMostMicroSteps - 1), simulated(kMostMicroSteps), wanted - kMostMicroSteps);
}

SimulatedStep ReplicatedStep::simulate(const StepSimulator& s, int gpus, std::int64_t batch,
                                       const DeviceModel& device, Reading reading) {
  const StepSimulator::Run run = s.run_of(gpus, batch);
  if (s.has_alike_ranks()) return s.simulate_alike(run, device, reading);
  return s.simulate_unlike(run, s.representatives(gpus, batch), device, reading);
}

/// Runs the plan of a validation pass; of unlike ranks the slowest sets the pace.
double ReplicatedStep::evaluate(const StepSimulator& s, int gpus, std::int64_t batch_per_gpu,
                                const DeviceModel& device) {
  const int window = window_of(s.scenario_.workload.loop);
  const auto seconds_of = [&](const StepSimulator::Run& run, const DeviceModel& own) {
    const auto [plan, timeline, job, cluster] = s.run_steps(run, own, plan_evaluation);
    return to_seconds(timeline.end_of(plan.step_ends.back()) -
                      timeline.end_of(plan.step_ends[kWarmUpSteps - 1])) /
           window;
  };
  StepSimulator::Run run{gpus, batch_per_gpu, 1, kWarmUpSteps + window};
  if (s.has_alike_ranks()) return seconds_of(run, device);
  double slowest = 0;
  for (const Representative& rank : s.representatives(gpus, batch_per_gpu)) {
    run.rank = rank, run.batch_per_gpu = rank.batch;
    slowest = std::max(slowest, seconds_of(run, s.device_of(rank, device)));
  }
  return slowest;
}

/// Chooses the batch: stated or balanced by kind of node, else the scenario's own, else the share of the
/// global batch, rounded up.
std::int64_t ReplicatedStep::batch_per_gpu(const StepSimulator& s, int gpus) {
  const Scenario& scenario = s.scenario();
  if (const std::vector<KindBatches>& own = s.batches(gpus); !own.empty()) {
    const int first = nodes_of_job(scenario).front().node;
    const KindBatches& given = own[static_cast<std::size_t>(kind_of_node(scenario.cluster, first))];
    return given.batch + (given.one_more > 0 ? 1 : 0);
  }
  if (!scenario.global_batch) return scenario.workload.batch_per_gpu;
  const std::int64_t shares = std::int64_t{s.working(gpus)} * scenario.knobs.accumulation;
  return std::max<std::int64_t>(1, (*scenario.global_batch + shares - 1) / shares);
}

/// Records one rank of each kind, slowest first and at most size.ranks of them; one rank where all are alike.
StepRecording ReplicatedStep::record(const StepSimulator& s, int gpus, const DeviceModel& device,
                                     RecordingSize size) {
  const int micro_steps = std::min(s.scenario_.knobs.accumulation, kMostMicroSteps);
  StepSimulator::Run run{gpus, s.batch_per_gpu(gpus), micro_steps, std::max(kWarmUpSteps + 1, size.steps)};
  std::vector<RecordedRank> out;
  if (s.has_alike_ranks()) {
    run.rank.ranks = s.working(gpus), run.rank.batch = run.batch_per_gpu;
    out.push_back(s.record_rank(run, device));
    return {std::move(out), {}};
  }
  const std::vector<Representative> ranks = s.representatives(gpus, run.batch_per_gpu);
  std::vector<UnlikeRanks> unlike = s.simulate_unlike(run, ranks, device, Reading::time).unlike;
  if (unlike.empty()) unlike.push_back({ranks.front()});
  std::ranges::stable_sort(unlike, std::greater{}, &UnlikeRanks::own_step_s);
  if (unlike.size() > static_cast<std::size_t>(size.ranks))
    unlike.resize(static_cast<std::size_t>(size.ranks));
  for (const UnlikeRanks& one : unlike) {
    run.rank = one.what, run.batch_per_gpu = one.what.batch;
    out.push_back(s.record_rank(run, s.device_of(run.rank, device)));
    out.back().is_alone = ranks.size() > 1;
  }
  return {std::move(out), {}};
}

}  // namespace foretrain
