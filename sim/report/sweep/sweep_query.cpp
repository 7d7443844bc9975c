// Answers questions about a sweep. Every question is one SELECT that contains the user's expressions. The
// file is open for reading only, and SQLite is told to refuse everything but computation.
#include "sim/report/sweep/sweep_query.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/report/sweep/sweep_database.hpp"

namespace foretrain {

namespace {

// Limits on SQLite's operations: for a question, and for each row. They are some seconds of work.
constexpr std::int64_t kOperations = 200'000'000, kOperationsOfRow = 5'000;
// Largest number of rows among which a Pareto front is searched.
constexpr std::size_t kMostCompared = 20'000'000;
// Largest number of values of an axis that are shown one by one; more are grouped into so many ranges.
constexpr std::int64_t kMostShownValues = 24, kRanges = 8;

// Figures that are shown when --columns is not given.
constexpr std::string_view kUsualFigures[] = {"step_s",    "samples_per_s", "efficiency", "total_s",
                                              "gpu_hours", "energy_kwh",    "cost",       "fits"};

// Answers one question.
class Asker {
 public:
  Asker(const std::string& database, const SweepQuestion& question)
      : file_(database, SqlAccess::read), question_(question), head_(read_sweep_head(file_)) {
    sweep_ = kept_sweep(head_);
    all_ = file_.integer_of("SELECT count(*) FROM cases");
    file_.only_read(kOperations + kOperationsOfRow * all_);
    // The filter begins with cases that run, or with those that failed.
    filter_ = fmt::format("message IS {}NULL", question.failed ? "NOT " : "");
    if (question.where.empty()) return;
    check(question.where, "--where");
    filter_ += fmt::format(" AND ({}\n)", question.where);
  }

  /// Returns the answer to the kind of question that was asked.
  SweepAnswer answer() {
    out_.sweep = head_.name;
    if (!question_.effects.empty())
      effects();
    else if (!question_.pareto.empty())
      front();
    else
      rows();
    return std::move(out_);
  }

 private:
  /// Checks an expression by itself. A mistake is then reported for its option, and an expression cannot
  /// close a bracket of the query around it.
  void check(const std::string& expression, std::string_view option) {
    file_.prepare_foreign(fmt::format("SELECT ({}\n) FROM cases", expression), option);
  }

  /// Returns the names of the axes that vary.
  std::vector<std::string> axes() const {
    std::vector<std::string> names;
    const SweepCases cases(sweep_, head_.strategy, {head_.name, head_.text});
    for (const StudyAxis* axis : cases.columns()) names.push_back(axis->name);
    return names;
  }

  /// Returns the columns of the answer, as SQL expressions.
  std::vector<std::string> shown() {
    std::vector<std::string> out;
    for (const std::string& column : question_.columns) check(column, "--columns"), out.push_back(column);
    if (!out.empty()) return out;
    for (const std::string& axis : axes()) out.push_back(sql_name(axis));
    if (question_.failed) return out.emplace_back(kMessageColumn), out;
    for (const std::string_view figure : kUsualFigures) {
      if (is_known(figure)) out.emplace_back(figure);
    }
    return out;
  }

  /// Returns true when any row has this figure.
  bool is_known(std::string_view figure) {
    return file_.prepare_foreign(fmt::format("SELECT 1 FROM cases WHERE {} IS NOT NULL LIMIT 1", figure), "")
        .step();
  }

  /// Returns the heading with the numbers of found and of all cases.
  std::string heading_of(std::int64_t found, const std::string& rest) const {
    return fmt::format("{}: {} of {}{}", head_.name, found, counted(all_, "case"), rest);
  }

  /// Returns the number of cases that the filter selects.
  std::int64_t count() {
    SqlStatement query = file_.prepare_foreign("SELECT count(*) FROM cases WHERE " + filter_, "--where");
    return query.step() ? query.integer(0) : 0;
  }

