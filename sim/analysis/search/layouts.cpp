// Exhaustive search over combinations of degrees that divide the GPUs. Combinations with too little memory
// are dropped before they are simulated, because memory is a formula and a step is a simulation.
#include "sim/analysis/search/layouts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "sim/analysis/causes/removal.hpp"
#include "sim/analysis/step/memory_verdict.hpp"
#include "sim/analysis/step/parallel_step.hpp"
#include "sim/analysis/step/step_simulator.hpp"
#include "sim/base/quantity.hpp"
#include "sim/base/spoken.hpp"
#include "sim/scenario/job.hpp"
#include "sim/scenario/uncut_layout.hpp"

namespace foretrain {

namespace {

/// Tokens of a global batch where none is stated.
constexpr std::int64_t kUsualTokens = 1 << 20;
/// Most virtual stages that are tried.
constexpr int kMostChunks = 12;
/// Sequence lengths, in tokens, from which context parallelism is tried: degrees up to 2 from the first
/// length, up to 16 from the second.
constexpr std::int64_t kCutSequence = 8192, kLongSequence = 16384;
/// Number of layouts that are simulated again on other machines.
constexpr std::size_t kLookedAtAgain = 24;

/// Returns the divisors of a number up to `most`, ascending.
std::vector<int> divisors(std::int64_t of, std::int64_t most) {
  std::vector<int> all;
  for (std::int64_t d = 1; d <= std::min(of, most); ++d)
    if (of % d == 0) all.push_back(static_cast<int>(d));
  return all;
}

/// Returns true if the layers divide into chunks of one size. Embedding, head and layers of further predicted
/// tokens may count as layers of their own (61 layers of DeepSeek-V3 on 16 chunks).
bool makes_chunks(const LargeModelRun& job, int chunks) {
  const int layers = job.shape.layers, ends = 2 + job.next_tokens;
  return chunks <= layers && (layers % chunks == 0 || (layers + ends) % chunks == 0);
}

/// The values of each key that are tried.
class Choices {
 public:
  Choices(const Scenario& scenario, const LayoutRequest& request)
      : own_(layout_of(scenario)), request_(request), per_node_(scenario.cluster.node.gpus) {}

  std::vector<LargeModelRun> jobs() const;

 private:
  bool is_fixed(std::string_view key) const {
    return std::ranges::find(request_.fixed, key) != request_.fixed.end();
  }
  /// Returns the scenario's own value for a fixed key, else all values.
  template <typename T>
  std::vector<T> values(std::string_view key, T own, std::vector<T> all) const {
    return is_fixed(key) ? std::vector<T>{own} : all;
  }
  /// Adds all settings for one combination of degrees.
  void add_of_degrees(const LargeModelRun& job, std::vector<LargeModelRun>& jobs) const;
  /// Returns the degrees of expert parallelism that are tried.
  std::vector<int> experts() const {
    if (!own_.shape.experts) return {1};
    return values("expert", own_.degrees.expert, divisors(own_.shape.experts->experts, request_.gpus));
  }

