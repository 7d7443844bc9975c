// The quality of strategy choices: for settings at which several strategies were measured, whether the one
// that predictions name first was the best.
#pragma once

#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// Counts over settings: rows that agree in model, cluster, precision, batch, GPUs, nodes and metric. Several
/// rows of a strategy count by their mean. Rates in unknown units are left out.
struct StrategyChoices {
  /// Settings with at least two strategies.
  int settings = 0;
  /// Settings at which the strategy named first was measured first or within 2 % of it.
  int first_right = 0;
  /// The same for the strategy predicted to be fastest, however close the others are.
  int fastest_right = 0;
  /// Other strategies predicted within 2 % of the fastest, over all settings.
  int tied = 0;
  /// Count of these that were measured within 2 % of it.
  int tied_right = 0;
  /// Count of these that were measured within 5 % of it.
  int tied_near = 0;
  /// Other strategies predicted slower by more than 2 %, and those of them that were measured slower at all.
  int slower = 0, slower_right = 0;
};

/// Counts the choices of all settings.
StrategyChoices strategy_choices(const Validation& validation);

}  // namespace foretrain
