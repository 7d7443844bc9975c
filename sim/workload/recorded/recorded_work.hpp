// Conversion of one recorded operator to operators of the model: its work at several batches, and the part
// that grows between them.
#pragma once

#include <vector>

#include "sim/workload/recorded/operator_rules.hpp"

namespace foretrain {

/// An operator of the model, with the role that decides how it joins its neighbours.
struct RecordedPiece {
  Operator op;
  OperatorRole role = OperatorRole::alone;
};

/// The kernels of one recorded operator, and whether a rule was found for it.
struct RecordedPieces {
  std::vector<RecordedPiece> pieces;  ///< none for what runs nothing
  bool is_known = true;               ///< there is a rule, or nothing to do
  /// Its work grows faster than the batch: exact at the recorded batch, in proportion elsewhere.
  bool beyond_linear = false;
};

/// Returns the pieces of one recorded operator, for the given interpretation of its types.
RecordedPieces pieces_of(const RecordedNetwork& network, const RecordedOperator& op, RecordedTypes types);

/// True where the first floating-point result, or else operand, has 16 bits.
bool is_own_half(const RecordedNetwork& network, const RecordedOperator& op);

/// Returns elements or bytes, given as `at(batch)`, as an amount. It is exact at the recorded batch, and
/// everywhere if they grow linearly.
template <class At>
Amount amount_between(double batch, At at) {
  const double none = at(0.0);
  return {none, (at(batch) - none) / batch};
}

}  // namespace foretrain
