// The table of stages of `calibrate machine`. Shares sum to 1, and time that a stage leaves goes to the next
// ones, so that all stages together stay within the budget.
#include "sim/app/machine/stages.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <fmt/format.h>

#include "sim/app/machine/programs.hpp"
#include "sim/app/progress_line.hpp"
#include "sim/app/sweep/heeded_signals.hpp"
#include "sim/base/printable.hpp"
#include "sim/import/detection/command_output.hpp"

namespace foretrain {

namespace {

/// Stands for stages that need no other program.
std::string nothing_missing(const MachineRun&) { return ""; }

// Time for an answer of Python: importing PyTorch from a cluster's file system is slow.
constexpr std::chrono::seconds kLongestAnswer{60};

/// Runs a program and returns its output.
CommandOutput answer_of(const std::vector<std::string>& words) {
  return command_output(words, {.time = kLongestAnswer});
}

}  // namespace

// `share` is a fraction of the budget; `least_s` and `patience_s` are in seconds.
const std::vector<StageRow>& machine_stages() {
  static const std::vector<StageRow> rows{
      {.name = "detect",
       .what = "finds GPUs, links, CPU and versions",
       .share = 0.03,
       .least_s = 1,
       .patience_s = 60,
       .outputs = {"cluster.toml", "about.json"},
       .missing = nothing_missing,
       .run = run_detect_stage},
      {.name = "bench",
       .what = "times kernels, copies, launches and collectives",
       .needs = "foretrain-bench",
       .share = 0.27,
       .least_s = 3,
       .outputs = {"samples.csv"},
       .missing = missing_bench,
       .run = run_bench_stage},
      {.name = "steps",
       .what = "times training steps of networks",
       .needs = "Python with PyTorch",
       .share = 0.50,
       .least_s = 5,
       .outputs = {"steps.jsonl", "loader.jsonl"},
       .missing = missing_python,
       .run = run_steps_stage},
      {.name = "capture",
       .what = "records the networks that were trained",
       .needs = "Python with PyTorch",
       .share = 0.15,
       .least_s = 2,
       .follows = true,
       .outputs = {"networks/", "kernels.jsonl"},
       .missing = missing_python,
       .run = run_capture_stage},
      {.name = "fit",
       .what = "predicts the steps, fits constants, predicts again",
       .share = 0.04,
       .least_s = 1,
       .patience_s = 60,
       .follows = true,
       .outputs = {"steps.csv", "before.csv", "calibration.toml", "after.csv"},
       .missing = nothing_missing,
       .run = run_fit_stage},
      {.name = "report",
       .what = "writes predicted against measured",
       .share = 0.01,
       .patience_s = 30,
       .follows = true,
       .outputs = {"report.md", "report.html"},
       .missing = nothing_missing,
       .run = run_report_stage},
  };
  return rows;
}

// The names are shown in the help of --stages.
std::string joined_stage_names() {
  std::string out;
  for (const StageRow& row : machine_stages()) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

const FinishedStage* MachineRun::find(std::string_view stage) const {
  const auto found = std::ranges::find(finished, stage, &FinishedStage::name);
  return found == finished.end() ? nullptr : &*found;
}

// A stage that ran out of time counts as finished: what it wrote is used, and --resume does not repeat it.
bool MachineRun::has_finished(std::string_view stage) const {
  const FinishedStage* known = find(stage);
  return known != nullptr &&
         (known->end.state == StageState::done || known->end.state == StageState::time_over);
}

// Asking for the version shows that the program can be started, not merely that a file exists.
std::string missing_bench(const MachineRun&) {
  if (answer_of({bench_program(), "--version"}).is_there) return "";
  return "foretrain-bench is neither beside foretrain nor on the PATH.";
}

std::string missing_python(const MachineRun& run) {
  // The stages run in the results' folder, but a relative path counts from where the command was given.
  const std::string python = python_program();
  const bool is_relative = python.find('/') != std::string::npos && !python.starts_with('/');
  const std::string found =
      is_relative ? (std::filesystem::path(run.start_folder) / python).string() : python;
  if (!answer_of({found, "--version"}).is_there)
    return "Python cannot be run; FORETRAIN_PYTHON names another than python3.";
  // Only a dry run asks for PyTorch here: in a run the detect stage has done so.
  const bool has_torch = !run.is_dry || answer_of({found, "-c", "import torch"}).problem.empty();
  return has_torch ? "" : "Python has no PyTorch; FORETRAIN_PYTHON names another Python.";
}

// Work in this process cannot be ended from outside, so each step of progress checks time and signals.
Progress stage_progress(const MachineRun& run, const std::string& what) {
  const auto line = std::make_shared<ProgressLine>(what);
  return [&run, line](double done) {
    if (has_come_signal()) throw StageInterrupted{};
    if (MachineRun::Clock::now() > run.stage_end()) throw StageTimeOver{};
    line->show(done);
  };
}

}  // namespace foretrain
