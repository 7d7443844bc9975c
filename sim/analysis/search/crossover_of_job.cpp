// Connects the search, which knows curves only, to a simulator: it chooses the range, a budget by the size of
// the network, and the words that explain the result.
#include "sim/analysis/search/crossover_of_job.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/cluster/node_kinds.hpp"
#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Largest number that is searched unless the scenario lists larger ones; every real cluster of the catalog
/// is smaller.
constexpr std::int64_t kMostSearched = 4096;

/// Returns the number of simulations: up to 400 for small networks, 8 when one simulation is heavy. The
/// estimate counts the tasks of a step: operators, four for each tensor of parameters, and buffers.
int search_budget(const ExpandedModel& model) {
  const auto per_step = static_cast<double>(model.forward.size() + model.backward.size() +
                                            4 * model.parameters.size() + model.buffers.size() + 1);
  return static_cast<int>(std::clamp(120'000 / per_step, 8.0, 400.0));
}

/// Returns true for strategies with parameter servers. Tensors are dealt out to servers in turn, so each
/// number of nodes gives the fullest server another share and the step jumps.
bool has_servers(const Scenario& scenario) {
  const std::vector<Knob>& knobs = find_strategy(scenario.strategy)->knobs;
  return std::any_of(knobs.begin(), knobs.end(), [](const Knob& knob) { return knob.name == "servers"; });
}

/// Returns the reason why the strategy cannot use more GPUs than were searched; empty if the cluster has no
/// more.
std::string limit(const PointPredictor& points, int most_gpus) {
  const StepSimulator& simulator = points.simulator();
  return most_gpus < simulator.cluster_gpus() ? why_not_together(simulator.scenario(), most_gpus + 1)
                                              : std::string();
}

/// Adds how far the search went, if that was not the end of the cluster, and how many simulations it took.
void explain_search(const Crossover& found, const PointPredictor& points, int most_gpus, bool every_gpu,
                    Decisions& decisions) {
  if (most_gpus < points.simulator().cluster_gpus() && !points.simulator().scenario().global_batch) {
    const std::string why = limit(points, most_gpus);
    decisions.add("search", fmt::format("up to {}", counted(most_gpus, "GPU")),
                  why.empty() ? "larger numbers are simulated only when run.gpus lists them" : why);
  }
  const std::string_view what = every_gpu ? "" : " within a node, of whole nodes, and listed";
  decisions.add(
      "search", fmt::format("{} of {}{} simulated", found.simulated, counted(found.numbers, "number"), what),
      found.simulated >= found.numbers ? "all of them"
      : found.is_certain
          ? "steps between simulated ones lie between them, and no answer lies there"
          : "more would take too long; answers are exact only if nothing dips between simulated numbers");
}

/// Returns the numbers of GPUs that some answer names, without one GPU.
std::set<int> answers_of(const Crossover& c) {
  std::set<int> out{c.fastest_gpus};
  for (const std::optional<int>& answer :
       {first_of_ranges(c.slower_than_one_gpu), first_of_ranges(c.slower_than_fewer), c.efficiency_below_90,
        c.efficiency_below_80, c.efficiency_below_70, c.efficiency_below_50})
    if (answer) out.insert(*answer);
  out.erase(1);
  return out;
}

/// Adds the loss at each answer, and the sentence on the largest cause.
void explain_answers(PointPredictor& points, int most_gpus, Crossover& found) {
  const int most = found.searched;
  const StepCauses causes = causes_of(points, informative_number(found).value_or(most));
  for (const int gpus : answers_of(found))
    found.causes.push_back(cause_of_loss(points, gpus, causes.in_turn));
  found.cause = job_losses(points.simulator().scenario(), most) + cause_sentence(causes);
  const std::string why = limit(points, most_gpus);
  if (why.empty()) return;
  found.cause += fmt::format("; {} GPUs cannot be used: {}", most_gpus + 1, why);
  if (!found.no_gain_from) found.no_gain_from = most_gpus + 1;
}

}  // namespace

namespace {

/// Returns true if GPUs differ: the step jumps where a slower GPU joins.
bool has_unlike_gpus(const Scenario& scenario) {
  return is_mixed(scenario.cluster) || has_slow_gpus(scenario);
}

/// Returns the listed numbers, and on mixed clusters also every number that ends with a whole node.
std::vector<int> whole_nodes_of(const Scenario& scenario) {
  std::vector<int> listed = scenario.gpus;
  if (!is_mixed(scenario.cluster)) return listed;
  int gpus = 0;
  for (const NodeCapacity& node : nodes_of_job(scenario)) listed.push_back(gpus += node.gpus);
  return listed;
}

}  // namespace

int most_searched(const Scenario& scenario) {
  const std::int64_t gpus = gpus_of_job(scenario);
  const std::int64_t useful =
      find_strategy(scenario.strategy)->one_gpu ? 1 : std::min(gpus, scenario.global_batch.value_or(gpus));
  const std::int64_t listed = scenario.gpus.empty() ? 1 : scenario.gpus.back();
  return most_usable_gpus(
      scenario, static_cast<int>(std::max<std::int64_t>({std::min(useful, kMostSearched), listed, 1})));
}

/// Sets up the search space of the scenario.
Crossover search_crossover(PointPredictor& points, int most_gpus, const WhichNumbers& which) {
  const Scenario& scenario = points.simulator().scenario();
  const StepModel& model = points.simulator().model();
  const std::function<bool(int)> fits = [&points](int gpus) { return points.fits(gpus); };
  return find_crossover([&points](int gpus) { return points.throughput(gpus); },
                        {.most_gpus = most_gpus,
                         .gpus_per_node = scenario.cluster.node.gpus,
                         .budget = search_budget(*scenario.workload.model),
                         .samples_per_step = [&points](int gpus) { return points.samples_per_step(gpus); },
                         .jumps = has_servers(scenario) || has_unlike_gpus(scenario),
                         .every_gpu = which.every_gpu,
                         .listed = whole_nodes_of(scenario),
                         .fits = which.only_what_fits ? fits : nullptr,
                         .usable = [&](int gpus) { return model.may_be_answer(scenario, gpus); }});
}

Crossover crossover_of_job(PointPredictor& points, int most_gpus, const WhichNumbers& which,
                           Decisions& decisions) {
  Crossover found = search_crossover(points, most_gpus, which);
  explain_answers(points, most_gpus, found);
  explain_search(found, points, most_gpus, which.every_gpu, decisions);
  return found;
}

}  // namespace foretrain
