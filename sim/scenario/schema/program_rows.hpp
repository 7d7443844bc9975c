// The rows of one kind of rank of a program file.
#pragma once

#include <vector>

#include "sim/scenario/schema/recorded_rows.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// One table of [[program.ranks]] while it is read.
struct ProgramRankText {
  RecordedText text;
  ProgramRank rank;
  /// Groups and peers that rows name, in the order of the rows; they are checked when all lists are read.
  std::vector<RecordedReference> groups{}, peers{};
};

/// Reads the list `operators`: operators, collectives, sends, receives, waits. Reports rows that are none of
/// these, or several.
void read_program_rows(TableReader& table, std::string_view key, ProgramRankText& to);

/// Lists of ranks of a program file, by their number.
struct RankLists {
  std::vector<RankSequence> sequences;
  /// Number of lists with `ranks`, which no stride describes.
  std::size_t irregular = 0;
};
/// Largest number of ranks that such a list may name.
inline constexpr std::size_t kMostListedRanks = 100'000;
/// Reads a list of rank sequences: { first = 0, size = 8, stride = 1 }, or with `count` for `size`.
RankLists read_rank_sequences(TableReader& table, std::string_view key, std::size_t most);

/// Returns the rows' keys for the reference page.
std::vector<KeyTable> program_row_tables();

}  // namespace foretrain
