// What the ranks of a simulated step send, in the form of a program file (docs/reference/program.md).
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// A collective, send or receive; of `row` its operation, group, bytes, pass, peer and stream hold.
struct SentRow {
  ProgramRow row;
  std::string type{};  ///< "f32", "bf16", …; empty: not said
  std::string of{};    ///< for what, in words
};

/// Ranks that send alike.
struct SentRank {
  std::int64_t rank = 0;
  std::vector<RankSequence> like{};
  NameTable streams{};
  std::vector<SentRow> rows{};
};

/// One optimizer step in the steady state. Of `head` its name, world, counts, groups and notes hold.
struct SentProgram {
  Program head;
  std::vector<SentRank> ranks;
};

/// From the graphs that were simulated. A strategy has one entry for each sort of ranks, a layout of
/// [parallel] one for each stage. Throws InputError where one process drives several GPUs.
SentProgram sent_program(const StepRecording& recorded, const Scenario& scenario);

/// The number of the group, which is added where it is new.
std::uint32_t group_number(Program& head, const RankSequence& ranks);
/// `ranks` in order as a sequence; of ranks without a common stride as many in a row.
RankSequence sequence_of(const std::vector<int>& ranks);

/// Rows of the stages of a layout (sent_layout.cpp).
void add_stages(const LargeStepRecord& record, SentProgram& program);

/// As TOML.
std::string write_sent_program(const SentProgram& program);  // sent_program_text.cpp

}  // namespace foretrain
