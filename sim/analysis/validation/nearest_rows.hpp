// Which published measurements are like a question, nearest first.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/scenario.hpp"

namespace foretrain {

/// A published run, or several of the same in one source.
struct NearRow {
  Measurement row;      ///< the first of them
  std::string gpu;      ///< of the row's cluster
  double distance = 0;  ///< 0: the same run
  int runs = 1;
  double low = 0, high = 0;  ///< of their values
};

/// At most `most`. A row is as far as what differs between it and the scenario on `gpus` GPUs: another
/// network 3, GPU 2, strategy or precision 1 each, cluster 0.5, and 0.25 for each doubling of the batch per
/// GPU and of the GPUs. Rows with nothing but a ratio are left out, as are those of which network and GPU
/// both differ.
std::vector<NearRow> nearest_rows(const Scenario& scenario, int gpus, const std::vector<Measurement>& rows,
                                  std::size_t most = 8);

}  // namespace foretrain
