// What the measured runs of a store say about another one: the expected logarithm of measured over predicted,
// and how sure that is.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/scenario/csv/evidence_table.hpp"

namespace foretrain {

/// The 95 % quantile of Student's t with 4 degrees of freedom, by which rows scatter (gaussian_field.cpp): an
/// estimate's interval of 90 % is so many spreads to either side.
inline constexpr double kStudentReach = 2.131846786;

/// A run that an estimate rests on, with its repeats.
struct Neighbour {
  Observation row;  ///< the first of them; measured is their median
  int repeats = 1;
  /// 1 - correlation of both predictions' misses: 0 for the same run of the same source.
  double distance = 0;
  double weight = 0;  ///< of its residual in the estimate
  double trust = 1;   ///< how far it was believed beside the others
};

/// What the Gaussian process of residuals says of one scenario: the expected logarithm of measured over
/// predicted, and its standard deviation.
struct Estimate {
  double log_factor = 0;              ///< expected log(measured / predicted)
  double spread = 0;                  ///< standard deviation of a further run's, by this
  double prior = 0;                   ///< the same without any row
  std::vector<Neighbour> neighbours;  ///< nearest first; empty: nothing is within reach
  /// Part of the uncertainty that is left: 1 without a row within reach.
  double narrowing() const { return prior > 0 ? spread / prior : 1; }
};

/// Whose rows a question is asked without; empty: nobody's.
struct ExcludedRows {
  std::string source{}, cluster{}, run{};
  double measured = 0;  ///< and rows of just this time, which are the same measurement in another series
  bool names(const EvidenceTable& table, const StoredRow& row) const;
};

/// Rows that are the same run count once; their order makes no difference.
class ResidualField {
 public:
  ResidualField() = default;
  explicit ResidualField(EvidenceTable table) : table_(std::move(table)) {}
  explicit ResidualField(const std::vector<Observation>& rows) : table_(rows) {}
  const EvidenceTable& table() const { return table_; }
  EvidenceTable& table() { return table_; }
  std::vector<Observation> rows() const { return table_.observations(); }

  /// Of the run `question`, whose measured and predicted times do not matter, by the nearest 64 runs. A
  /// question without a source is somebody else's: biases of sources are not carried to it.
  Estimate at(const Observation& question, const ExcludedRows& without = {}) const;

  /// The spread of the estimate once such runs are rows, too, each measured as expected.
  double spread_after(const Observation& question, const std::vector<Observation>& runs) const;

 private:
  EvidenceTable table_;
};

/// Which field, and whose question it is: rows of this source carry their bias to it.
struct EvidenceUse {
  const ResidualField* field = nullptr;  ///< none: as simulated
  std::string source{};
  bool suggests_runs = false;  ///< also which runs would tell most
};

}  // namespace foretrain
