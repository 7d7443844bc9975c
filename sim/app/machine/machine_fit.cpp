// The fit stage: scores predictions before and after a fit to this machine's measurements. Predictions before
// the fit are on disk before the fit begins, so that they cannot have used its constants.
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

// Cluster file that the detect stage wrote.
constexpr const char* kClusterFile = "cluster.toml";
// Fractions of the stage's work at which its parts end, estimated for the progress line.
constexpr double kBeforeEnds = 0.2, kBenchFitEnds = 0.4, kBenchScoresEnd = 0.6, kFitEnds = 0.8;

/// Returns a progress that maps 0 … 1 of a part to begin … end of the whole.
Progress between(const Progress& progress, double begin, double end) {
  return [progress, begin, end](double done) { progress(begin + (end - begin) * done); };
}

/// Returns measured and predicted seconds of each step as CSV; a step without a prediction has an empty
/// field.
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

/// Returns the change of the cluster by which score_machine() predicts with this calibration.
std::function<ClusterSpec(ClusterSpec)> with(const Calibration& calibration) {
  return
      [calibration](ClusterSpec) { return calibrated(open_uncalibrated_cluster(kClusterFile), calibration); };
}

/// Reads the sample files that exist. With `has_steps`, convolutions of foretrain-bench are dropped: they go
/// through cuDNN's older interface and took twice as long as PyTorch's on an H100 (docs/accuracy_machine.md).
/// The measured steps of PyTorch then calibrate convolutions.
std::vector<SampleFile> sample_files(bool has_steps) {
  std::vector<SampleFile> files;
  std::error_code failed;
  if (std::filesystem::exists("samples.csv", failed)) files.push_back(read_sample_file("samples.csv"));
  if (has_steps && !files.empty())
    std::erase_if(files.front().samples, [](const Sample& s) { return s.kind == SampleKind::conv; });
  if (has_steps) files.push_back(read_sample_file("steps.csv"));
  return files;
}

/// Returns the description for the calibration file.
std::string description_of(const Settings& about) {
  const std::string gpu = fact_of(about, "gpu");
  return gpu.empty() ? "measured by calibrate machine" : "measured by calibrate machine on " + gpu;
}

/// Fits the samples of foretrain-bench alone, so that no measured step took part. Returns nothing when they
/// say nothing.
std::optional<Calibration> calibration_of_bench(const ClusterSpec& cluster, const Progress& progress) {
  const std::vector<SampleFile> files = sample_files(false);
  if (files.empty()) return std::nullopt;
  try {
    return fit_files(files, cluster, "", progress).fit.calibration;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// Adds a note for each step that failed: how much memory it is predicted to need, and how much the GPU has.
void note_needed_memory(MachineRows& rows) {
  for (const MachineStep& step : rows.failed) {
    if (step.row.model.empty()) continue;
    if (const auto memory = memory_needed(step.row))
      rows.left_out.push_back(fmt::format("{} is predicted to need {:.1f} GB of the GPU's {:.1f} GB.",
                                          step.row.series, memory->needed / 1e9, memory->there / 1e9));
  }
}

}  // namespace

// Steps are predicted three times: with the catalog's constants, with those of foretrain-bench, and with all.
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
  // Written before the fit, as a record of what was predicted without it.
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
    // The results of predictions without a fit remain in `out`.
    out.why_not_fitted = error.first_message();
    return;
  }
  out.after = score(with(out.fit->calibration), kFitEnds, 1);
  write_whole_file("after.csv", scores_csv(steps, *out.after));
}

// A fit that fails skips the stage and does not fail it: the measurements are of use without it.
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
