// A row is a question without an answer to the field that has lost its source or its machine.
#include "sim/analysis/evidence/field_scores.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "sim/analysis/evidence/applied.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/analysis/validation/collective_validation.hpp"

namespace foretrain {

namespace {

struct Scored {
  double raw = 0, corrected = 0;  ///< log(measured / predicted)
  double spread = 0, narrowing = 1;
  bool reached = false;
};

FieldScore summary(const std::string& name, const std::vector<Scored>& rows) {
  FieldScore out;
  out.name = name, out.rows = static_cast<int>(rows.size());
  std::vector<double> raw, corrected, narrowing;
  int held = 0;
  for (const Scored& row : rows) {
    raw.push_back(std::expm1(row.raw)), corrected.push_back(std::expm1(row.corrected));
    narrowing.push_back(row.narrowing);
    held += std::abs(row.corrected) <= kReach * row.spread ? 1 : 0;
    out.reached += row.reached ? 1 : 0;
  }
  out.raw = statistics_of(raw), out.corrected = statistics_of(corrected);
  out.held = rows.empty() ? 0 : held / static_cast<double>(rows.size());
  out.narrowing = statistics_of(narrowing).median;
  return out;
}

Scored scored(const ResidualField& field, const Observation& row, FieldLeftOut left_out) {
  Observation question = row;
  const bool by_source = left_out == FieldLeftOut::source;
  if (by_source) question.source.clear();
  const Estimate e = by_source ? field.at(question, row.source) : field.at(question, "", row.cluster);
  const bool applies = !e.neighbours.empty() && e.narrowing() < kWorthApplying;
  const double residual = residual_of(row);
  return {residual, applies ? residual - e.log_factor : residual, applies ? e.spread : e.prior,
          applies ? e.narrowing() : 1, applies};
}

}  // namespace

std::vector<FieldScore> score_field(const ResidualField& field, Observed what, FieldLeftOut left_out) {
  std::vector<Scored> all, large, small;
  std::map<std::string, std::vector<Scored>> groups;
  for (const Observation& row : field.rows()) {
    if (row.what != what) continue;
    const Scored one = scored(field, row, left_out);
    all.push_back(one);
    groups[left_out == FieldLeftOut::source ? row.source : row.cluster].push_back(one);
    if (what == Observed::collective) (row.size < kLargeMessage ? small : large).push_back(one);
  }
  std::vector<FieldScore> out;
  for (const auto& [name, rows] : groups) out.push_back(summary(name, rows));
  std::ranges::stable_sort(out, std::ranges::greater{}, &FieldScore::rows);
  if (what == Observed::collective)
    out.insert(out.begin(), {summary("from 4 MiB on", large), summary("below 4 MiB", small)});
  out.insert(out.begin(), summary("all", all));
  return out;
}

}  // namespace foretrain