  /// Answers with rows, ordered by --best or by number.
  void rows() {
    std::string order(kNumberColumn), filter = filter_;
    if (!question_.best.empty()) {
      check(question_.best, "--best");
      order = fmt::format("({}\n), {}", question_.best, kNumberColumn);
      filter += fmt::format(" AND ({}\n) IS NOT NULL", question_.best);
    }
    take(fmt::format("SELECT {} FROM cases WHERE {} ORDER BY {} LIMIT {}", list(shown()), filter, order,
                     question_.most));
    const std::string best = question_.best.empty() ? "" : ", smallest " + question_.best + " first";
    out_.heading = heading_of(count(), best);
  }

  /// Joins expressions. Each is in brackets with a line end, so that a comment in it cannot swallow what
  /// follows.
  static std::string list(const std::vector<std::string>& columns) {
    std::string out;
    for (const std::string& column : columns) out += fmt::format("{}({}\n)", out.empty() ? "" : ", ", column);
    return out;
  }

  /// Stores the names of the columns, without the quotes of SQL.
  void name_columns(const std::vector<std::string>& columns) {
    for (const std::string& column : columns) {
      const bool is_quoted = column.size() > 2 && column.front() == '"' && column.back() == '"';
      out_.columns.push_back(is_quoted ? column.substr(1, column.size() - 2) : column);
    }
  }

  /// Stores the rows of a query.
  void take(const std::string& query) {
    name_columns(shown());
    SqlStatement rows = file_.prepare_foreign(query, "--where");
    while (rows.step()) {
      std::vector<Value>& row = out_.rows.emplace_back();
      for (int c = 0; c < rows.columns(); ++c) row.push_back(rows.value(c));
    }
  }

  /// Answers with the Pareto front. A row leaves it when another row is as good in every objective and better
  /// in one. Rows come ordered by the first objective, so only rows that are on the front already can beat a
  /// later one. O(rows * front).
  void front() {
    std::string objectives, known;
    for (const std::string& objective : question_.pareto) {
      check(objective, "--pareto");
      objectives += fmt::format(", ({}\n)", objective);
      known += fmt::format(" AND ({}\n) IS NOT NULL", objective);
    }
    SqlStatement query =
        file_.prepare_foreign(fmt::format("SELECT {}{} FROM cases WHERE {}{} ORDER BY {}, {}", kNumberColumn,
                                          objectives, filter_, known, objectives.substr(2), kNumberColumn),
                              "--pareto");
    std::vector<std::vector<double>> best;
    std::vector<std::int64_t> numbers;
    std::size_t looked = 0;
    while (query.step()) {
      if (++looked > kMostCompared)
        throw InputError("too many cases for a Pareto front", "fewer with --where");
      std::vector<double> row;
      for (int c = 1; c < query.columns(); ++c) row.push_back(query.number(c));
      if (std::ranges::any_of(best, [&](const auto& other) { return is_beaten(row, other); })) continue;
      best.push_back(std::move(row)), numbers.push_back(query.integer(0));
    }
    show_front(numbers, looked);
  }

  /// Returns true when `other` is as good in every objective and better in one.
  static bool is_beaten(const std::vector<double>& row, const std::vector<double>& other) {
    for (std::size_t i = 0; i < row.size(); ++i)
      if (other[i] > row[i]) return false;
    return other != row;
  }

  /// Stores the rows of the front, in the order of the first objective.
  void show_front(const std::vector<std::int64_t>& numbers, std::size_t looked) {
    name_columns(shown());
    const std::string query = fmt::format("SELECT {} FROM cases WHERE number = ?1", list(shown()));
    SqlStatement row_of = file_.prepare_foreign(query, "--columns");
    for (std::size_t i = 0; i < numbers.size() && i < static_cast<std::size_t>(question_.most); ++i) {
      row_of.reset();
      row_of.bind(0, numbers[i]);
      if (!row_of.step()) continue;
      std::vector<Value>& row = out_.rows.emplace_back();
      for (int c = 0; c < row_of.columns(); ++c) row.push_back(row_of.value(c));
    }
    out_.heading = heading_of(static_cast<std::int64_t>(numbers.size()),
                              fmt::format(" of which {} are compared: no other is better in all of {}",
                                          looked, fmt::join(question_.pareto, ", ")));
    if (numbers.size() > out_.rows.size())
      out_.warnings.push_back(
          fmt::format("{} more are on the front: --most", numbers.size() - out_.rows.size()));
  }

