// Names of operations, and the number of ranks of a kind.
#include "sim/workload/program/program.hpp"

#include <array>

namespace foretrain {

std::string_view name_of(WireOperation operation) {
  constexpr std::array<std::string_view, 9> kNames{"all_reduce", "all_gather", "reduce_scatter",
                                                   "broadcast",  "reduce",     "all_to_all",
                                                   "gather",     "scatter",    "barrier"};
  return kNames[static_cast<std::size_t>(operation)];
}

std::int64_t ProgramRank::count() const {
  std::int64_t ranks = 0;
  for (const RankSequence& sequence : like) ranks += sequence.size;
  return ranks;
}

}  // namespace foretrain
