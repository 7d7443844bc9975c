// The messages of a simulated step's ranks, in the form of a program file (docs/reference/program.md).
#pragma once

#include <string>
#include <vector>

#include "sim/analysis/step/step_simulator.hpp"
#include "sim/workload/program/program.hpp"

namespace foretrain {

/// A collective, send or receive. Valid members of `row` are operation, group, bytes, pass, peer and stream.
struct SentRow {
  ProgramRow row;
  /// Type of the elements, such as "f32" or "bf16"; empty: unknown.
  std::string type{};
  /// Purpose of the message, in words.
  std::string of{};
};

/// Ranks that send the same messages.
struct SentRank {
  /// The rank that was recorded.
  std::int64_t rank = 0;
  /// Ranks that it stands for.
  std::vector<RankSequence> like{};
  NameTable streams{};
  std::vector<SentRow> rows{};
};

/// An optimizer step in the steady state. Valid members of `head` are name, world, counts, groups and notes.
struct SentProgram {
  Program head;
  std::vector<SentRank> ranks;
};

/// Makes a program of the simulated graphs. A strategy has one entry for each sort of ranks; a layout of
/// [parallel] has one for each stage. Throws InputError when one process drives several GPUs, or when the
/// scenario is a recorded program.
SentProgram sent_program(const StepRecording& recorded, const Scenario& scenario);

/// Returns the number of the group in `head`; a new group is added.
std::uint32_t group_number(Program& head, const RankSequence& ranks);
/// Returns ascending ranks as a sequence. For ranks without a common stride, only first rank, size and first
/// stride hold.
RankSequence sequence_of(const std::vector<int>& ranks);

/// Adds the rows of all stages of a layout (sent_layout.cpp).
void add_stages(const LargeStepRecord& record, SentProgram& program);

/// Returns the program as TOML.
std::string write_sent_program(const SentProgram& program);  // sent_program_text.cpp

}  // namespace foretrain
