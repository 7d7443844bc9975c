// A sweep's file, opened: what varies, its scenario, and the head that its databases store.
#pragma once

#include <string>

#include "sim/analysis/sweep/case_predictor.hpp"
#include "sim/report/sweep/sweep_database.hpp"
#include "sim/scenario/sweep/sweep.hpp"

namespace foretrain {

/// A sweep that was read and checked.
struct OpenedSweep {
  SourceText file;
  Sweep sweep;
  SweptScenario scenario;
  SweepHead head;
};

/// Opens the file. Throws InputError with every mistake of the file or of its scenario.
OpenedSweep open_sweep(const std::string& file, const Shard& shard);

}  // namespace foretrain
