// The rows of a kind of ranks of a program file.
#pragma once

#include <vector>

#include "sim/scenario/schema/recorded_rows.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// What one of [[program.ranks]] is read into.
struct ProgramRankText {
  RecordedText text;
  ProgramRank rank;
  std::vector<RecordedReference> groups{}, peers{};  ///< in the order of the rows that name them
};

/// The list `operators`: operators, collectives, sends, receives, waits.
void read_program_rows(TableReader& table, std::string_view key, ProgramRankText& to);

/// The lists of ranks of a program file while it is read, by their number.
struct RankLists {
  std::vector<RankSequence> sequences;
  std::size_t irregular = 0;  ///< of these have `ranks`, since no stride says which they are
};
inline constexpr std::size_t kMostListedRanks = 100'000;
/// A list of rank sequences: { first = 0, size = 8, stride = 1 }, or with `count` for `size`.
RankLists read_rank_sequences(TableReader& table, std::string_view key, std::size_t most);

/// For the reference page.
std::vector<KeyTable> program_row_tables();

}  // namespace foretrain
