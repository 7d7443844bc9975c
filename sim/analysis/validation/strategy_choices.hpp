// Where several strategies were measured at one setting: whether the one that the predictions name first was.
#pragma once

#include "sim/analysis/validation/validation.hpp"

namespace foretrain {

/// Rows that agree in model, cluster, precision, batch, GPUs, nodes and metric; of several rows of a strategy
/// the mean. Rates in unknown units are left out.
struct StrategyChoices {
  int settings = 0;                  ///< with at least two strategies
  int first_right = 0;               ///< the one named first was measured first or within 2 % of it
  int fastest_right = 0;             ///< the same of the one predicted fastest, however close the others are
  int tied = 0;                      ///< others predicted within 2 % of the fastest, over all settings
  int tied_right = 0;                ///< of these measured within 2 % of that one
  int tied_near = 0;                 ///< … within 5 %
  int slower = 0, slower_right = 0;  ///< others predicted slower by more, and measured slower at all
};

StrategyChoices strategy_choices(const Validation& validation);

}  // namespace foretrain
