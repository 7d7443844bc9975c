// A recorded program on any number of ranks that its recordings tell of, each prepared for replay once.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sim/workload/program/expand_program.hpp"

namespace foretrain {

/// A program as it is replayed: an entry of `ranks` for each kind of program.ranks.
struct ReplayedProgram {
  Program program;
  std::vector<ExpandedRank> ranks;
};

/// What a program is on a number of ranks, without its rows.
struct ReplayFacts {
  std::string why_not{};     ///< why it cannot be replayed, a sentence; empty: it can
  std::int64_t samples = 1;  ///< that all ranks train in an optimizer step; 1 a rank where nobody knows
  ProgramMemory memory{};    ///< of the kind that holds most
};

/// For several threads.
class ProgramReplays {
 public:
  /// Recordings of one program, at least one, on different numbers of ranks.
  explicit ProgramReplays(std::vector<std::shared_ptr<const Program>> recorded);

  const ReplayFacts& facts_on(std::int64_t ranks) const;
  /// The recording itself on that many ranks; else its numbers as functions of the ranks, from the two
  /// recordings next to them (program_growth.hpp). nullptr where facts_on() says why not.
  std::shared_ptr<const ReplayedProgram> on(std::int64_t ranks) const;
  /// On the fewest ranks.
  const Program& first() const { return *recorded_.front(); }
  std::vector<std::int64_t> worlds() const;
  /// "32", "16 and 64"
  std::string recorded_on() const;

 private:
  std::vector<std::shared_ptr<const Program>> recorded_;  ///< fewest ranks first
  mutable std::mutex mutex_;
  /// Each holds all rows: the last few that were asked for stay.
  static constexpr std::size_t kMostKept = 16;
  std::shared_ptr<const ReplayedProgram> made(std::int64_t ranks) const;
  mutable std::list<std::pair<std::int64_t, std::shared_ptr<const ReplayedProgram>>> kept_;
  mutable std::map<std::int64_t, ReplayFacts> facts_;
};

}  // namespace foretrain