  /// Answers with the effect of each axis. For each value, over all cases that have it: number, mean and
  /// best.
  void effects() {
    check(question_.effects, "--effects");
    out_.columns = {"axis", "value", "cases", "mean", "best", "mean over the axis' best"};
    for (const std::string& axis : axes()) add_effect(axis);
    out_.heading = heading_of(count(), fmt::format(": {} by each axis", question_.effects));
  }

  /// Returns the SQL expression of the value to group by; empty when there are too many values.
  std::string value_of(const std::string& axis) {
    const std::string name = sql_name(axis);
    SqlStatement query = file_.prepare_foreign(
        fmt::format("SELECT count(DISTINCT {0}), min(typeof({0})), max(typeof({0})) FROM cases WHERE {1}",
                    name, filter_),
        "--where");
    if (!query.step() || query.integer(0) <= kMostShownValues) return name;
    return "";
  }

  /// Adds the rows of one axis.
  void add_effect(const std::string& axis) {
    const std::string value = value_of(axis);
    if (value.empty()) return add_ranges(axis);
    SqlStatement query = file_.prepare_foreign(
        fmt::format(
            "SELECT {0}, count(*), avg(({1}\n)), min(({1}\n)) FROM cases WHERE {2} AND ({1}\n) IS NOT "
            "NULL GROUP BY {0} ORDER BY 1",
            value, question_.effects, filter_),
        "--effects");
    std::vector<EffectRow> rows;
    while (query.step()) rows.push_back({query.value(0), query.integer(1), query.number(2), query.number(3)});
    add_rows(axis, rows);
  }

  // A value of an axis, with the cases that have it.
  struct EffectRow {
    Value value;
    std::int64_t cases = 0;
    double mean = 0, best = 0;
  };

  /// Adds the rows of an axis with many values: ranges of equally many cases.
  void add_ranges(const std::string& axis) {
    SqlStatement query = file_.prepare_foreign(
        fmt::format("SELECT {0}, ({1}\n) FROM cases WHERE {2} AND ({1}\n) IS NOT NULL ORDER BY 1",
                    sql_name(axis), question_.effects, filter_),
        "--effects");
    std::vector<std::pair<Value, double>> all;
    while (query.step()) all.emplace_back(query.value(0), query.number(1));
    std::vector<EffectRow> rows;
    const std::size_t size = (all.size() + kRanges - 1) / kRanges;
    for (std::size_t from = 0; from < all.size(); from += size) {
      const std::size_t to = std::min(all.size(), from + size);
      EffectRow row{{text_of(all[from].first) + " … " + text_of(all[to - 1].first)}, 0, 0, all[from].second};
      for (std::size_t i = from; i < to; ++i) {
        ++row.cases, row.mean += all[i].second;
        row.best = std::min(row.best, all[i].second);
      }
      row.mean /= static_cast<double>(row.cases);
      rows.push_back(std::move(row));
    }
    add_rows(axis, rows);
  }

  /// Stores the rows. An axis with a single value has no effect and is left out.
  void add_rows(const std::string& axis, const std::vector<EffectRow>& rows) {
    if (rows.size() < 2) return;
    const double least = std::ranges::min_element(rows, {}, &EffectRow::mean)->mean;
    for (const EffectRow& row : rows)
      out_.rows.push_back({{axis}, row.value, {row.cases}, {row.mean}, {row.best}, {row.mean / least}});
  }

  SqlFile file_;
  const SweepQuestion& question_;
  SweepHead head_;
  Sweep sweep_;
  std::int64_t all_ = 0;
  std::string filter_;
  SweepAnswer out_;
};

}  // namespace

SweepAnswer query_sweep(const std::string& database, const SweepQuestion& question) {
  return Asker(database, question).answer();
}

}  // namespace foretrain
