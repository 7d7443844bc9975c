// The cheapest cover of a listing by groups, by dynamic programming from the last row to the first.
//
// alike[p] counts how many rows from the present one on equal the row p later, which is (count - 1)
// repetitions of p rows. When a row is reached, the cheapest cover of everything behind it is known, and so
// is every group that can begin there. The work is linear in the rows times kLongestRepetition.
#include <algorithm>
#include <string_view>

#include "sim/analysis/step/model_summary.hpp"

namespace foretrain {

namespace {

/// Returns the level of a name: "encoder.0." of "encoder.0.query"; empty at the top.
std::string_view level_of(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : name.substr(0, dot + 1);
}

/// Returns the innermost level that holds all of these rows.
std::string_view level_of(const std::vector<RepeatableRow>& rows, std::size_t first, std::size_t length) {
  std::string_view common = level_of(rows[first].name);
  for (std::size_t i = first + 1; i < first + length; ++i) {
    while (!rows[i].name.starts_with(common)) common = level_of(common.substr(0, common.size() - 1));
  }
  return common;
}

/// Returns true if these rows are a level of their own, from its first row to its last.
bool is_whole_level(const std::vector<RepeatableRow>& rows, std::size_t first, std::size_t length) {
  const std::string_view level = level_of(rows, first, length);
  const std::size_t next = first + length;
  if (level.empty()) return false;
  if (first > 0 && rows[first - 1].name.starts_with(level)) return false;
  return next == rows.size() || !rows[next].name.starts_with(level);
}

/// Returns true if the repetitions are whole levels. Only the first two and the last are checked, so that the
/// work for a row stays bounded.
bool are_whole_levels(const std::vector<RepeatableRow>& rows, const RowGroup& group) {
  const std::size_t last = group.first + group.length * (group.count - 1);
  return is_whole_level(rows, group.first, group.length) &&
         is_whole_level(rows, group.first + group.length, group.length) &&
         is_whole_level(rows, last, group.length);
}

/// Computes the cover.
class Cover {
 public:
  explicit Cover(const std::vector<RepeatableRow>& rows)
      : rows_(rows),
        cheapest_(rows.size() + 1, 0),
        chosen_(rows.size()),
        alike_(std::min(kLongestRepetition, rows.size() / 2) + 1, 0) {}

  std::vector<RowGroup> groups() {
    for (std::size_t i = rows_.size(); i-- > 0;) decide(i);
    std::vector<RowGroup> out;
    for (std::size_t i = 0; i < rows_.size(); i += out.back().length * out.back().count)
      out.push_back(chosen_[i]);
    return out;
  }

 private:
  /// Decides the best group that begins at row `i`.
  void decide(std::size_t i) {
    chosen_[i] = {i, 1, 1};
    cheapest_[i] = 1 + cheapest_[i + 1];
    const bool goes_on = i + 1 < rows_.size() && level_of(rows_[i].name) == level_of(rows_[i + 1].name);
    of_one_level_ = goes_on ? of_one_level_ + 1 : 1;
    for (std::size_t length = 1; length < alike_.size() && i + length < rows_.size(); ++length) {
      alike_[length] = rows_[i].key == rows_[i + length].key ? alike_[length] + 1 : 0;
      const std::size_t count = alike_[length] / length + 1;
      if (count > 1) consider({i, length, count});
    }
  }

  /// Takes the group if it needs fewer lines and keeps levels whole.
  void consider(const RowGroup& group) {
    const std::size_t heading = group.length > 1 ? 1 : 0;
    const std::size_t lines = heading + group.length + cheapest_[group.first + group.length * group.count];
    if (lines >= cheapest_[group.first]) return;
    const bool in_one_level = group.length * group.count <= of_one_level_;
    if (in_one_level || are_whole_levels(rows_, group))
      cheapest_[group.first] = lines, chosen_[group.first] = group;
  }

  const std::vector<RepeatableRow>& rows_;
  /// Fewest lines of the cover from each row on.
  std::vector<std::size_t> cheapest_;
  std::vector<RowGroup> chosen_;
  std::vector<std::size_t> alike_;
  /// Rows from the present one on that share a level.
  std::size_t of_one_level_ = 0;
};

}  // namespace

std::vector<RowGroup> fold_repeated(const std::vector<RepeatableRow>& rows) { return Cover(rows).groups(); }

}  // namespace foretrain
