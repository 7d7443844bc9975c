// From one recorded operator to the operators of the model: its work at two batches, and what grows between
// them.
#pragma once

#include <vector>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {

/// An operator of the model, and what decides how it goes together with its neighbours.
struct RecordedPiece {
  Operator op;
  OperatorRole role = OperatorRole::alone;
};

/// The kernels that one recorded operator comes to, and whether a rule was found for it.
struct RecordedPieces {
  std::vector<RecordedPiece> pieces;  ///< none for what runs nothing
  bool is_known = true;               ///< there is a rule, or nothing to do
  /// Grows faster than the batch: exact at the recorded batch, in proportion elsewhere.
  bool beyond_linear = false;
};

RecordedPieces pieces_of(const RecordedNetwork& network, const RecordedOperator& op, RecordedTypes types);

/// Whether its first floating-point result, or operand, has 16 bits.
bool is_own_half(const RecordedNetwork& network, const RecordedOperator& op);

/// Elements or bytes that are `at(batch)`: exact at the recorded batch, and everywhere if they grow in a
/// line.
template <class At>
Amount amount_between(double batch, At at) {
  const double none = at(0.0);
  return {none, (at(batch) - none) / batch};
}

}  // namespace foretrain
