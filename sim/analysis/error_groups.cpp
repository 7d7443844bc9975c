// Keys are a table of functions from a row to its value.
#include "sim/analysis/error_groups.hpp"

#include <algorithm>
#include <map>

namespace foretrain {

namespace {

struct GroupKeyRow {
  std::string_view name;
  std::string (*value)(const ValidatedPoint& point);
};

constexpr GroupKeyRow kKeys[] = {
    {"cluster", [](const ValidatedPoint& p) { return p.row.cluster; }},
    {"gpu", [](const ValidatedPoint& p) { return p.row.gpu; }},
    {"model", [](const ValidatedPoint& p) { return p.row.model; }},
    {"precision", [](const ValidatedPoint& p) { return p.row.precision; }},
    {"strategy", [](const ValidatedPoint& p) { return p.row.strategy; }},
    {"batch", [](const ValidatedPoint& p) { return std::to_string(p.row.batch_per_gpu); }},
    {"gpus", [](const ValidatedPoint& p) { return std::to_string(p.gpus); }},
};

std::vector<std::string> values_of(const ValidatedPoint& point, const GroupKeys& keys) {
  std::vector<std::string> values;
  for (const std::string& key : keys) {
    const auto* row = std::ranges::find(kKeys, std::string_view(key), &GroupKeyRow::name);
    values.push_back(row->value(point));
  }
  return values;
}

}  // namespace

const std::vector<std::string>& error_group_keys() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list;
    for (const GroupKeyRow& row : kKeys) list.emplace_back(row.name);
    return list;
  }();
  return names;
}

std::vector<ErrorGroup> group_errors(const Validation& validation, const GroupKeys& keys) {
  struct Members {
    std::vector<double> errors;
    int contained = 0;
  };
  std::map<std::vector<std::string>, Members> members;
  for (const ValidatedSeries& series : validation.series) {
    for (const ValidatedPoint& point : series.points) {
      Members& group = members[values_of(point, keys)];
      group.errors.push_back(point.predicted / point.measured - 1);
      group.contained += point.low <= point.measured && point.measured <= point.high ? 1 : 0;
    }
  }
  std::vector<ErrorGroup> groups;
  for (const auto& [values, group] : members) {
    const auto rows = static_cast<int>(group.errors.size());
    groups.push_back({values, rows, statistics_of(group.errors), group.contained / static_cast<double>(rows)});
  }
  std::stable_sort(groups.begin(), groups.end(), [](const ErrorGroup& a, const ErrorGroup& b) { return a.error.median > b.error.median; });
  return groups;
}

}  // namespace foretrain
