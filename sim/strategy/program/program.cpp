// Replay of all kinds of ranks in one task graph.
//
// The kinds take turns: each issues events until it has to wait for an event that another kind has not issued
// yet. A round without progress ends the replay; if a kind is not done then, the recorded ranks deadlock.
// Order comes from the recording, durations from the models.
#include "sim/strategy/program/program.hpp"

#include <algorithm>
#include <memory>
#include <stdexcept>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/diagnostics.hpp"
#include "sim/strategy/program/rank_replay.hpp"

namespace foretrain {

namespace {

/// Returns the placement with `rank` first, so that it becomes the representative.
Placement turned(const Placement& job, std::int64_t rank) {
  Placement out = job;
  std::rotate(out.ranks.begin(), out.ranks.begin() + static_cast<std::ptrdiff_t>(rank), out.ranks.end());
  return out;
}

/// The request of each kind, and the placements that it refers to. Pointers keep addresses valid while
/// vectors grow.
struct KindRequests {
  std::vector<std::unique_ptr<Placement>> placements;
  std::vector<std::unique_ptr<PlanRequest>> requests;
};

/// The kind of rank 0 takes the request unchanged. Every other kind sees a placement that is turned to its
/// first rank, with the job's order beside it.
KindRequests requests_of(const PlanRequest& request, const Program& program) {
  KindRequests out;
  for (const ProgramRank& kind : program.ranks) {
    if (kind.rank == 0) {
      out.requests.push_back(std::make_unique<PlanRequest>(request));
      continue;
    }
    const Placement& job = request.job != nullptr ? *request.job : request.placement;
    out.placements.push_back(std::make_unique<Placement>(turned(job, kind.rank)));
    out.requests.push_back(std::make_unique<PlanRequest>(
        PlanRequest{request.workload, request.cluster, *out.placements.back(), request.knobs, request.device,
                    request.steps, request.collective, request.reuse, request.calls, &job}));
  }
  return out;
}

/// Runs all kinds to their end. Throws InputError when they wait for each other.
void run(std::vector<std::unique_ptr<RankReplay>>& kinds) {
  bool any = true;
  while (any) {
    any = false;
    for (const auto& kind : kinds) any = kind->advance() || any;
  }
  if (std::ranges::all_of(kinds, [](const auto& kind) { return kind->is_done(); })) return;
  throw InputError(
      "The recorded ranks wait for each other for ever",
      "record one rank of every kind of the same program: a receive needs the send of another kind");
}

}  // namespace

Plan plan_program(const PlanRequest& request) {
  const ProgramOptions& options = request.options<ProgramOptions>();
  if (!options.replays) throw InputError("Strategy \"program\" needs a recorded program", "--program FILE");
  const auto replayed = options.replays->on(request.placement.size());
  if (!replayed) throw InputError(options.replays->facts_on(request.placement.size()).why_not);
  Plan plan;
  ReplayMeeting meeting;
  const KindRequests requests = requests_of(request, replayed->program);
  std::vector<std::unique_ptr<RankReplay>> kinds;
  for (std::size_t kind = 0; kind < requests.requests.size(); ++kind)
    kinds.push_back(
        std::make_unique<RankReplay>(*requests.requests[kind], plan.graph, *replayed, kind, meeting));
  run(kinds);
  // The kind with most kernel time bounds the step.
  const auto busiest = std::ranges::max_element(
      kinds, {}, [](const std::unique_ptr<RankReplay>& kind) { return kind->kernel_s(); });
  plan.step_ends = (*busiest)->step_ends();
  plan.decisions = (*busiest)->decisions();
  // Buckets are the collectives of its backward pass.
  for (const ProgramRow& row :
       replayed->program.ranks[static_cast<std::size_t>(busiest - kinds.begin())].rows) {
    if (row.kind == ProgramRow::Kind::collective && row.pass == ProgramPass::backward)
      plan.buckets.push_back(row.bytes);
  }
  return plan;
}

StrategyEntry program_strategy() {
  return {.name = "program",
          .summary = "a recorded program (--program FILE), issued again",
          .plan = plan_program,
          .framework = FrameworkKind::pytorch,
          .needs = "a program file"};
}

}  // namespace foretrain