  const LargeModelRun& own_;
  const LayoutRequest& request_;
  int per_node_;
};

/// The interleaved schedule comes with virtual stages; sharded parameters are tried only without a pipeline
/// and with data-parallel ranks.
void Choices::add_of_degrees(const LargeModelRun& job, std::vector<LargeModelRun>& jobs) const {
  const int stages = job.degrees.pipeline;
  std::vector<int> chunks{1};
  for (int v = 2; stages > 1 && v <= kMostChunks; ++v)
    if (makes_chunks(own_, stages * v)) chunks.push_back(v);
  std::vector<ModelSharding> shardings{ModelSharding::optimizer};
  if (stages == 1 && job.degrees.data > 1) shardings.push_back(ModelSharding::parameters);
  for (const int v : values("virtual_stages", own_.degrees.virtual_stages, chunks)) {
    for (const std::int64_t micro : values<std::int64_t>("micro_batch", own_.micro_batch, {1, 2, 4, 8})) {
      for (const ModelSharding sharding : values("shard", own_.sharding, shardings)) {
        for (const Recompute recompute :
             values("recompute", own_.recompute, {Recompute::none, Recompute::full})) {
          LargeModelRun other = job;
          other.degrees.virtual_stages = v, other.micro_batch = micro;
          other.sharding = sharding, other.recompute = recompute;
          if (!is_fixed("schedule"))
            other.schedule = v > 1 ? PipelineSchedule::interleaved : PipelineSchedule::one_f_one_b;
          // Sharded parameters over a single rank are the same as none.
          const bool shares = sharding != ModelSharding::parameters || other.shards() > 1;
          if (shares && faults_of(other, request_.gpus).empty()) jobs.push_back(other);
          // The check is inside the loops, so that a huge request is refused early.
          if (jobs.size() > kMostLayouts)
            throw InputError(fmt::format("more than {} layouts", kMostLayouts),
                             "fix some of their keys, as in --set parallel.tensor=8");
        }
      }
    }
  }
}

/// Tensor parallelism stays within a node; the data-parallel degree takes the remaining GPUs.
std::vector<LargeModelRun> Choices::jobs() const {
  std::vector<LargeModelRun> jobs;
  const std::vector<int> contexts = own_.sequence < kCutSequence
                                        ? std::vector<int>{1}
                                        : divisors(request_.gpus, own_.sequence < kLongSequence ? 2 : 16);
  for (const int t : values("tensor", own_.degrees.tensor, divisors(request_.gpus, per_node_))) {
    for (const int p :
         values("pipeline", own_.degrees.pipeline, divisors(request_.gpus / t, own_.shape.layers))) {
      for (const int c : values("context", own_.degrees.context, contexts)) {
        if (static_cast<std::int64_t>(t) * p * c > request_.gpus || request_.gpus % (t * p * c) != 0)
          continue;
        for (const int e : experts()) {
          LargeModelRun job = own_;
          job.degrees.tensor = t, job.degrees.pipeline = p, job.degrees.context = c, job.degrees.expert = e;
          job.degrees.data = request_.gpus / (t * p * c), job.global_batch = request_.global_batch;
          add_of_degrees(job, jobs);
        }
      }
    }
  }
  return jobs;
}

/// Returns the bytes of the fullest stage.
double fullest(const LargeModelRun& job) {
  double most = 0;
  for (const StageMemory& stage : stage_memory(job)) most = std::max(most, stage.total());
  return most;
}

/// Returns the scenario with this layout on exactly its GPUs.
Scenario with_job(const Scenario& scenario, const LargeModelRun& job) {
  Scenario own = scenario;
  set_layout(own, job);
  own.gpus = {job.gpus()}, own.global_batch = job.global_batch;
  return own;
}

/// Simulates candidates on one machine: cut layouts directly, others by the step model of their scenario.
class LayoutSimulator {
 public:
  LayoutSimulator(const Scenario& scenario, int gpus)
      : scenario_(scenario), ranks_(reserved_gpus(scenario, gpus)), base_(scenario, gpus) {}

  double step_s(const LargeModelRun& job, const DeviceModel& device) {
    if (!runs_as_strategy(job)) return cut_step(job, device).step_s;
    const Scenario own = with_job(scenario_, job);
    return StepSimulator(own, base_).step_s(job.gpus(), device);
  }

  /// Returns the layout with step, memory, breakdown and point. A cut layout that hardly fits has its memory
  /// alone.
  ModelLayout layout(const LargeModelRun& job, const DeviceModel& device) {
    ModelLayout out;
    out.job = job;
    if (runs_as_strategy(job)) {
      take_uncut(with_job(scenario_, job), device, out);
      return out;
    }
    out.memory_bytes = fullest(job);
    out.fits = chance_of_fitting(out.memory_bytes, capacity());
    if (out.fits < kHardlyFits) return out;
    const LargeStep step = cut_step(job, device);
    out.step_s = step.step_s;
    out.point = large_point(job, step, node().gpu);
    out.breakdown = as_simulated(step, node(), Reading::accounts).breakdown;
    return out;
  }

  double capacity() const { return static_cast<double>(node().gpu.capacity().count); }
  /// Returns the name of the time that is neither kernels, communication nor host.
  std::string_view other_account() const { return base_.other_account(); }
  const NodeSpec& node() const { return base_.cluster().node_spec(ranks_.ranks.front().node); }

 private:
  LargeStep cut_step(const LargeModelRun& job, const DeviceModel& device) {
    return simulate_large_step(
        {job, base_.cluster(), ranks_, device, scenario_.collective, base_.collectives(), false});
  }

