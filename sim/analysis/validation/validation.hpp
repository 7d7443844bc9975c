// Predicted against measured: series of throughput, scored row by row.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "sim/analysis/predict.hpp"
#include "sim/analysis/spreads/spread_case.hpp"
#include "sim/analysis/uncertainty/uncertainty.hpp"
#include "sim/scenario/csv/measurements.hpp"
#include "sim/scenario/provenance.hpp"

namespace foretrain {

// Settings of a published row beyond its columns: what rules of a provenance file read in its texts, and what
// its own numbers imply.

/// A setting, a cluster or a strategy that rows were given, for the report: "framework.name = "tensorflow"",
/// or "strategy single for horovod", and for how many rows.
struct InferredSetting {
  std::string what;
  int rows = 0;
  std::string said_in{};  ///< by the rule; empty for what the columns alone say
  friend bool operator==(const InferredSetting&, const InferredSetting&) = default;
};

/// MirroredStrategy is one process: a series of `mirrored` that goes on over several nodes is of
/// multi_worker_mirrored, from its first row.
std::vector<InferredSetting> name_several_workers(std::vector<Measurement>& rows);

/// On one GPU, a strategy that this program does not simulate is the plain training loop, `single`. Rows of
/// known strategies, and all on several GPUs, stay.
std::vector<InferredSetting> name_plain_loops(std::vector<Measurement>& rows);

/// Adds the settings that rules tell, unless the row's own settings or a rule above say that key, and takes a
/// rule's cluster and strategy. The result is in the order of the rules; one that finds no row has no rows.
std::vector<InferredSetting> apply_provenance(const Provenance& provenance, std::vector<Measurement>& rows);

/// Statistics of relative errors |predicted / measured - 1|: median, ninth decile, mean, and bias with its
/// sign.
struct ErrorStatistics {
  double median = 0, p90 = 0, mean = 0;
  double bias = 0;  ///< mean of predicted / measured - 1
};
/// Of signed relative errors; the first three take absolute values. All zero for an empty list.
ErrorStatistics statistics_of(std::vector<double> signed_errors);

/// What a row ran; `strategy` as it was simulated.
struct ValidatedRow {
  std::string model, cluster, gpu, strategy, precision;
  std::int64_t batch_per_gpu = 0;
  int nodes = 1;
  Measurement::Metric metric = Measurement::Metric::samples_per_s;
};

/// What a row ran, for those that learn from it.
struct RowEvidence {
  int line = 0;
  FrameworkKind framework = FrameworkKind::pytorch;
  Execution execution = Execution::eager;
  NetworkKind network = NetworkKind::products;
  Architecture architecture = Architecture::volta;
  int reference_gpus = 1;    ///< of the anchor
  SpreadCase spread_case{};  ///< what its interval is a function of
  std::string source{};
};

/// One measured number of GPUs of a series with its prediction and interval.
struct ValidatedPoint {
  int gpus = 1;
  double measured = 0, predicted = 0;  ///< in the row's metric
  double error = 0;                    ///< |predicted / measured - 1|
  double low = 0, high = 0;            ///< the 90 % interval of the prediction
  double linear = 0;                   ///< perfect scaling from the anchor; 0 without one
  ValidatedRow row{};
  RowEvidence evidence{};  ///< only where ValidationOptions::evidence
};

/// A measured scaling series: points that differ only in the number of GPUs.
struct ValidatedSeries {
  std::string series;
  double median = 0, worst = 0;
  std::vector<ValidatedPoint> points;
};

/// A row that was not predicted, and why.
struct SkippedRow {
  int row = 0;  ///< line of the file
  std::string why;
};

/// A row that is not scored, since the anchor of its group cannot be reached.
struct UnscoredRow {
  int gpus = 1;
  ValidatedRow row{};
};

/// A group whose smallest number of GPUs no speed of GPU or host explains: the row counts something else than
/// the model's samples, or ran something else. None of its rows can be predicted from it, which is a failure
/// and no reason to leave them out.
struct UnreachedAnchor {
  std::string series;
  int row = 0;  ///< line of the file
  int gpus = 1;
  std::string why;
  std::vector<UnscoredRow> unscored;
};

/// Measured trainings against predictions, row by row, with the error of perfect scaling as a baseline.
struct Validation {
  std::string kind = "scaling";
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  std::vector<UnreachedAnchor> unreached;          ///< sorted by line
  std::string provenance;                          ///< file of the rules; empty: none were given
  std::vector<InferredSetting> inferred_settings;  ///< what rows were run with beyond their columns
  ErrorStatistics error;
  double coverage = 0;     ///< share of scored rows whose 90 % interval contains what was measured
  ErrorStatistics linear;  ///< the same rows under perfect scaling; only with anchors
  bool anchored = true;
  std::vector<ValidatedSeries> series;
};

/// Options of a validation: calibration at the smallest number of GPUs, held-out sources and grouping.
struct ValidationOptions {
  bool anchor = true;  ///< the smallest-GPU row of a series scales the compute model and is not scored
  std::vector<std::string> settings;  ///< as for --set, over every row
  std::vector<int> gpus{};            ///< only rows on so many GPUs count; empty: all
  Provenance provenance{};            ///< without rules, nothing is taken from the texts of a row
  std::function<ClusterSpec(ClusterSpec)> change{};  ///< of every cluster; none: as it is
  bool intervals = true;                             ///< which cost most of the time
  bool evidence = false;                             ///< fill ValidatedPoint::evidence
};

/// Without an anchor, rows on one GPU under unknown strategies are taken for the plain loop
/// (inferred_settings.hpp). Rows whose model, cluster or strategy is not known here are skipped with the
/// reason. Throws InputError when a setting of the command line, or of a rule for one of its rows, is wrong.
Validation validate(const MeasurementFile& file, const ValidationOptions& options,
                    const Progress& progress = nullptr);

}  // namespace foretrain
