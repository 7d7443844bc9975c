// A row is compared column by column. Settings that a store does not name are compared through the
// predictions of both.
#include "sim/analysis/evidence/same_runs.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "sim/analysis/evidence/further_run.hpp"
#include "sim/analysis/evidence/residual_covariance.hpp"

namespace foretrain {

namespace {

/// Largest ratio of two predictions within one setup; unnamed settings such as framework versions change them
/// by up to 4 %.
constexpr double kAlikePredictions = 1.1;
/// Reach of the next run, as a factor, from which runs say no more than the simulation: of ratios, one row in
/// ten is off by as much.
constexpr double kUsefulFactor = 4.0 / 3;
/// Published runs that differ from the prediction by more than this factor are of something else (as for a
/// calibration).
constexpr double kPlausibleFactor = 3;

constexpr std::array<RowText, 5> kSetup{RowText::model, RowText::gpu, RowText::cluster, RowText::framework,
                                        RowText::precision};

/// Returns true if all named settings agree; an execution mode that the row does not state agrees with any.
bool is_same_setup(const StoredRow& row, const StoredRow& asked) {
  const TextId execution = row.text(RowText::execution);
  const bool is_one_gpu = asked.what == Observed::step;
  return row.what == asked.what && row.size == asked.size && row.gpus == asked.gpus &&
         row.nodes == asked.nodes &&
         std::ranges::all_of(kSetup, [&](RowText which) { return row.text(which) == asked.text(which); }) &&
         (execution == 0 || execution == asked.text(RowText::execution)) &&
         (is_one_gpu || row.text(RowText::strategy) == asked.text(RowText::strategy));
}

/// Keeps one row of each source and time: a time that a source lists in several series, to all nine digits of
/// a store, was measured once.
void keep_once(std::vector<const StoredRow*>& rows) {
  std::set<std::pair<TextId, double>> seen;
  std::erase_if(rows, [&](const StoredRow* row) {
    return !seen.emplace(row->text(RowText::source), row->measured).second;
  });
}

}  // namespace

std::vector<const StoredRow*> rows_of_same_run(const EvidenceTable& table, const Observation& asked,
                                               const ExcludedRows& without) {
  const StoredRow question = table.asked(asked);
  const TextId own = question.text(RowText::source);
  std::vector<const StoredRow*> rows;
  for (const StoredRow& row : table.rows()) {
    if (!is_same_setup(row, question) || without.names(table, row)) continue;
    if (std::abs(std::log(row.predicted / asked.predicted)) < std::log(kAlikePredictions))
      rows.push_back(&row);
  }
  // Own rows replace all others, because they are of the user's own software and machine.
  const auto is_others = [&](const StoredRow* row) { return row->text(RowText::source) != own; };
  if (own != 0 && !std::ranges::all_of(rows, is_others)) std::erase_if(rows, is_others);
  keep_once(rows);
  return rows;
}

Estimate estimate_by_same_runs(const EvidenceTable& table, const Observation& asked,
                               std::span<const StoredRow* const> rows) {
  const StoredRow question = table.asked(asked);
  const double bias = covariance_of(question.what).bias;
  Estimate out;
  out.spread = out.prior = std::sqrt(covariance(question, question) + noise_of(question.what) + bias * bias);
  if (rows.empty()) return out;
  std::map<TextId, std::vector<double>> values;
  std::map<TextId, const StoredRow*> first;
  for (const StoredRow* row : rows) {
    values[row->text(RowText::source)].push_back(std::log(row->measured));
    first.try_emplace(row->text(RowText::source), row);
  }
  std::vector<std::vector<double>> by_source;
  for (auto& [source, logs] : values) {
    Neighbour& n = out.neighbours.emplace_back();
    n.row = table.observation(*first[source]);
    n.row.measured = std::exp(further_run({logs}).middle), n.row.predicted = asked.predicted;
    n.repeats = static_cast<int>(logs.size()), n.weight = 1 / static_cast<double>(values.size());
    by_source.push_back(std::move(logs));
  }
  const FurtherRun next = further_run(by_source);
  out.log_factor = next.middle - std::log(asked.predicted);
  out.spread = next.reach / kStudentReach;
  out.prior = std::max(out.prior, out.spread);
  return out;
}

bool may_calibrate(const Estimate& e, const Observation& asked) {
  if (e.neighbours.empty() || kStudentReach * e.spread >= std::log(kUsefulFactor)) return false;
  const bool is_own = !asked.source.empty() && e.neighbours.front().row.source == asked.source;
  return is_own || std::abs(e.log_factor) < std::log(kPlausibleFactor);
}

}  // namespace foretrain
