// What is asked for again is kept.
#include "sim/workload/program/program_replays.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/workload/program/program_growth.hpp"

namespace foretrain {

namespace {

GrownProgram program_of(const std::vector<std::shared_ptr<const Program>>& recorded, std::int64_t ranks) {
  for (const auto& program : recorded) {
    if (program->world == ranks) return {*program, {}};
  }
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

std::shared_ptr<const ReplayedProgram> ProgramReplays::on(std::int64_t ranks) const {
  const std::scoped_lock lock(mutex_);
  std::shared_ptr<const ReplayedProgram>& known = known_[ranks];
  if (known) return known;
  GrownProgram grown = program_of(recorded_, ranks);
  auto made = std::make_shared<ReplayedProgram>();
  made->why_not = std::move(grown.why_not);
  if (made->why_not.empty()) {
    made->program = std::move(grown.program);
    for (const ProgramRank& rank : made->program.ranks) made->ranks.push_back(expand_rank(rank));
  }
  return known = std::move(made);
}

std::vector<std::int64_t> ProgramReplays::worlds() const {
  std::vector<std::int64_t> worlds;
  for (const auto& program : recorded_) worlds.push_back(program->world);
  return worlds;
}

std::string ProgramReplays::recorded_on() const { return fmt::format("{}", fmt::join(worlds(), " and ")); }

}  // namespace foretrain
