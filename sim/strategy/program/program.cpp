// The kinds take turns: each issues what it can, until it has to wait for what another has not issued yet.
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

/// The ranks with `rank` first.
Placement turned(const Placement& job, std::int64_t rank) {
  Placement out = job;
  std::rotate(out.ranks.begin(), out.ranks.begin() + static_cast<std::ptrdiff_t>(rank), out.ranks.end());
  return out;
}

/// What each kind sees of the job.
struct KindRequests {
  std::vector<std::unique_ptr<Placement>> placements;
  std::vector<std::unique_ptr<PlanRequest>> requests;
};

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
  const auto busiest = std::ranges::max_element(
      kinds, {}, [](const std::unique_ptr<RankReplay>& kind) { return kind->kernel_s(); });
  plan.step_ends = (*busiest)->step_ends();
  plan.decisions = (*busiest)->decisions();
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
