// Makes a program file of a simulated step. Messages are the traffic notes of the last step's tasks, in the
// order in which the host issued them.
//
// The result can be given to `foretrain predict --program`, or to other simulators that want messages without
// operators.
#include "sim/report/program/sent_program.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/scenario/job.hpp"
#include "sim/strategy/catalog.hpp"

namespace foretrain {

namespace {

/// Returns the operation under the name that program files use.
WireOperation wire_operation(CollectiveOp op) {
  constexpr WireOperation kOperations[] = {
      WireOperation::all_reduce, WireOperation::broadcast, WireOperation::reduce_scatter,
      WireOperation::all_gather, WireOperation::reduce,    WireOperation::all_to_all,
      WireOperation::all_to_all, WireOperation::gather,    WireOperation::scatter};
  return kOperations[static_cast<std::size_t>(op)];
}

/// Returns the type of the elements; 16-bit types depend on the precision of the training.
std::string type_text(WireType type, Precision precision) {
  constexpr std::string_view kNames[] = {"", "f32", "bf16", "f64", "i32", "i64", "u8", "bf16", "f16"};
  if (type == WireType::half && precision == Precision::amp_fp16) return "f16";
  return std::string(kNames[static_cast<std::size_t>(type)]);
}

/// Returns the ranks in the group of rank `own`: all, those of its node, or those at the same place of every
/// node.
RankSequence members_of(Group group, const Placement& job, std::size_t own) {
  if (group == Group::world) return {0, job.size(), 1};
  std::vector<int> ranks;
  std::map<int, int> seen;
  std::vector<int> places;
  for (const GpuPlace& rank : job.ranks) places.push_back(seen[rank.node]++);
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const bool is_in =
        group == Group::node ? job.ranks[i].node == job.ranks[own].node : places[i] == places[own];
    if (is_in) ranks.push_back(static_cast<int>(i));
  }
  return sequence_of(ranks);
}

/// Returns the notes of the last step. The optimizer of the step before may still send behind its last
/// kernel; these notes belong to that step and are skipped.
std::vector<TrafficNote> notes_of_last_step(const Plan& plan) {
  const std::vector<TrafficNote>& all = plan.graph.traffic_notes();
  const std::size_t steps = plan.step_ends.size();
  if (steps < 2) return all;
  const TaskId before = plan.step_ends[steps - 2];
  auto first = std::ranges::find_if(all, [&](const TrafficNote& note) { return note.task > before; });
  while (first != all.end() && first->pass == static_cast<std::uint8_t>(StepPass::optimizer)) ++first;
  return {first, all.end()};
}

/// Returns the messages of one recorded rank. A group of one rank sends nothing.
SentRank rank_of(const RecordedRank& recorded, const Scenario& scenario, Program& head) {
  const TaskGraph& graph = recorded.steps.plan.graph;
  const auto own = static_cast<std::size_t>(recorded.rank.first);
  SentRank out;
  out.rank = recorded.rank.first;
  out.streams.id_of("");
  for (const TrafficNote& note : notes_of_last_step(recorded.steps.plan)) {
    const Task& task = graph.tasks()[note.task];
    const RankSequence group = members_of(static_cast<Group>(note.among), recorded.steps.job, own);
    if (group.size < 2) continue;
    SentRow sent;
    sent.row.kind = ProgramRow::Kind::collective;
    sent.row.pass = static_cast<ProgramPass>(note.pass);
    sent.row.operation = wire_operation(static_cast<CollectiveOp>(note.operation));
    sent.row.bytes = note.size, sent.row.group = group_number(head, group);
    sent.row.stream = out.streams.id_of(graph.queues()[task.queue].name);
    sent.type = type_text(static_cast<WireType>(note.type), scenario.workload.precision);
    if (task.label != kNone) sent.of = std::string(graph.label_text(task.label));
    out.rows.push_back(std::move(sent));
  }
  return out;
}

// Each rank is like the recorded one before it, since a sort of ranks begins at its first rank.
void share_out_ranks(SentProgram& program) {
  std::ranges::sort(program.ranks, {}, &SentRank::rank);
  for (std::size_t i = 0; i < program.ranks.size(); ++i) {
    const std::int64_t first = i == 0 ? 0 : program.ranks[i].rank;
    const std::int64_t end = i + 1 < program.ranks.size() ? program.ranks[i + 1].rank : program.head.world;
    program.ranks[i].like.push_back({first, end - first, 1});
  }
}

}  // namespace

std::uint32_t group_number(Program& head, const RankSequence& ranks) {
  const auto known = std::ranges::find(head.groups, ranks);
  const auto number = static_cast<std::uint32_t>(known - head.groups.begin());
  if (known == head.groups.end()) head.groups.push_back(ranks);
  return number;
}

RankSequence sequence_of(const std::vector<int>& ranks) {
  const std::int64_t stride = ranks.size() > 1 ? ranks[1] - ranks[0] : 1;
  return {ranks.empty() ? 0 : ranks.front(), static_cast<std::int64_t>(ranks.size()), stride};
}

// A recorded program, and strategies with several GPUs in a process, have no form in a program file.
SentProgram sent_program(const StepRecording& recorded, const Scenario& scenario) {
  SentProgram out;
  out.head.name = scenario.model.name;
  out.head.notes.push_back("These are the messages of a simulated step; operators are left out.");
  if (recorded.stages) return add_stages(*recorded.stages, out), out;
  if (scenario.program)
    throw InputError("this scenario is a recorded program already",
                     "--program-out writes what a strategy sends");
  const StrategyEntry& strategy = *find_strategy(scenario.strategy);
  if (strategy.processes != Processes::per_gpu)
    throw InputError(fmt::format("{} drives several GPUs from one process, which a program file does not say",
                                 strategy.name),
                     "strategies with one process per GPU do, as ddp, zero2 or fsdp2");
  out.head.framework = std::string(strategy.name);
  out.head.world = out.head.data_ranks = recorded.ranks.front().steps.job.size();
  out.head.micro_steps = scenario.knobs.accumulation;
  out.head.batch = recorded.ranks.front().rank.batch * scenario.knobs.accumulation;
  out.head.trained = scenario.workload.model->parameter_elements();
  out.head.parameters = out.head.trained + scenario.workload.model->frozen_elements();
  out.head.groups.push_back({0, out.head.world, 1});
  for (const RecordedRank& rank : recorded.ranks) out.ranks.push_back(rank_of(rank, scenario, out.head));
  share_out_ranks(out);
  return out;
}

}  // namespace foretrain
