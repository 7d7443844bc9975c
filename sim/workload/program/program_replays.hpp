// A recorded program on any number of ranks that its recordings tell of, each prepared for replay once.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "sim/workload/program/expand_program.hpp"

namespace foretrain {

/// A program as it is replayed: an entry of `ranks` for each kind of program.ranks.
struct ReplayedProgram {
  Program program;
  std::vector<ExpandedRank> ranks;
  std::string why_not;  ///< why there is none on so many ranks, a sentence; empty: there is
};

/// For several threads.
class ProgramReplays {
 public:
  /// Recordings of one program, at least one, on different numbers of ranks.
  explicit ProgramReplays(std::vector<std::shared_ptr<const Program>> recorded);

  /// The recording itself on that many ranks; else its numbers as functions of the ranks, from the two
  /// recordings next to them (program_growth.hpp).
  std::shared_ptr<const ReplayedProgram> on(std::int64_t ranks) const;
  /// On the fewest ranks.
  const Program& first() const { return *recorded_.front(); }
  std::vector<std::int64_t> worlds() const;
  /// "32", "16 and 64"
  std::string recorded_on() const;

 private:
  std::vector<std::shared_ptr<const Program>> recorded_;  ///< fewest ranks first
  mutable std::mutex mutex_;
  mutable std::map<std::int64_t, std::shared_ptr<const ReplayedProgram>> known_;
};

}  // namespace foretrain