  /// Fills a layout that runs as a data-parallel strategy; its memory depends on the simulated strategy.
  void take_uncut(const Scenario& own, const DeviceModel& device, ModelLayout& out) const {
    const SimulatedStep step = StepSimulator(own, base_).simulate(out.job.gpus(), device, Reading::accounts);
    PredictionPoint point;
    point.gpus = out.job.gpus();
    step_model_of(own).add_memory(point, own, step.memory);
    out.fits = chance_of_fitting(point);
    out.memory_bytes = static_cast<double>(point.memory.total().count);
    out.step_s = step.step_s;
    out.point = *step.large;
    out.breakdown = step.breakdown;
  }

  const Scenario& scenario_;
  Placement ranks_;
  StepSimulator base_;
};

bool probably_fits(const ModelLayout& layout) { return layout.fits >= kProbablyFits; }

/// Marks the Pareto front and ties. Layouts must be in the order of their times, so each on the front needs
/// less memory than all before it.
void settle_front(std::span<ModelLayout> layouts) {
  double least = std::numeric_limits<double>::infinity();
  for (ModelLayout& layout : layouts) {
    layout.is_on_front = layout.memory_bytes < least;
    least = std::min(least, layout.memory_bytes);
    layout.is_tied = layout.step_s < layouts.front().step_s * (1 + kTie);
  }
}

/// Orders each run of equally fast layouts by the probability that they fit. Whole percent are compared and
/// 99 % counts as sure, because smaller differences of a probability mean nothing.
void order_ties(std::span<ModelLayout> layouts) {
  // A probability near 1 counts as 99 %.
  const auto percent_that_fit = [](const ModelLayout& layout) {
    return std::min(99.0, std::round(100 * layout.fits));
  };
  while (!layouts.empty()) {
    const double limit = layouts.front().step_s * (1 + kTie);
    const auto end = std::ranges::find_if(layouts, [&](const ModelLayout& l) { return l.step_s >= limit; });
    const auto count = static_cast<std::size_t>(end - layouts.begin());
    std::ranges::stable_sort(layouts.first(count), std::greater{}, percent_that_fit);
    layouts = layouts.subspan(count);
  }
}

/// Orders all layouts, those that probably fit first, and returns their number. Requires at least one layout.
std::size_t set_order(std::vector<ModelLayout>& layouts) {
  std::ranges::stable_sort(layouts, {}, &ModelLayout::step_s);
  const auto others = std::stable_partition(layouts.begin(), layouts.end(), probably_fits);
  const auto count = static_cast<std::size_t>(others - layouts.begin());
  const std::span all(layouts);
  settle_front(count > 0 ? all.first(count) : all);
  order_ties(all.first(count)), order_ties(all.subspan(count));
  layouts.front().is_tied = false;
  return count;
}

/// Returns the time that each removal saves when all are removed in turn; the last entry is the kernels.
std::vector<double> parts_of(LayoutSimulator& simulator, const ModelLayout& layout, DeviceModel device) {
  std::vector<double> parts;
  double before = layout.step_s;
  for (const Removable what : kRemovable) {
    device = without(device, what);
    const double after = std::min(before, simulator.step_s(layout.job, device));
    parts.push_back(before - after);
    before = after;
  }
  parts.push_back(before);
  return parts;
}

/// Returns the work that costs the other layout most, found by removing the same causes from both steps in
/// turn.
std::string costs_more(LayoutSimulator& simulator, const DeviceModel& device, const ModelLayout& first,
                       const ModelLayout& other) {
  const std::vector<double> own = parts_of(simulator, first, device),
                            its = parts_of(simulator, other, device);
  std::size_t most = 0;
  for (std::size_t i = 0; i < own.size(); ++i)
    if (its[i] - own[i] > its[most] - own[most]) most = i;
  if (most == kRemovableCount) return "the GPU's own kernels";
  return std::string(kRemovable[most] == Removable::links   ? "communication"
                     : kRemovable[most] == Removable::other ? simulator.other_account()
                                                            : noun_of(kRemovable[most]));
}

/// A hypothetical machine, by its speed relative to the scenario's.
struct OtherMachine {
  std::string_view name;
  double kernel_speed, link_speed;
};
constexpr OtherMachine kOtherMachines[] = {
    {"links half as fast", 1, 0.5}, {"links twice as fast", 1, 2}, {"GPUs twice as fast", 2, 1}};

/// Returns a sentence for each other machine on which another of the best layouts would be first by more than
/// a tie.
std::vector<std::string> would_change(const LayoutSearch& search, LayoutSimulator& simulator,
                                      const DeviceModel& device, std::size_t that_fit) {
  std::vector<std::string> out;
  const std::size_t count = std::min(that_fit, kLookedAtAgain);
  for (const OtherMachine& machine : kOtherMachines) {
    DeviceModel other = device;
    other.kernel.time_scale /= machine.kernel_speed, other.communication_time_scale /= machine.link_speed;
    std::size_t best = 0;
    double least = 0, first = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double step_s = simulator.step_s(search.layouts[i].job, other);
      if (i == 0) first = least = step_s;
      if (step_s < least) least = step_s, best = i;
    }
    if (best > 0 && least < first * (1 - kTie))
      out.push_back(fmt::format("with {} {}{} would be first, {:.0f} % ahead", machine.name,
                                search.layouts[best].point.layout,
                                search.layouts[best].job.degrees == search.layouts.front().job.degrees
                                    ? " (" + settings_of(search.layouts[best].job) + ")"
                                    : "",
                                100 * (first / least - 1)));
  }
  return out;
}

/// Simulates all combinations that may fit and counts the others.
void simulate_all(const std::vector<LargeModelRun>& jobs, LayoutSimulator& simulator,
                  const DeviceModel& device, LayoutSearch& search, const Progress& progress) {
  search.capacity_bytes = simulator.capacity();
  search.least_bytes = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (progress) progress(static_cast<double>(i) / static_cast<double>(jobs.size()));
    ModelLayout layout = simulator.layout(jobs[i], device);
    search.least_bytes = std::min(search.least_bytes, layout.memory_bytes);
    if (layout.fits < kHardlyFits)
      ++search.without_memory;
    else
      search.layouts.push_back(std::move(layout));
  }
}

