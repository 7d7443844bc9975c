// One kind of ranks of a recorded program, event by event, as tasks of its process.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/strategy/process/input_pipeline.hpp"
#include "sim/strategy/process/process.hpp"
#include "sim/workload/program/program_replays.hpp"

namespace foretrain {

/// What kinds of ranks tell each other.
struct ReplayMeeting {
  /// Transfers on their way from one kind to another, oldest first.
  std::map<std::pair<std::size_t, std::size_t>, std::deque<TaskId>> messages;
  /// A collective of several kinds: its group and its number among those of that group.
  using Call = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>;
  struct Arrivals {
    std::size_t kinds = 0;
    std::vector<TaskId> ready;
    TaskId task = kNone;  ///< once all have come
  };
  std::map<Call, Arrivals> calls;
};

/// Issues the recorded program of one kind of rank into a task graph, as far as it can go without the other
/// kinds. Ranks that wait for one another take turns through a ReplayMeeting until all are done.
class RankReplay {
 public:
  /// `kind`: index into program.program.ranks. All must outlive it.
  RankReplay(const PlanRequest& request, TaskGraph& graph, const ReplayedProgram& program, std::size_t kind,
             ReplayMeeting& meeting);

  /// Issues events until one has to wait for another kind, or all steps are issued. Whether any was issued.
  bool advance();
  bool is_done() const { return static_cast<int>(step_ends_.size()) == request_.steps; }
  const std::vector<TaskId>& step_ends() const { return step_ends_; }
  const Decisions& decisions() { return process_.decisions(); }
  /// Of all its kernels in a step.
  double kernel_s() const;

 private:
  struct Stream {
    QueueId queue = kNone;
    std::vector<TaskId> waits{};  ///< what its next task has to wait for
  };
  struct Price {
    Time host{}, kernel{};
  };
  struct Work {
    TaskId task = kNone;        ///< none: a receive that nothing was sent for yet
    std::size_t from_kind = 0;  ///< of a receive
    std::uint32_t stream = 0;
  };
  bool issue(const ProgramEvent& event);
  void enter(ProgramPass pass);
  bool leave_pass();
  void issue_operator(const ProgramEvent& event);
  bool issue_collective(const ProgramRow& row);
  TaskId start_collective(const ProgramRow& row, const RankSequence& group, std::span<const TaskId> also);
  void issue_send(const ProgramRow& row);
  void read(const ProgramRow& row);
  /// The row's number; one of its own below 0 where it has none.
  std::int64_t number_of(const ProgramRow& row) const {
    return row.work >= 0 ? row.work : -1 - static_cast<std::int64_t>(at_);
  }
  bool arrive(Work& work);
  bool wait_for(std::int64_t work);
  void end_step();
  std::vector<TaskId> inputs_of(std::uint32_t stream);
  std::size_t kinds_in(const RankSequence& group) const;
  std::size_t kind_of(std::int64_t rank) const;
  Stream& stream(std::uint32_t number);
  HostThread thread() const;

  const PlanRequest& request_;
  const ReplayedProgram& replayed_;
  const ProgramRank& rank_;
  const ExpandedRank& expanded_;
  std::size_t kind_;
  ReplayMeeting& meeting_;
  Process process_;
  InputPipeline input_;
  std::vector<Price> prices_;
  std::vector<LabelId> labels_;  ///< by module
  LabelId optimizer_label_ = kNone;
  std::map<std::uint32_t, Stream> streams_;
  std::map<std::pair<int, int>, QueueId> group_streams_;
  QueueId message_stream_ = kNone;
  std::map<std::int64_t, Work> works_;
  std::map<std::int64_t, std::vector<TaskId>> events_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> calls_;
  std::vector<std::int64_t> open_;  ///< asynchronous works of the pass that nothing waits for by itself
  std::size_t at_ = 0;
  ProgramPass pass_ = ProgramPass::optimizer;
  bool was_backward_ = true, in_pass_ = false, has_arrived_ = false;
  std::vector<TaskId> step_ends_;
};

}  // namespace foretrain
