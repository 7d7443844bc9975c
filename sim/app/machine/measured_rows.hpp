// Measured steps of a run of `calibrate machine`, as rows for `validate`, `evidence add` and `calibrate fit`.
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/validation/measured_machine.hpp"
#include "sim/import/logs/measured_steps.hpp"

namespace foretrain {

/// Content of steps.jsonl, kernels.jsonl and loader.jsonl of the working folder; a missing file has no lines.
struct MeasuredFiles {
  MeasuredLines<MeasuredStep> steps;
  MeasuredLines<MeasuredKernel> kernels;
  MeasuredLines<MeasuredLoader> loaders;
};
/// Reads the three files. Lines that cannot be read are listed as skipped.
MeasuredFiles read_measured_files();

/// Cuts incomplete last lines off these files; a process that was killed leaves them behind.
void cut_half_lines();

/// Returns the facts of about.json; none when the file is missing or holds no object.
Settings read_about();
/// Returns the value of a fact; empty when it is missing.
std::string fact_of(const Settings& facts, std::string_view key);

/// Rows of the measured steps, and sentences about the steps that have none.
struct MachineRows {
  std::vector<MachineStep> steps;
  /// Steps with an error instead of a time; their rows have no value.
  std::vector<MachineStep> failed;
  /// A sentence for each configuration that is not among `steps`.
  std::vector<std::string> left_out;
};

/// Returns a row for each measured configuration. When one was measured several times, its last line counts.
/// The row's model is the captured network, or the catalog's network of that name.
MachineRows rows_of(const std::vector<MeasuredStep>& steps, const Settings& about);

/// Returns the rows as CSV in the columns that `validate` reads, and sets the line number of each row.
std::string steps_csv(std::vector<MachineStep>& steps);

}  // namespace foretrain
