// Makes a trace of recorded ranks: which rank stands for which others, and notes on what was left out.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/prediction/chrome_trace.hpp"
#include "sim/report/prediction/parallel_trace.hpp"

namespace foretrain {

namespace {

// Largest number of links of a node; more could not be viewed.
constexpr std::size_t kMostLinks = 48;

/// Returns the name of a rank, with how many ranks it stands for.
std::string rank_name(const RecordedRank& recorded) {
  const Representative& rank = recorded.rank;
  std::string name = fmt::format("rank {}", rank.first);
  if (rank.ranks > 1 && rank.ranks == recorded.gpus) name += fmt::format(" (stands for all {})", rank.ranks);
  if (rank.ranks > 1 && rank.ranks < recorded.gpus)
    name += fmt::format(" (stands for {} ranks of {})", rank.ranks, recorded.gpus);
  return name + (recorded.is_alone ? ", as if it waited for nobody slower" : "");
}

/// Returns the rank with the work of its layers and its links. Memory that lasts is everything but
/// activations and workspace.
TracedRank traced(const RecordedRank& recorded, const Scenario& scenario, const MemoryUse& memory) {
  const ExpandedModel& model = *scenario.workload.model;
  const Plan& plan = recorded.steps.plan;
  TracedRank rank{plan.graph, recorded.steps.timeline, plan.step_ends, model.layer_names};
  rank.work = layer_work(model, static_cast<double>(recorded.rank.batch));
  rank.links = recorded.links;
  if (rank.links.size() > kMostLinks) rank.links.resize(kMostLinks);
  rank.name = rank_name(recorded);
  rank.lasting_bytes = static_cast<double>((memory.total() - memory.activations - memory.workspace).count);
  return rank;
}

}  // namespace

std::string write_trace(const StepRecording& recorded, const Scenario& scenario, const MemoryUse& memory,
                        int steps) {
  // Large models are traced by pipeline stage, with a writer of their own.
  if (recorded.stages) return write_parallel_trace(*recorded.stages);
  std::vector<TracedRank> ranks;
  TraceRequest request{steps};
  int shown = 0;
  std::size_t links = 0;
  for (const RecordedRank& one : recorded.ranks) {
    ranks.push_back(traced(one, scenario, memory));
    shown += one.rank.ranks, links = std::max(links, one.links.size());
  }
  const auto simulated = static_cast<int>(ranks.front().step_ends.size());
  if (simulated > steps)
    request.notes.push_back(fmt::format("the first {} are left out (--trace-steps)",
                                        counted(simulated - steps, "simulated step")));
  if (const int gpus = recorded.ranks.front().gpus; shown < gpus)
    request.notes.push_back(fmt::format("{} of {} ranks are left out (--trace-ranks)", gpus - shown, gpus));
  if (links > kMostLinks)
    request.notes.push_back(fmt::format("{} links at the node are left out", links - kMostLinks));
  return write_chrome_trace(ranks, request);
}

}  // namespace foretrain
