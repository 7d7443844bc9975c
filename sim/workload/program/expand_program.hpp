// A recorded program as what its replay issues: priced operators, each different one once, and what stands
// between them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// One thing the replay issues; ProgramRow says what its fields mean, but of an operator `row.index` counts
/// in ExpandedRank::operators.
struct ProgramEvent {
  ProgramRow row;
  std::uint32_t module = 0;  ///< of an operator: into RecordedNetwork::module_names
};

/// The recorded program of one kind of rank after expansion: its distinct operators, and the events that
/// issue them.
struct ExpandedRank {
  std::vector<Operator> operators;  ///< different ones; all at a batch of 1
  std::vector<ProgramEvent> events;
};

/// Operators that one call of the framework issues are one operator of the replay (call_groups.hpp); rows
/// that are none keep their place between them.
ExpandedRank expand_rank(const ProgramRank& rank);

/// The first micro-step of the first kind as a network of operators, for what asks about networks: names,
/// parameters that the rank holds, work.
ExpandedModel first_micro_step(const Program& program);

/// What a kind of ranks holds on its GPU, by the recorded storages, at the fullest moment of the step.
struct ProgramMemory {
  Bytes parameters{}, gradients{}, optimizer{}, activations{}, communication{}, other{};
  Bytes total() const { return parameters + gradients + optimizer + activations + communication + other; }
};
ProgramMemory memory_of(const ProgramRank& rank);

}  // namespace foretrain
