// The measured runs that are nearest to a scenario.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/scenario/csv/evidence_table.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A measured run, or several repeats of one in one source.
struct NearRow {
  /// The first of the repeats.
  Observation row;
  /// 0 for the same run.
  double distance = 0;
  int repeats = 1;
  /// Range of the step in seconds; 0 where only the ratio to the step of one GPU is known.
  double low = 0, high = 0;
  /// Rate per GPU over that of the series' smallest job; 0 if unknown.
  double efficiency = 0;
};

/// Distance beyond which rows do not resemble the scenario.
inline constexpr double kFarthestRow = 4;

/// Returns at most `most` rows of trainings, nearest first. The distance is a sum: another network 3; another
/// GPU 1, and 1 more for each doubling of its peak rate; another kind of exchange (servers, one process, or
/// collectives) 2; another strategy of that kind 0.5; another precision 1; another cluster 0.5; and 0.25 for
/// each doubling of the batch per GPU and of the GPUs beyond the listed ones. Rows in which both network and
/// GPU differ are left out, as are those beyond kFarthestRow.
std::vector<NearRow> nearest_rows(const Scenario& scenario, const EvidenceTable& measured,
                                  std::size_t most = 24);

}  // namespace foretrain
