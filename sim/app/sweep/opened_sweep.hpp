// A sweep's file opened: what varies, the scenario it is of, and what its databases say of it.
#pragma once

#include <string>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/report/sweep/sweep_database.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace foretrain {

/// A sweep file that was read, with its database.
struct OpenedSweep {
  SourceText file;
  Sweep sweep;
  SweptScenario scenario;
  SweepHead head;
};

/// Throws InputError with every mistake of the file, or those of its scenario.
OpenedSweep open_sweep(const std::string& file, const Shard& shard);

}  // namespace foretrain
