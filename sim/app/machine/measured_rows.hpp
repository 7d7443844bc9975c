// What the run's files hold of measured steps, as rows for `validate`, `evidence add` and `calibrate fit`.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/import/logs/measured_steps.hpp"

namespace foretrain {

/// The lines of the three files of the working folder; a file that is not there has none.
struct MeasuredFiles {
  MeasuredLines<MeasuredStep> steps;
  MeasuredLines<MeasuredKernel> kernels;
  MeasuredLines<MeasuredLoader> loaders;
};
MeasuredFiles read_measured_files();

/// Cuts off what a killed process left behind the last whole line of each file.
void cut_half_lines();

/// The facts of about.json; none where it is not there or no object.
Settings read_about();
/// The value of a fact; empty where it is not there.
std::string fact_of(const Settings& facts, std::string_view key);

/// Steps that become rows, and why others do not.
struct MachineRows {
  std::vector<MachineStep> steps;
  std::vector<MachineStep> failed;  ///< those that have an error instead of a time; their rows have no value
  std::vector<std::string> left_out;  ///< sentences on all that are not among `steps`
};

/// A row for each measured configuration; the last line of the same one counts. Its model is the captured
/// network, else the catalog's of that name.
MachineRows rows_of(const std::vector<MeasuredStep>& steps, const Settings& about);

/// In the columns that `validate` reads; lines are those of the rows then.
std::string steps_csv(std::vector<MachineStep>& steps);

}  // namespace foretrain
