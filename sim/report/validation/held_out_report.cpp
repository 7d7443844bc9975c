// Writes a cross-validation: first the gap between constants in use and constants fitted without the group,
// then every group, then the width of intervals.
//
// "In use" are the constants of this version, "left out" constants that were fitted again without the group,
// and "fitted to all" constants that were fitted to every row. The gap between the first two shows
// over-fitting.
#include <algorithm>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/decimal.hpp"
#include "sim/report/json_value.hpp"
#include "sim/report/validation/validation_catalog.hpp"

namespace foretrain {

namespace {

/// Returns "cluster", "gpu" or "source".
std::string_view word_of(HoldOutUnit by) { return kLeftOutNames[static_cast<std::size_t>(by)]; }

/// Returns the summary: errors with and without the scored group's rows, number of rows, and coverage of
/// intervals.
std::string gap_line(const LeaveOneOut& v) {
  const HeldOutScores& s = v.all;
  std::string out = fmt::format(
      "over-fitting: without the rows of the {} that is scored the median error is {} % instead of {} %, p90 "
      "{} "
      "instead of {}\n",
      word_of(v.by), percent(s.left_out.median, 2), percent(s.in_use.median, 2), percent(s.left_out.p90, 1),
      percent(s.in_use.p90, 1));
  // Large messages are listed separately, since bandwidth decides their time.
  if (s.large_rows > 0)
    out += fmt::format("from 4 MiB on: {} % instead of {} %\n", percent(s.large_left_out.median, 2),
                       percent(s.large_in_use.median, 2));
  out += fmt::format("{} in {}, {} fitted again", counted(s.rows, "row"),
                     counted(std::ssize(v.groups), std::string(word_of(v.by))),
                     counted(v.constants, "constant"));
  if (v.unscored > 0) out += fmt::format("; {} not scored", counted(v.unscored, "row"));
  return out + fmt::format("; fitted to all rows the median would be {} %\n", percent(s.of_all.median, 2)) +
         fmt::format("90 % intervals of a machine that nobody measured hold {} % of the rows\n",
                     percent(s.coverage, 1));
}

/// Returns the line of a group. Columns: rows; median and 90th percentile with constants in use and with the
/// group held out; bias; coverage of the 90 % interval.
std::string group_line(const HeldOutGroup& g) {
  const HeldOutScores& s = g.scores;
  return fmt::format("{:>5}  {:>6} % {:>7} %  {:>6} % {:>7} %  {:>6} %  {:>6} %  {}\n", s.rows,
                     percent(s.in_use.median, 1), percent(s.in_use.p90, 1), percent(s.left_out.median, 1),
                     percent(s.left_out.p90, 1), signed_percent(s.left_out.bias, 1), percent(s.coverage, 1),
                     g.name);
}

/// Returns the heading of a table of groups.
std::string heading_of_groups(std::string_view what) {
  return fmt::format(
      "\n{:>5}  {:>18}  {:>18}  {:>8}  {:>8}  {}\n{:>5}  {:>8} {:>9}  {:>8} {:>9}  {:>8}  {:>8}\n", "rows",
      "constants in use", "left out", "", "in 90 %", what, "", "median", "p90", "median", "p90", "bias",
      "interval");
}

/// Returns the coverage and width of intervals by class.
std::string spread_lines(const LeaveOneOut& v) {
  std::string out =
      fmt::format("\n{:>5} {:>8}  {}\n", "rows", "in 90 %", v.kind == "one GPU" ? "networks" : "path");
  for (const HeldOutGroup& g : v.classes)
    out += fmt::format("{:>5} {:>6} %  {}, interval of {} % of the prediction\n", g.scores.rows,
                       percent(g.scores.coverage, 1), g.name, percent(g.scores.width, 0));
  return out;
}

// Smaller groups are not judged.
constexpr int kFewestJudged = 10;

/// Returns true for a view of two keys, such as a strategy on a cluster.
bool is_pair(const HeldOutGroup& g) { return g.name.find(" on ") != std::string::npos; }

/// Returns the line of a view. For trainings the error of perfect scaling is added, which a prediction has to
/// beat.
std::string view_line(const LeaveOneOut& v, const HeldOutGroup& g) {
  std::string line = group_line(g);
  if (v.kind != "scaling") return line;
  // The line's end is removed, so that the addition stands on the same line.
  line.pop_back();
  return line + fmt::format("; perfect scaling {} %, p90 {} %\n", percent(g.scores.linear.median, 1),
                            percent(g.scores.linear.p90, 1));
}

/// Returns the views, and those groups in which perfect scaling is nearer to the measurements.
std::string view_lines(const LeaveOneOut& v) {
  if (v.views.empty()) return "";
  std::string out = heading_of_groups(v.kind == "collective" ? "operation" : "strategy"), lost;
  for (const HeldOutGroup& g : v.views) {
    const HeldOutScores& s = g.scores;
    if (!is_pair(g))
      out += view_line(v, g);
    else if (v.kind == "scaling" && s.rows >= kFewestJudged && s.left_out.median > s.linear.median)
      lost += view_line(v, g);
  }
  if (v.kind == "scaling")
    out += lost.empty() ? fmt::format("\nBetter than perfect scaling in every group of {} rows and more.\n",
                                      kFewestJudged)
                        : heading_of_groups("where perfect scaling is nearer, 10 rows and more") + lost;
  return out;
}

/// Returns the whole report.
std::string write_table(const LeaveOneOut& v) {
  std::string out = gap_line(v) + heading_of_groups(word_of(v.by));
  for (const HeldOutGroup& g : v.groups) out += group_line(g);
  return out + view_lines(v) + spread_lines(v);
}

/// Returns the scores of a group; errors are shares.
Json scores_json(const HeldOutScores& s) {
  const auto errors = [](const ErrorStatistics& e) {
    return Json{{"median", e.median}, {"p90", e.p90}, {"mean", e.mean}, {"bias", e.bias}};
  };
  Json out{{"rows", s.rows},
           {"in_use", errors(s.in_use)},
           {"fitted_to_all", errors(s.of_all)},
           {"left_out", errors(s.left_out)},
           {"coverage", s.coverage},
           {"width", s.width}};
  out["large_left_out"] = s.large_rows > 0 ? errors(s.large_left_out) : Json(nullptr);
  return out;
}

/// Returns a list of groups with their names.
Json groups_json(const std::vector<HeldOutGroup>& groups) {
  Json out = Json::array();
  for (const HeldOutGroup& g : groups) {
    Json row = scores_json(g.scores);
    row["name"] = g.name;
    out.push_back(std::move(row));
  }
  return out;
}

/// Returns foretrain.left_out/1.
std::string write_left_out_json(const LeaveOneOut& v) {
  Json out{{"schema", "foretrain.left_out/1"}, {"left_out", word_of(v.by)}, {"kind", v.kind},
           {"constants", v.constants},         {"unscored", v.unscored},    {"all", scores_json(v.all)}};
  out["groups"] = groups_json(v.groups);
  out["views"] = groups_json(v.views);
  out["kinds"] = groups_json(v.classes);
  return json_text(out);
}

}  // namespace

const HeldOutReportEntry kLeftOutReports[kLeftOutFormats] = {{"table", write_table},
                                                             {"json", write_left_out_json}};

}  // namespace foretrain
