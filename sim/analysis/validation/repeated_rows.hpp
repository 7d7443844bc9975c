// Rows of a listing that repeat: which runs of them to show once with a count.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace foretrain {

/// Rows first .. first + length - 1 stand `count` times one after the other.
struct RowGroup {
  std::size_t first = 0, length = 1, count = 1;
  friend bool operator==(const RowGroup&, const RowGroup&) = default;
};

/// One row of a listing: equal keys look alike; dots in the name part it into levels ("encoder.3.query").
struct RepeatableRow {
  std::uint64_t key = 0;
  std::string name;
};

/// Covers all rows, in order, by groups that print the fewest lines (a group of several rows costs a
/// heading). A group repeats rows of one level, or whole levels ("encoder.0.", "encoder.1."), never parts of
/// them. Repetitions of more than kLongestRepetition rows are not found.
inline constexpr std::size_t kLongestRepetition = 256;
std::vector<RowGroup> fold_repeated(const std::vector<RepeatableRow>& rows);

}  // namespace foretrain
