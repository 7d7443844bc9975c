// Predicted against measured steps and memory of large models, row by row.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/analysis/validation/error_groups.hpp"
#include "sim/analysis/validation/validation.hpp"
#include "sim/scenario/csv/large_model_rows.hpp"
#include "sim/scenario/provenance.hpp"
#include "sim/strategy/parallel/job.hpp"

namespace foretrain {

/// A row translated into a job on a cluster of the catalog.
struct LargeModelCase {
  const LargeModelMeasurement* row = nullptr;
  LargeModelRun job;
  std::string cluster;
  /// Settings by rules of the provenance; the job has them already.
  Settings told{};
  /// CUDA toolkit by a rule's framework.software; 0.0: no rule states one.
  FrameworkVersion cuda{0, 0};
  /// The reason why it cannot be predicted; empty if it can.
  std::string why_not;
};

/// The cluster of the catalog by the name that rows give a GPU.
using ClusterOfGpu = std::map<std::string, std::string>;

/// Options of the validation of large models: clusters by GPU, rules of provenance, and calibration at the
/// smallest number of GPUs.
struct LargeModelOptions {
  /// Clusters of --cluster-of, which precede the usual ones.
  ClusterOfGpu clusters{};
  Provenance provenance{};
  /// True to scale each series of a layout by its row on the fewest GPUs.
  bool anchor = false;
};

/// A measured step of a large model with its prediction.
struct ValidatedLargeModel {
  const LargeModelMeasurement* row = nullptr;
  /// Names; the tag is q=… of the notes, else the source.
  std::string cluster, source, tag;
  Degrees degrees;
  /// Seconds of the step: as predicted, by a constant MFU, and by a roofline with a pipeline bubble. The last
  /// two are baselines.
  double predicted_s = 0, mfu_s = 0, roofline_s = 0;
  /// Memory as the row counts it: GiB on rank 0.
  double predicted_gb = 0;
  /// Bytes of the fullest stage, everything included, and the GPU's memory.
  double peak_bytes = 0, capacity_bytes = 0;
  bool is_anchor = false;
  /// The case that the interval is a function of.
  SpreadCase spread_case{};
  /// The 90 % interval of the step.
  double low_s = 0, high_s = 0;
  /// Parts of the predicted step in seconds.
  double compute_s = 0, exchange_s = 0, host_s = 0, bubble_s = 0;
  /// Returns predicted / measured - 1.
  double error() const { return predicted_s / row->step_s - 1; }
};

/// Measured steps of large models against predictions, with the rows that were left out and why.
struct LargeModelValidation {
  int rows = 0;
  std::vector<SkippedRow> skipped;
  std::vector<InferredSetting> inferred_settings;
  std::string provenance;
  bool anchored = false;
  /// The rows that were predicted.
  std::vector<ValidatedLargeModel> points;
};

/// Translates all rows into jobs and adds the inferred settings to `validation`.
std::vector<LargeModelCase> large_model_cases(const std::vector<LargeModelMeasurement>& rows,
                                              const LargeModelOptions& options,
                                              LargeModelValidation& validation);  // large_model_cases.cpp

/// Returns letters and digits alone, in lower case: "Qwen3_235B_a22B" becomes qwen3235ba22b.
std::string bare(std::string_view text);
/// Returns the network of the catalog with the longest name that the row's name begins with, compared by
/// letters and digits; empty if there is none.
std::string model_in_catalog(const std::string& name);

/// Predicts all rows. Rows that cannot be predicted are skipped with their reason.
LargeModelValidation validate_large_models(const std::vector<LargeModelMeasurement>& rows,
                                           const LargeModelOptions& options,
                                           const Progress& progress = nullptr);

/// Returns the names of all keys: "class", "source", "model", "gpu", "gpus", "tensor", "pipeline", "data",
/// "precision", "framework" and "cluster".
const std::vector<std::string>& large_model_keys();
/// Groups the errors of scored steps, worst median first. `predicted` chooses the prediction or a baseline.
/// Rows without a step and anchors are not scored.
std::vector<ErrorGroup> group_large_models(
    const LargeModelValidation& validation, const GroupKeys& keys,
    const std::function<double(const ValidatedLargeModel&)>& predicted);

/// The order of layouts among rows of one model on equally many GPUs: Spearman's rank correlation of measured
/// and predicted steps, and the loss by following the prediction.
struct LayoutOrder {
  std::string model;
  int gpus = 0, layouts = 0;
  double correlation = 0;
  /// Measured time of the layout predicted to be fastest over the fastest measured, minus one.
  double lost = 0;
};
/// Returns the orders of all groups with at least three layouts.
std::vector<LayoutOrder> layout_orders(const LargeModelValidation& validation);

/// Peak memory and verdicts of the rows that state them.
struct MemoryScore {
  /// Errors of peak memory, on rows that ran.
  ErrorStatistics error;
  int rows = 0;
  /// Rows that ran with a known peak, and rows that were probably out of memory; of each, those with the
  /// right verdict.
  int fits = 0, fits_right = 0, fails = 0, fails_right = 0;
  /// Rows with a step, and those of them that are predicted not to fit.
  int ran = 0, ran_refused = 0;
};
/// Counts the memory and the verdicts of all rows.
MemoryScore memory_score(const LargeModelValidation& validation);

}  // namespace foretrain
