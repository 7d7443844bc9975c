// Predicted against measured training runs: series of throughput or time, scored row by row.
//
// A measured row is translated into a scenario by its columns, by rules of a provenance file, and by what its
// own numbers imply. Rows that differ only in the number of GPUs form a group. With an anchor, the smallest
// row of a group calibrates the compute model and the others are scored, so the errors are those of scaling;
// without one, all rows are scored as predicted from the catalog.
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

// Settings of a published row beyond its columns: those that rules of a provenance file find in its texts,
// and those that its own numbers imply.

/// A setting, cluster or strategy that rows were given, with the number of rows, for the report:
/// "framework.name = "tensorflow"", or "strategy single for horovod".
struct InferredSetting {
  std::string what;
  int rows = 0;
  /// The place that the rule names; empty for what the columns alone imply.
  std::string said_in{};
  friend bool operator==(const InferredSetting&, const InferredSetting&) = default;
};

/// Renames series of `mirrored` that continue over several nodes to multi_worker_mirrored, from their first
/// row on, because MirroredStrategy is one process. Returns the changes.
std::vector<InferredSetting> name_several_workers(std::vector<Measurement>& rows);

/// Renames strategies that the program does not simulate to `single` on one GPU, where they are the plain
/// training loop. Rows of known strategies, and all rows on several GPUs, stay. Returns the changes.
std::vector<InferredSetting> name_plain_loops(std::vector<Measurement>& rows);

/// Adds the settings of all rules that hold for a row, unless the row's own settings or an earlier rule set
/// that key, and applies a rule's cluster and strategy. The result is in the order of the rules; a rule that
/// holds for no row is listed with zero rows.
std::vector<InferredSetting> apply_provenance(const Provenance& provenance, std::vector<Measurement>& rows);

/// Statistics of relative errors |predicted / measured - 1|: median, ninth decile and mean, and the signed
/// bias.
struct ErrorStatistics {
  double median = 0, p90 = 0, mean = 0;
  /// Mean of predicted / measured - 1.
  double bias = 0;
};
/// Returns the statistics of signed relative errors; all but the bias use absolute values. All zero for an
/// empty list.
ErrorStatistics statistics_of(std::vector<double> signed_errors);

/// The job of a row; `strategy` is the one that was simulated.
struct ValidatedRow {
  std::string model, cluster, gpu, strategy, precision;
  std::int64_t batch_per_gpu = 0;
  int nodes = 1;
  Measurement::Metric metric = Measurement::Metric::samples_per_s;
};

/// Further facts about a row, for those who learn from it.
struct RowEvidence {
  FrameworkKind framework = FrameworkKind::pytorch;
  Execution execution = Execution::eager;
  NetworkKind network = NetworkKind::products;
  Architecture architecture = Architecture::volta;
  /// GPUs of the anchor.
  int reference_gpus = 1;
  /// The case that the row's interval is a function of.
  SpreadCase spread_case{};
  std::string source{};
};

/// A measured number of GPUs of a series with its prediction and interval.
struct ValidatedPoint {
  int gpus = 1;
  /// Line of the file.
  int line = 0;
  /// Values in the row's metric.
  double measured = 0, predicted = 0;
  /// |predicted / measured - 1|.
  double error = 0;
  /// The 90 % interval of the prediction.
  double low = 0, high = 0;
  /// Value of perfect scaling from the anchor; 0 without an anchor.
  double linear = 0;
  ValidatedRow row{};
  /// Filled only with ValidationOptions::evidence.
  RowEvidence evidence{};
};

/// A measured scaling series: points that differ only in the number of GPUs.
struct ValidatedSeries {
  std::string series;
  double median = 0, worst = 0;
  std::vector<ValidatedPoint> points;
};

/// A row that was not predicted, with the reason.
struct SkippedRow {
  /// Line of the file.
  int row = 0;
  std::string why;
};

/// A row that is not scored, because the anchor of its group cannot be reached.
struct UnscoredRow {
  int gpus = 1;
  ValidatedRow row{};
};

/// A group whose smallest number of GPUs no speed of GPU or host explains: the row counts something other
/// than the model's samples, or ran something else. None of its rows can be predicted from it. That is a
/// failure of the validation and no reason to leave the rows out.
struct UnreachedAnchor {
  std::string series;
  /// Line of the file.
  int row = 0;
  int gpus = 1;
  std::string why;
  std::vector<UnscoredRow> unscored;
};

/// Measured trainings against predictions, row by row, with perfect scaling as a baseline.
struct Validation {
  std::string kind = "scaling";
  int rows = 0, scored = 0;
  std::vector<SkippedRow> skipped;
  /// Groups without a prediction, sorted by line.
  std::vector<UnreachedAnchor> unreached;
  /// File of the rules; empty if none were given.
  std::string provenance;
  /// Settings of the rows beyond their columns.
  std::vector<InferredSetting> inferred_settings;
  ErrorStatistics error;
  /// Share of scored rows whose 90 % interval contains the measured value.
  double coverage = 0;
  /// Errors of the same rows under perfect scaling; only with anchors.
  ErrorStatistics linear;
  bool anchored = true;
  std::vector<ValidatedSeries> series;
};

/// Options of a validation.
struct ValidationOptions {
  /// True if the row of a group with the fewest GPUs calibrates the compute model and is not scored.
  bool anchor = true;
  /// Settings as for --set, for every row.
  std::vector<std::string> settings;
  /// Numbers of GPUs that are scored; empty for all.
  std::vector<int> gpus{};
  /// Rules; without any, nothing is taken from the texts of a row.
  Provenance provenance{};
  /// Change of every cluster; empty for none.
  std::function<ClusterSpec(ClusterSpec)> change{};
  /// True to compute intervals, which cost most of the time.
  bool intervals = true;
  /// True to fill ValidatedPoint::evidence.
  bool evidence = false;
};

/// Predicts and scores all training rows of a file. Without an anchor, rows on one GPU with unknown
/// strategies count as the plain loop (name_plain_loops()). Rows whose model, cluster or strategy is unknown
/// are skipped with the reason. Throws InputError when a setting of the command line, or of a rule for one of
/// its rows, is wrong.
Validation validate(const MeasurementFile& file, const ValidationOptions& options,
                    const Progress& progress = nullptr);

}  // namespace foretrain