/// Returns the sentence on the smallest layout where none probably fits.
std::string nothing_fits(const LayoutSearch& search) {
  const auto text = [](double bytes) { return to_string(Bytes{static_cast<std::int64_t>(bytes)}); };
  double most = 0;
  for (const ModelLayout& layout : search.layouts) most = std::max(most, layout.fits);
  return fmt::format("the smallest needs {} of {} a GPU{}: more GPUs, or offload = \"optimizer\"",
                     text(search.least_bytes), text(search.capacity_bytes),
                     most > 0 ? fmt::format(" and fits with {} probability", spoken_chance(most)) : "");
}

}  // namespace

std::int64_t usual_batch(const LargeModelRun& own, int gpus) {
  return own.global_batch > 0 ? own.global_batch : std::max<std::int64_t>(gpus, kUsualTokens / own.sequence);
}

LayoutSearch search_layouts(const Scenario& scenario, const LayoutRequest& asked, const Progress& progress) {
  LayoutRequest request = asked;
  const LargeModelRun& own = layout_of(scenario);
  if (request.global_batch == 0) request.global_batch = usual_batch(own, request.gpus);
  LayoutSearch search;
  search.model = scenario.model.name, search.cluster = scenario.cluster.name, search.gpus = request.gpus;
  search.global_batch = request.global_batch, search.tokens = request.global_batch * own.sequence;
  const std::vector<LargeModelRun> jobs = Choices(scenario, request).jobs();
  search.possible = jobs.size();
  if (jobs.empty())
    throw InputError(fmt::format("no layout divides {} GPUs, {} heads, {} layers and a global batch of {}",
                                 request.gpus, own.shape.heads, own.shape.layers, request.global_batch),
                     "a global batch with more divisors, or other GPUs");
  LayoutSimulator simulator(scenario, request.gpus);
  const DeviceModel device = default_device_model(scenario);
  simulate_all(jobs, simulator, device, search, progress);
  search.simulated = search.layouts.size();
  const std::size_t that_fit = search.layouts.empty() ? 0 : set_order(search.layouts);
  // Reasons and other machines are about the first layout, so one must fit.
  if (that_fit == 0) return search.why_none = nothing_fits(search), search;
  search.why_first =
      why_first(search, request.fixed, [&](const ModelLayout& first, const ModelLayout& other) {
        return costs_more(simulator, device, first, other);
      });
  if (request.on_other_machines) search.would_change = would_change(search, simulator, device, that_fit);
  return search;
}

const ModelLayout* LayoutSearch::best() const {
  return layouts.empty() || !probably_fits(layouts.front()) ? nullptr : &layouts.front();
}

}  // namespace foretrain
