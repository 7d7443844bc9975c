// Shares sum to 1: what a stage leaves goes to the next, so that together they take the budget at most.
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

std::string nothing_missing(const MachineRun&) { return ""; }

/// Importing PyTorch from a disk of a cluster takes its time.
constexpr std::chrono::seconds kLongestAnswer{60};

CommandOutput answer_of(const std::vector<std::string>& words) {
  return command_output(words, {.time = kLongestAnswer});
}

}  // namespace

const std::vector<StageRow>& machine_stages() {
  static const std::vector<StageRow> rows{
      {"detect",
       "finds GPUs, links, CPU and versions",
       "",
       0.03,
       1,
       60,
       false,
       {"cluster.toml", "about.json"},
       nothing_missing,
       run_detect_stage},
      {"bench",
       "times kernels, copies, launches and collectives",
       "foretrain-bench",
       0.27,
       3,
       0,
       false,
       {"samples.csv"},
       missing_bench,
       run_bench_stage},
      {"steps",
       "times training steps of networks",
       "Python with PyTorch",
       0.50,
       5,
       0,
       false,
       {"steps.jsonl", "kernels.jsonl", "loader.jsonl"},
       missing_python,
       run_steps_stage},
      {"capture",
       "records the networks that were trained",
       "Python with PyTorch",
       0.15,
       2,
       0,
       true,
       {"networks/"},
       missing_python,
       run_capture_stage},
      {"fit",
       "predicts the steps, fits constants, predicts again",
       "",
       0.04,
       1,
       60,
       true,
       {"steps.csv", "before.csv", "calibration.toml", "after.csv"},
       nothing_missing,
       run_fit_stage},
      {"report",
       "writes predicted against measured",
       "",
       0.01,
       0,
       30,
       true,
       {"report.md", "report.html"},
       nothing_missing,
       run_report_stage},
  };
  return rows;
}

std::string joined_stage_names() {
  std::string out;
  for (const StageRow& row : machine_stages()) out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

const FinishedStage* MachineRun::find(std::string_view stage) const {
  const auto found = std::ranges::find(finished, stage, &FinishedStage::name);
  return found == finished.end() ? nullptr : &*found;
}

std::string missing_bench(const MachineRun&) {
  if (answer_of({bench_program(), "--version"}).is_there) return "";
  return "foretrain-bench is neither beside foretrain nor on the PATH.";
}

std::string missing_python(const MachineRun& run) {
  const std::string python = python_program();
  const bool is_relative = python.find('/') != std::string::npos && !python.starts_with('/');
  const std::string found =
      is_relative ? (std::filesystem::path(run.start_folder) / python).string() : python;
  if (!answer_of({found, "--version"}).is_there)
    return "Python cannot be run; FORETRAIN_PYTHON names another than python3.";
  const bool has_torch = !run.is_dry || answer_of({found, "-c", "import torch"}).problem.empty();
  return has_torch ? "" : "Python has no PyTorch; FORETRAIN_PYTHON names another Python.";
}

Progress stage_progress(const MachineRun& run, const std::string& what) {
  const auto line = std::make_shared<ProgressLine>(what);
  return [&run, line](double done) {
    if (has_come_signal()) throw StageInterrupted{};
    if (MachineRun::Clock::now() > run.stage_end()) throw StageTimeOver{};
    line->show(done);
  };
}

}  // namespace foretrain
