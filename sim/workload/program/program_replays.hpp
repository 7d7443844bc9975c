// Recorded programs on any number of ranks that the recordings determine, each prepared for replay once.
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

/// A program ready for replay, with one entry of `ranks` for each kind of program.ranks.
struct ReplayedProgram {
  Program program;
  std::vector<ExpandedRank> ranks;
};

/// Facts about a program on a number of ranks, without its rows.
struct ReplayFacts {
  std::string why_not{};  ///< why it cannot be replayed, a sentence; empty: it can
  /// Samples that all ranks train in an optimizer step; 1 a rank where it is unknown.
  std::int64_t samples = 1;
  /// Memory of the kind that holds most.
  ProgramMemory memory{};
};

/// The replays of one program. All functions may be called from several threads: a mutex guards what is kept,
/// and the returned programs are immutable.
class ProgramReplays {
 public:
  /// Takes recordings of one program on different numbers of ranks, at least one, in any order.
  explicit ProgramReplays(std::vector<std::shared_ptr<const Program>> recorded);

  /// Returns the facts on this number of ranks. The reference stays valid as long as this object.
  const ReplayFacts& facts_on(std::int64_t ranks) const;
  /// Returns the recording itself where there is one on this number of ranks. Otherwise it returns a program
  /// whose numbers are functions of the ranks, from the two recordings next to it (program_growth.hpp).
  /// Returns nullptr where facts_on() says why not.
  std::shared_ptr<const ReplayedProgram> on(std::int64_t ranks) const;
  /// Returns the recording on the fewest ranks.
  const Program& first() const { return *recorded_.front(); }
  /// Returns the numbers of ranks of all recordings, in ascending order.
  std::vector<std::int64_t> worlds() const;
  /// Returns the same as text: "32", "16 and 64".
  std::string recorded_on() const;

 private:
  std::vector<std::shared_ptr<const Program>> recorded_;  ///< fewest ranks first
  mutable std::mutex mutex_;
  /// Number of programs that stay; each holds all its rows. The one that was used least recently goes first.
  static constexpr std::size_t kMostKept = 16;
  std::shared_ptr<const ReplayedProgram> made(std::int64_t ranks) const;
  mutable std::list<std::pair<std::int64_t, std::shared_ptr<const ReplayedProgram>>> kept_;
  mutable std::map<std::int64_t, ReplayFacts> facts_;
};

}  // namespace foretrain
