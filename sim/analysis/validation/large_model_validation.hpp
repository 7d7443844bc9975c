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

/// A row as a job; on a cluster of the catalog.
struct LargeModelCase {
  const LargeModelMeasurement* row = nullptr;
  LargeModelRun job;
  std::string cluster;
  Settings told{};              ///< by rules of the provenance, already in the job
  FrameworkVersion cuda{0, 0};  ///< toolkit that a rule's framework.software tells; 0.0: no rule does
  std::string why_not;          ///< empty: it can be predicted
};

/// What rows name a GPU by, and the cluster of the catalog that they are predicted on.
using ClusterOfGpu = std::map<std::string, std::string>;

/// Options of the validation of large models: clusters by GPU, rules of provenance, and calibration at the
/// smallest number of GPUs.
struct LargeModelOptions {
  ClusterOfGpu clusters{};  ///< of --cluster-of, before the usual ones
  Provenance provenance{};
  bool anchor = false;  ///< the smallest number of GPUs of a layout's series scales the rest
};

/// One measured step of a large model with its prediction, or the reason why it has none.
struct ValidatedLargeModel {
  const LargeModelMeasurement* row = nullptr;
  std::string cluster, source, tag;  ///< tag: q=… of the notes, else the source
  Degrees degrees;
  double predicted_s = 0, mfu_s = 0,
         roofline_s = 0;                      ///< the step; by constant MFU; by a roofline with bubble
  double predicted_gb = 0;                    ///< as the row counts: GiB on rank 0
  double peak_bytes = 0, capacity_bytes = 0;  ///< of the fullest stage, all told
  bool is_anchor = false;
  SpreadCase spread_case{};      ///< what its interval is a function of
  double low_s = 0, high_s = 0;  ///< 90 % of the step
  double compute_s = 0, exchange_s = 0, host_s = 0, bubble_s = 0;
  double error() const { return predicted_s / row->step_s - 1; }
};

/// Measured steps of large models against predictions, with rows that were left out and why.
struct LargeModelValidation {
  int rows = 0;
  std::vector<SkippedRow> skipped;
  std::vector<InferredSetting> inferred_settings;
  std::string provenance;
  bool anchored = false;
  std::vector<ValidatedLargeModel> points;  ///< predicted ones
};

std::vector<LargeModelCase> large_model_cases(const std::vector<LargeModelMeasurement>& rows,
                                              const LargeModelOptions& options,
                                              LargeModelValidation& validation);  // large_model_cases.cpp

/// Letters and digits alone, small: "Qwen3_235B_a22B" is qwen3235ba22b.
std::string bare(std::string_view text);
/// The network of the catalog whose name a row's begins with, in letters and digits; the longest. Empty:
/// none.
std::string model_in_catalog(const std::string& name);

LargeModelValidation validate_large_models(const std::vector<LargeModelMeasurement>& rows,
                                           const LargeModelOptions& options,
                                           const Progress& progress = nullptr);

/// "class", "source", "model", "gpu", "gpus", "tensor", "pipeline", "data", "precision", "framework".
const std::vector<std::string>& large_model_keys();
/// Errors of steps, of rows that are scored, worst median first.
std::vector<ErrorGroup> group_large_models(
    const LargeModelValidation& validation, const GroupKeys& keys,
    const std::function<double(const ValidatedLargeModel&)>& predicted);

/// Among rows of one model on as many GPUs: how alike the order of layouts is (Spearman), and whether the
/// layout predicted to be fastest is within 5 % of the fastest measured.
struct LayoutOrder {
  std::string model;
  int gpus = 0, layouts = 0;
  double correlation = 0;
  double lost = 0;  ///< measured time of the one predicted fastest over the fastest, less one
};
std::vector<LayoutOrder> layout_orders(const LargeModelValidation& validation);

/// Peak memory and verdicts of rows that tell them.
struct MemoryScore {
  ErrorStatistics error;  ///< of rows that ran
  int rows = 0;
  int fits = 0, fits_right = 0, fails = 0,
      fails_right = 0;           ///< rows that ran; rows that are likely out of memory
  int ran = 0, ran_refused = 0;  ///< rows with a step, and those of them that are said not to fit
};
MemoryScore memory_score(const LargeModelValidation& validation);

}  // namespace foretrain
