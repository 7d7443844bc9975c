// The fastest is chosen among the rows that a user could run at once; all other rows are compared with it.
#include "sim/analysis/search/strategy_order.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace foretrain {

namespace {

bool runs(const ComparedStrategy& row) { return row.why_not.empty(); }

/// Prefers rows that run, then those that fit, then those that need nothing more, then speed.
bool is_better(const ComparedStrategy& a, const ComparedStrategy& b) {
  const auto key = [](const ComparedStrategy& row) {
    return std::tuple(runs(row), row.point.fits(), row.needs.empty(), row.point.samples_per_s);
  };
  return key(a) > key(b);
}

/// Returns the standing of a row against the fastest; the checks go from hard obstacles to differences in
/// speed.
Standing standing_of(const ComparedStrategy& row, const ComparedStrategy& fastest) {
  if (!runs(row)) return Standing::cannot_run;
  if (!row.point.fits()) return Standing::does_not_fit;
  if (!row.needs.empty() && fastest.needs.empty()) return Standing::needs_more;
  if (row.ratio >= 1 - kWorthSwitching) return Standing::as_fast;
  return row.ratio_range.high >= 1 ? Standing::not_told_apart : Standing::slower;
}

/// Returns a sort key among equally fast rows: the scenario's own strategy first, then ddp, which PyTorch
/// recommends.
int simplicity(const ComparedStrategy& row, const std::string& own_strategy) {
  if (row.standing != Standing::as_fast) return 0;
  if (row.strategy == own_strategy) return -2;
  return row.strategy == "ddp" ? -1 : 0;
}

}  // namespace

std::string_view name_of(Standing standing) {
  static constexpr std::array<std::string_view, 6> kNames{"as_fast",    "not_told_apart", "slower",
                                                          "needs_more", "does_not_fit",   "cannot_run"};
  return kNames[static_cast<std::size_t>(standing)];
}

/// Ratios are set first, because the standing depends on them and the order on the standing.
void set_order(ComparedGpus& numbers, const std::string& own_strategy, const std::vector<DrawnSpeed>& speeds,
               const Draws& draws) {
  std::vector<ComparedStrategy>& rows = numbers.strategies;
  const auto found = std::min_element(rows.begin(), rows.end(), is_better);
  const bool any = found != rows.end() && runs(*found);
  numbers.fastest = any ? found->strategy : "";
  const auto place = static_cast<std::size_t>(found - rows.begin());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (runs(rows[i])) rows[i].ratio = speeds[i].samples_per_s / speeds[place].samples_per_s;
    rows[i].ratio_range = runs(rows[i]) && rows[i].point.fits()
                              ? speed_ratio_range(speeds[i], speeds[place], draws)
                              : Range{rows[i].ratio, rows[i].ratio};
    rows[i].standing = standing_of(rows[i], *found);
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const ComparedStrategy& a, const ComparedStrategy& b) {
    const auto key = [&](const ComparedStrategy& row) {
      return std::tuple(row.standing, simplicity(row, own_strategy), -row.point.samples_per_s);
    };
    return key(a) < key(b);
  });
}

}  // namespace foretrain
