// Expansion of a recorded program into what its replay issues: priced operators, each different one once, and
// the events between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// An event of the replay. Its fields mean what ProgramRow says, except that `row.index` of an operator
/// counts in ExpandedRank::operators.
struct ProgramEvent {
  ProgramRow row;
  /// Module of an operator: index into RecordedNetwork::module_names.
  std::uint32_t module = 0;
};

/// The recorded program of one kind of rank after expansion: its distinct operators, and the events that
/// issue them.
struct ExpandedRank {
  std::vector<Operator> operators;  ///< different ones; all at a batch of 1
  std::vector<ProgramEvent> events;
};

/// Expands the program of one kind of rank. Operators that one call of the framework issues become one
/// operator of the replay (call_groups.hpp). Rows that are no operators keep their place between them. Linear
/// in rows, with a logarithmic search for equal operators.
ExpandedRank expand_rank(const ProgramRank& rank);

/// Returns the first micro-step of the first kind as a network of operators, for code that asks about
/// networks: names, parameters that the rank holds, work. Requires at least one kind.
ExpandedModel first_micro_step(const Program& program);

/// Bytes that a kind of ranks holds on its GPU at the fullest moment of the step, by the recorded storages.
struct ProgramMemory {
  Bytes parameters{}, gradients{}, optimizer{}, activations{}, communication{}, other{};
  Bytes total() const { return parameters + gradients + optimizer + activations + communication + other; }
};
/// Returns the memory of one kind of ranks.
ProgramMemory memory_of(const ProgramRank& rank);

}  // namespace foretrain
