// Writes what the ranks of a pipeline stage send. Passes stand in the order in which they ran. Each has its
// messages to other stages before and behind those of its layers; at the end stands what ranks exchange once
// in a step.
#include <algorithm>

#include "sim/report/program/sent_program.hpp"
#include "sim/strategy/parallel/rank_groups.hpp"

namespace foretrain {

namespace {

/// Returns the collective of an exchange inside a layer.
WireOperation operation_of(Exchange exchange) {
  constexpr WireOperation kOperations[] = {WireOperation::all_reduce, WireOperation::all_gather,
                                           WireOperation::reduce_scatter, WireOperation::all_to_all,
                                           WireOperation::all_to_all};
  return kOperations[static_cast<std::size_t>(exchange)];
}

// Builds the rows of one stage. Its ranks are alike, so the first one stands for all of them.
class StageRows {
 public:
  StageRows(const LargeStepRecord& record, int stage, SentProgram& program)
      : record_(record),
        stage_(stage),
        rank_(rank_at(record.job.degrees, {0, 0, 0, stage})),
        // `ranks_` is the number of ranks of a stage, and `way_` the number of chunks on the way through the
        // pipeline.
        ranks_(record.job.degrees.gpus() / record.job.degrees.pipeline),
        way_(static_cast<int>(record.chunks.size()) / record.job.ways()),
        head_(program.head) {
    out_.rank = rank_, out_.streams.id_of("");
    out_.like.push_back({rank_, ranks_, 1});
  }
  SentRank rows();

 private:
  /// Adds a pass with its messages.
  void add_pass(const StageSpan& span);
  /// Adds a collective inside a pass; a group of one rank sends nothing.
  void add(const PassMessage& message, ProgramPass pass);
  /// Adds a send or receive between this stage and that of another chunk; nothing when both are on one stage.
  void hand_over(ProgramRow::Kind kind, int chunk, ProgramPass pass);
  /// Moves gathers of parameters from the end of the step into the first forward pass.
  void gather_in_first_pass();

  const LargeStepRecord& record_;
  int stage_, rank_, ranks_, way_;
  Program& head_;
  SentRank out_;
};

void StageRows::add(const PassMessage& message, ProgramPass pass) {
  const std::vector<int> group = group_ranks(record_.job, message.group, rank_);
  if (group.size() < 2) return;
  SentRow sent;
  sent.row.kind = ProgramRow::Kind::collective, sent.row.pass = pass;
  sent.row.operation = operation_of(message.exchange);
  sent.row.bytes = Bytes{static_cast<std::int64_t>(message.bytes)};
  sent.row.group = group_number(head_, sequence_of(group));
  sent.row.stream = out_.streams.id_of(name_of(message.group));
  out_.rows.push_back(std::move(sent));
}

void StageRows::hand_over(ProgramRow::Kind kind, int chunk, ProgramPass pass) {
  const int other = record_.chunks[static_cast<std::size_t>(chunk)].chunk.stage;
  if (other == stage_) return;
  SentRow sent;
  sent.row.kind = kind, sent.row.pass = pass;
  sent.row.bytes = Bytes{static_cast<std::int64_t>(record_.message_bytes)};
  // Ranks of two stages with the same place are a multiple of a stage's ranks apart.
  sent.row.peer = rank_ + std::int64_t{other - stage_} * ranks_;
  out_.rows.push_back(std::move(sent));
}

// Activations come from the chunk before, and gradients from the chunk behind.
void StageRows::add_pass(const StageSpan& span) {
  const bool is_forward = span.work == 'F';
  const ProgramPass pass = is_forward ? ProgramPass::forward : ProgramPass::backward;
  const int place = span.chunk % way_, first = 0, last = way_ - 1;
  const int from = is_forward ? span.chunk - 1 : span.chunk + 1;
  const int to = is_forward ? span.chunk + 1 : span.chunk - 1;
  if (place != (is_forward ? first : last)) hand_over(ProgramRow::Kind::receive, from, pass);
  const RecordedChunk& chunk = record_.chunks[static_cast<std::size_t>(span.chunk)];
  for (const PassMessage& message : is_forward ? chunk.messages.forward : chunk.messages.backward)
    add(message, pass);
  if (place != (is_forward ? last : first)) hand_over(ProgramRow::Kind::send, to, pass);
}

// Parameters that are gathered once in a step come behind the input of the first forward pass.
void StageRows::gather_in_first_pass() {
  const auto is_gather = [](const SentRow& sent) {
    return sent.row.pass == ProgramPass::optimizer && sent.row.operation == WireOperation::all_gather;
  };
  std::stable_partition(out_.rows.begin(), out_.rows.end(),
                        [&](const SentRow& sent) { return !is_gather(sent); });
  const auto gathers = std::ranges::find_if(out_.rows, is_gather);
  const auto input = std::ranges::find_if(
      out_.rows, [](const SentRow& sent) { return sent.row.kind != ProgramRow::Kind::receive; });
  for (auto row = gathers; row != out_.rows.end(); ++row) row->row.pass = ProgramPass::forward;
  std::rotate(input, gathers, out_.rows.end());
}

SentRank StageRows::rows() {
  std::vector<StageSpan> own;
  for (const StageSpan& span : record_.spans) {
    if (span.stage == stage_ && (span.work == 'F' || span.work == 'B')) own.push_back(span);
  }
  std::ranges::stable_sort(own, {}, &StageSpan::begin_s);
  for (const StageSpan& span : own) add_pass(span);
  for (const PassMessage& message : record_.ends[static_cast<std::size_t>(stage_)].messages)
    add(message, ProgramPass::optimizer);
  if (record_.job.keeps_gathered()) gather_in_first_pass();
  return std::move(out_);
}

}  // namespace

// The head of the file describes the whole job, and each stage is one sort of ranks.
void add_stages(const LargeStepRecord& record, SentProgram& program) {
  const LargeModelRun& job = record.job;
  program.head.framework = "[parallel] " + to_string(job.degrees);
  program.head.world = job.degrees.gpus(), program.head.data_ranks = job.degrees.data;
  program.head.batch = job.micro_batch * job.micro_batches(), program.head.micro_steps = job.micro_batches();
  program.head.groups.push_back({0, program.head.world, 1});
  if (record.left_out > 0)
    program.head.notes.front() += " Micro-batches in the middle are left out: they repeat.";
  for (int stage = 0; stage < job.degrees.pipeline; ++stage)
    program.ranks.push_back(StageRows(record, stage, program).rows());
}

}  // namespace foretrain
