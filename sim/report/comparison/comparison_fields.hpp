// The objects of the reports that compare.
#pragma once

#include "sim/analysis/search/compare.hpp"
#include "sim/analysis/search/machines.hpp"
#include "sim/analysis/search/strategy_matrix.hpp"
#include "sim/report/fields/shared_fields.hpp"

namespace foretrain {

/// Schema foretrain.comparisons/1.
struct SeveralComparisons {
  const std::vector<Comparison>& comparisons;
};

template <>
const OutputObject<Comparison>& output_object<Comparison>();
template <>
const OutputObject<SeveralComparisons>& output_object<SeveralComparisons>();
template <>
const OutputObject<StrategyMatrix>& output_object<StrategyMatrix>();
template <>
const OutputObject<MachineComparison>& output_object<MachineComparison>();

}  // namespace foretrain
