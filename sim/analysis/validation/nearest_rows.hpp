// Which measured runs are like a question, nearest first.
#pragma once

#include <cstddef>
#include <vector>

#include "sim/scenario/csv/evidence_table.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A measured run, or several of the same in one source.
struct NearRow {
  Observation row;      ///< the first of them
  double distance = 0;  ///< 0: the same run
  int repeats = 1;
  double low = 0, high = 0;  ///< a step in seconds; 0: only the ratio to the step of one GPU is known
  double efficiency = 0;     ///< rate per GPU over that of the series' smallest job; 0: unknown
};

/// Rows further away than this are not like the question.
inline constexpr double kFarthestRow = 4;

/// At most `most` rows of trainings. A row is as far as what differs between it and the scenario: another
/// network 3, another GPU 1 and 1 more for each doubling of its peak rate, another kind of exchange (servers,
/// one process, or collectives) 2, another strategy of that kind 0.5, another precision 1, another cluster
/// 0.5, and 0.25 for each doubling of the batch per GPU and of the GPUs beyond those that are listed. Rows of
/// which network and GPU both differ are left out, as are those beyond kFarthestRow.
std::vector<NearRow> nearest_rows(const Scenario& scenario, const EvidenceTable& measured,
                                  std::size_t most = 24);

}  // namespace foretrain
