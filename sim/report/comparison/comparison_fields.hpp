// The declared JSON objects of the reports that compare.
#pragma once

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/machines.hpp"
#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// Several comparisons as one report: schema foretrain.comparisons/1.
struct SeveralComparisons {
  const std::vector<Comparison>& comparisons;
};

/// Return the fields of foretrain.comparison/1, comparisons/1, strategies/1 and machines/1.
template <>
const OutputObject<Comparison>& output_object<Comparison>();
template <>
const OutputObject<SeveralComparisons>& output_object<SeveralComparisons>();
template <>
const OutputObject<StrategyMatrix>& output_object<StrategyMatrix>();
template <>
const OutputObject<MachineComparison>& output_object<MachineComparison>();

}  // namespace foretrain
