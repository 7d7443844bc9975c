// The order is the point: what is predicted before the fit is on disk before the fit begins.
#include "sim/app/machine/machine_fit.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "sim/app/fitted_files.hpp"
#include "sim/app/machine/stages.hpp"
#include "sim/base/printable.hpp"
#include "sim/base/whole_file.hpp"
#include "sim/cluster/calibrated_cluster.hpp"
#include "sim/import/sample_log.hpp"
#include "sim/scenario/named_cluster.hpp"

namespace foretrain {

namespace {

constexpr const char* kClusterFile = "cluster.toml";
/// How much of the work each part is, about.
constexpr double kBeforeEnds = 0.2, kBenchFitEnds = 0.4, kBenchScoresEnd = 0.6, kFitEnds = 0.8;

Progress between(const Progress& progress, double begin, double end) {
  return [progress, begin, end](double done) { progress(begin + (end - begin) * done); };
}

std::string scores_csv(const std::vector<MachineStep>& steps, const MachineScores& scores) {
  std::string out = "series,kind,measured_s,predicted_s\n";
  for (const ScoredStep& scored : scores.steps) {
    const MachineStep& step = steps[scored.step];
    const std::string predicted = scored.predicted_s ? fmt::format("{:.9g}", *scored.predicted_s) : "";
    out += fmt::format("\"{}\",{},{},{}\n", step.row.series, step.measured.kind,
                       step.measured.step_s.value_or(0), predicted);
  }
  return out;
}

std::function<ClusterSpec(ClusterSpec)> with(const Calibration& calibration) {
  return
      [calibration](ClusterSpec) { return calibrated(open_uncalibrated_cluster(kClusterFile), calibration); };
}

/// Those of the two files that are there.
/// Convolutions of foretrain-bench go through cuDNN's older interface: on an H100 they took twice as long as
/// PyTorch's (docs/accuracy_machine.md). Where PyTorch's steps were measured, those tell.
std::vector<SampleFile> sample_files(bool has_steps) {
  std::vector<SampleFile> files;
  std::error_code failed;
  if (std::filesystem::exists("samples.csv", failed)) files.push_back(read_sample_file("samples.csv"));
  if (has_steps && !files.empty())
    std::erase_if(files.front().samples, [](const Sample& s) { return s.kind == SampleKind::conv; });
  if (has_steps) files.push_back(read_sample_file("steps.csv"));
  return files;
}

std::string description_of(const Settings& about) {
  const std::string gpu = fact_of(about, "gpu");
  return gpu.empty() ? "measured by calibrate machine" : "measured by calibrate machine on " + gpu;
}

/// Of the samples of foretrain-bench alone; nothing where there are none that say anything.
std::optional<Calibration> calibration_of_bench(const ClusterSpec& cluster, const Progress& progress) {
  const std::vector<SampleFile> files = sample_files(false);
  if (files.empty()) return std::nullopt;
  try {
    return fit_files(files, cluster, "", progress).fit.calibration;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Beside each step that failed, whether it was predicted to fit.
void note_needed_memory(MachineRows& rows) {
  for (const MachineStep& step : rows.failed) {
    if (step.row.model.empty()) continue;
    if (const auto memory = memory_needed(step.row))
      rows.left_out.push_back(fmt::format("{} is predicted to need {:.1f} GB of the GPU's {:.1f} GB.",
                                          step.row.series, memory->needed / 1e9, memory->there / 1e9));
  }
}

}  // namespace

void fit_machine(MachineFit& out, const Progress& progress) {
  out.about = read_about();
  out.files = read_measured_files();
  out.rows = rows_of(out.files.steps.rows, out.about);
  const std::vector<MachineStep>& steps = out.rows.steps;
  if (!steps.empty()) write_whole_file("steps.csv", steps_csv(out.rows.steps));
  if (std::error_code failed; !std::filesystem::exists(kClusterFile, failed))
    throw InputError("there is no cluster file");
  const ClusterSpec cluster = open_uncalibrated_cluster(kClusterFile);
  const auto score = [&](const auto& change, double begin, double end) {
    return score_machine(steps, out.files.kernels.rows, change, between(progress, begin, end));
  };
  note_needed_memory(out.rows);
  out.before = score(with({}), 0, kBeforeEnds);
  write_whole_file("before.csv", scores_csv(steps, *out.before));
  if (const auto bench = calibration_of_bench(cluster, between(progress, kBeforeEnds, kBenchFitEnds)))
    out.after_bench = score(with(*bench), kBenchFitEnds, kBenchScoresEnd);
  try {
    FittedFiles fitted = fit_files(sample_files(!steps.empty()), cluster, description_of(out.about),
                                   between(progress, kBenchScoresEnd, kFitEnds));
    write_whole_file("calibration.toml", printable_lines(fitted.text));
    out.fit = std::move(fitted.fit);
  } catch (const InputError& error) {
    out.why_not_fitted = error.first_message();
    return;
  }
  out.after = score(with(out.fit->calibration), kFitEnds, 1);
  write_whole_file("after.csv", scores_csv(steps, *out.after));
}

StageEnd run_fit_stage(MachineRun& run) {
  run.fitted = std::make_shared<MachineFit>();
  try {
    fit_machine(*run.fitted, stage_progress(run, "predicting and fitting"));
  } catch (const StageTimeOver&) {
    return {StageState::time_over, "The fit was not finished in its time."};
  } catch (const StageInterrupted&) {
    return {StageState::interrupted, "The fit was interrupted."};
  } catch (const InputError& error) {
    return {StageState::skipped, fmt::format("Nothing can be predicted: {}.", error.first_message())};
  }
  if (!run.fitted->why_not_fitted.empty())
    return {StageState::skipped, fmt::format("Nothing was fitted: {}.", run.fitted->why_not_fitted)};
  return {};
}

}  // namespace foretrain
