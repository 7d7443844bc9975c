// A cache of prepared programs. The facts of every number of ranks stay; programs are large, so only the last
// few do.
#include "sim/workload/program/program_replays.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/workload/program/program_growth.hpp"

namespace foretrain {

namespace {

/// Returns the recording on this number of ranks, or the growth from the two nearest ones.
GrownProgram program_of(const std::vector<std::shared_ptr<const Program>>& recorded, std::int64_t ranks) {
  for (const auto& program : recorded) {
    if (program->world == ranks) return {*program, {}};
  }
  // A single recording does not show how its numbers grow.
  if (recorded.size() == 1)
    return {{}, fmt::format("the program was recorded on {} ranks alone", recorded.front()->world)};
  std::size_t upper = 1;
  while (upper + 1 < recorded.size() && recorded[upper]->world < ranks) ++upper;
  return program_on(*recorded[upper - 1], *recorded[upper], ranks);
}

}  // namespace

ProgramReplays::ProgramReplays(std::vector<std::shared_ptr<const Program>> recorded)
    : recorded_(std::move(recorded)) {
  std::ranges::stable_sort(recorded_, {}, [](const auto& program) { return program->world; });
}

namespace {

/// Returns the facts of a program; its memory is that of the kind that holds most.
ReplayFacts facts_of(const Program& program) {
  ReplayFacts facts;
  facts.samples = std::max<std::int64_t>(1, program.batch) * program.data_ranks;
  for (const ProgramRank& rank : program.ranks) {
    const ProgramMemory own = memory_of(rank);
    if (own.total() > facts.memory.total()) facts.memory = own;
  }
  return facts;
}

}  // namespace

/// Returns the program on this number of ranks, prepared on first use. The caller holds the lock.
std::shared_ptr<const ReplayedProgram> ProgramReplays::made(std::int64_t ranks) const {
  const auto kept = std::ranges::find(kept_, ranks, [](const auto& one) { return one.first; });
  if (kept != kept_.end()) {
    // The list is ordered by last use.
    kept_.splice(kept_.begin(), kept_, kept);
    return kept_.front().second;
  }
  GrownProgram grown = program_of(recorded_, ranks);
  if (!grown.why_not.empty()) {
    facts_[ranks].why_not = std::move(grown.why_not);
    return nullptr;
  }
  auto program = std::make_shared<ReplayedProgram>();
  program->program = std::move(grown.program);
  for (const ProgramRank& rank : program->program.ranks) program->ranks.push_back(expand_rank(rank));
  facts_.try_emplace(ranks, facts_of(program->program));
  kept_.emplace_front(ranks, std::move(program));
  if (kept_.size() > kMostKept) kept_.pop_back();
  return kept_.front().second;
}

// A program is made under the lock, so that two threads never make the same one.
std::shared_ptr<const ReplayedProgram> ProgramReplays::on(std::int64_t ranks) const {
  const std::scoped_lock lock(mutex_);
  return made(ranks);
}

const ReplayFacts& ProgramReplays::facts_on(std::int64_t ranks) const {
  const std::scoped_lock lock(mutex_);
  // Facts come with the program; they outlive it.
  if (!facts_.contains(ranks)) made(ranks);
  return facts_.at(ranks);
}

std::vector<std::int64_t> ProgramReplays::worlds() const {
  std::vector<std::int64_t> worlds;
  for (const auto& program : recorded_) worlds.push_back(program->world);
  return worlds;
}

std::string ProgramReplays::recorded_on() const { return fmt::format("{}", fmt::join(worlds(), " and ")); }

}  // namespace foretrain
