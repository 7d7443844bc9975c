// The Gaussian process of residuals: the expected logarithm of measured over predicted time of a run, given
// the measured runs of a store, and how sure that is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// Half-width of an estimate's 90 % interval in spreads: the 95 % quantile of Student's t with 4 degrees of
/// freedom, by which rows scatter (gaussian_field.cpp).
inline constexpr double kStudentReach = 2.131846786;

/// A run that an estimate rests on, with its repeats.
struct Neighbour {
  /// The first of the repeats; its measured time is their median.
  Observation row;
  int repeats = 1;
  /// 1 - correlation of both predictions' residuals: 0 for the same run of the same source.
  double distance = 0;
  /// Weight of its residual in the estimate.
  double weight = 0;
  /// Trust in it relative to the others; less for an outlier.
  double trust = 1;
};

/// The estimate for one scenario: the expected logarithm of measured over predicted time, and its standard
/// deviation.
struct Estimate {
  /// Expected log(measured / predicted).
  double log_factor = 0;
  /// Standard deviation of a further run.
  double spread = 0;
  /// The same without any row.
  double prior = 0;
  /// Runs behind the estimate, nearest first; empty where none is within reach.
  std::vector<Neighbour> neighbours;
  /// Returns the remaining share of the uncertainty: 1 without a row within reach.
  double narrowing() const { return prior > 0 ? spread / prior : 1; }
};

/// Rows that a question is asked without; empty names exclude none.
struct ExcludedRows {
  std::string source{}, cluster{}, run{};
  /// Excludes rows with exactly this time, which are the same measurement in another series.
  double measured = 0;
  /// Returns true if the row is excluded.
  bool names(const EvidenceTable& table, const StoredRow& row) const;
};

/// A store of measured runs that can be asked about further ones. Rows that are the same run count once, and
/// their order makes no difference.
class ResidualField {
 public:
  ResidualField() = default;
  explicit ResidualField(EvidenceTable table) : table_(std::move(table)) {}
  explicit ResidualField(const std::vector<Observation>& rows) : table_(rows) {}
  const EvidenceTable& table() const { return table_; }
  EvidenceTable& table() { return table_; }
  std::vector<Observation> rows() const { return table_.observations(); }

  /// Returns the estimate for a run, whose measured and predicted times do not matter, from the nearest 64
  /// runs. Biases of sources apply only to a question of the same source; a question without a source belongs
  /// to none. Linear in the rows, plus O(64^3) for the solution.
  Estimate at(const Observation& question, const ExcludedRows& without = {}) const;

  /// Returns the spread of the estimate once these runs are rows as well, each measured as expected.
  double spread_after(const Observation& question, const std::vector<Observation>& runs) const;

 private:
  EvidenceTable table_;
};

/// The field to use and the owner of the question: the bias of this source's rows applies to it.
struct EvidenceUse {
  /// Null for predictions as simulated.
  const ResidualField* field = nullptr;
  std::string source{};
  /// True to suggest the runs that would narrow most.
  bool suggests_runs = false;
};

}  // namespace foretrain
