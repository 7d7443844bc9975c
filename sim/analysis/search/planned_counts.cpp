// Every number of GPUs is a search of its own; their first layouts are then compared with each other.
#include "sim/analysis/search/planned_counts.hpp"

#include <algorithm>

#include "sim/scenario/job.hpp"

namespace foretrain {

namespace {

constexpr const char* kMoreDivisors = "a global batch with more divisors, or other GPUs";
/// Tokens of a run where the scenario has none.
constexpr double kUsualRun = 1e12;

/// Plans one number; if nothing divides, the plan has the reason instead of layouts.
PlannedCount planned(const Scenario& scenario, const LayoutRequest& request, double tokens,
                     const Progress& progress) {
  PlannedCount out;
  out.gpus = request.gpus, out.nodes = reserved_gpus(scenario, request.gpus).nodes;
  try {
    out.search = search_layouts(scenario, request, progress);
  } catch (const InputError& error) {
    out.search.model = scenario.model.name, out.search.cluster = scenario.cluster.name;
    out.search.gpus = request.gpus, out.search.global_batch = request.global_batch;
    out.search.tokens = request.global_batch * layout_of(scenario).sequence;
    out.search.why_none = error.first_message();
    return out;
  }
  const ModelLayout* best = out.best();
  if (best == nullptr) return out;
  out.tokens_per_s = static_cast<double>(out.search.tokens) / best->step_s;
  out.run_s = tokens / out.tokens_per_s;
  out.gpu_hours = out.run_s * out.gpus / 3600;
  return out;
}

/// Returns true if the larger number is as much faster as each doubling has to be.
bool pays(const PlannedCount& more, const PlannedCount& fewer) {
  const double wanted = paying_speedup(static_cast<double>(more.gpus) / fewer.gpus);
  return more.tokens_per_s >= wanted * fewer.tokens_per_s;
}

/// Sets efficiency and whether each number pays, and finds the best one.
void settle(PlannedCounts& plan) {
  for (std::size_t i = 0; i < plan.counts.size(); ++i) {
    PlannedCount& own = plan.counts[i];
    if (own.best() == nullptr) continue;
    if (!plan.fewest) plan.fewest = i, plan.best = i;
    const PlannedCount& fewest = plan.counts[*plan.fewest];
    own.efficiency = own.tokens_per_s / own.gpus / (fewest.tokens_per_s / fewest.gpus);
    own.pays = i == *plan.fewest || pays(own, plan.counts[*plan.best]);
    // The best number may only grow while every smaller fitting number pays, because a user who raises the
    // number stops at the first that does not.
    if (own.pays &&
        std::ranges::none_of(plan.counts.begin() + static_cast<std::ptrdiff_t>(*plan.fewest),
                             plan.counts.begin() + static_cast<std::ptrdiff_t>(i),
                             [](const PlannedCount& c) { return c.best() != nullptr && !c.pays; }))
      plan.best = i;
  }
}

}  // namespace

PlannedCounts plan_counts(const Scenario& scenario, const std::vector<int>& numbers,
                          const LayoutRequest& request, const Progress& progress) {
  PlannedCounts out;
  const auto samples = static_cast<double>(scenario.workload.data.samples);
  out.is_run = samples > 0;
  const LargeModelRun& asked = layout_of(scenario);
  out.tokens = out.is_run ? samples * scenario.epochs * static_cast<double>(asked.sequence) : kUsualRun;
  LayoutRequest own = request;
  // Other machines are asked about for a single number only, because that costs further simulations.
  own.on_other_machines = request.on_other_machines && numbers.size() == 1;
  out.assumes_batch = request.global_batch == 0 && asked.global_batch == 0;
  if (own.global_batch == 0) own.global_batch = usual_batch(asked, numbers.back());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    own.gpus = numbers[i];
    const auto share = [&](double done) {
      if (progress) progress((static_cast<double>(i) + done) / static_cast<double>(numbers.size()));
    };
    out.counts.push_back(planned(scenario, own, out.tokens, share));
  }
  // A single number is refused with the reason, as other commands do.
  if (numbers.size() == 1 && out.counts.front().search.possible == 0)
    throw InputError(out.counts.front().search.why_none, kMoreDivisors);
  settle(out);
  return out;
}

}  // namespace foretrain
