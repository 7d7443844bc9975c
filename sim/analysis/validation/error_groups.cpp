// Keys are rows of a table: a name, and a function from a measured row to its value.
#include "sim/analysis/validation/error_groups.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "sim/base/named_rows.hpp"

namespace foretrain {

namespace {

/// A key with the function that reads its value.
struct GroupKeyRow {
  std::string_view name;
  std::string (*value)(const ValidatedRow& row, int gpus);
};

/// Returns a class of node counts with enough rows for a statistic.
std::string nodes_in_words(int nodes) {
  if (nodes <= 2) return std::to_string(nodes);
  return nodes <= 8 ? "3 to 8" : "more than 8";
}

constexpr GroupKeyRow kKeys[] = {
    {"cluster", [](const ValidatedRow& row, int) { return row.cluster; }},
    {"gpu", [](const ValidatedRow& row, int) { return row.gpu; }},
    {"model", [](const ValidatedRow& row, int) { return row.model; }},
    {"precision", [](const ValidatedRow& row, int) { return row.precision; }},
    {"strategy", [](const ValidatedRow& row, int) { return row.strategy; }},
    {"batch", [](const ValidatedRow& row, int) { return std::to_string(row.batch_per_gpu); }},
    {"gpus", [](const ValidatedRow&, int gpus) { return std::to_string(gpus); }},
    {"nodes", [](const ValidatedRow& row, int) { return nodes_in_words(row.nodes); }},
};

/// Returns the row's values for these keys.
std::vector<std::string> values_of(const ValidatedRow& row, int gpus, const GroupKeys& keys) {
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    values.push_back(find_row(kKeys, key)->value(row, gpus));
  }
  return values;
}

}  // namespace

const std::vector<std::string>& error_group_keys() {
  static const std::vector<std::string> names = names_of_rows(kKeys);
  return names;
}

std::vector<ErrorGroup> group_errors(const Validation& validation, const GroupKeys& keys) {
  // The errors and intervals of one group.
  struct Members {
    std::vector<double> errors, widths;
    int contained = 0, failed = 0;
  };
  std::map<std::vector<std::string>, Members> members;
  for (const ValidatedSeries& series : validation.series) {
    for (const ValidatedPoint& point : series.points) {
      Members& group = members[values_of(point.row, point.gpus, keys)];
      group.errors.push_back(point.predicted / point.measured - 1);
      group.widths.push_back((point.high - point.low) / point.predicted);
      group.contained += point.low <= point.measured && point.measured <= point.high ? 1 : 0;
    }
  }
  // A group that cannot be predicted at all is a failure of the model, so it is counted.
  for (const UnreachedAnchor& anchor : validation.unreached) {
    for (const UnscoredRow& row : anchor.unscored) ++members[values_of(row.row, row.gpus, keys)].failed;
  }
  std::vector<ErrorGroup> groups;
  for (const auto& [values, group] : members) {
    const auto rows = static_cast<int>(group.errors.size());
    const double coverage = rows > 0 ? group.contained / static_cast<double>(rows) : 0;
    groups.push_back({values, rows, group.failed, statistics_of(group.errors), coverage,
                      statistics_of(group.widths).median});
  }
  const auto badness = [](const ErrorGroup& group) { return std::pair(group.rows == 0, group.error.median); };
  std::ranges::stable_sort(groups, std::ranges::greater{}, badness);
  return groups;
}

}  // namespace foretrain
