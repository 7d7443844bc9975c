// Replay of one kind of rank of a recorded program: its events become tasks of a process.
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

/// State that the kinds of ranks share: messages between them and collectives that several of them join.
struct ReplayMeeting {
  /// Transfers on their way, by sending and receiving kind, oldest first.
  std::map<std::pair<std::size_t, std::size_t>, std::deque<TaskId>> messages;
  /// Identifies a collective of several kinds: first rank, size and stride of its group, and its number among
  /// the collectives of that group.
  using Call = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::size_t>;
  /// The kinds that have reached a collective, and the tasks after which each is ready.
  struct Arrivals {
    std::size_t kinds = 0;
    std::vector<TaskId> ready;
    /// The collective; kNone until all kinds have arrived.
    TaskId task = kNone;
  };
  std::map<Call, Arrivals> calls;
};

/// Issues the recorded program of one kind of rank into a task graph, as far as it can go without the other
/// kinds. Ranks that wait for one another take turns through a ReplayMeeting until all are done.
class RankReplay {
 public:
  /// `kind`: index into program.program.ranks. All arguments must outlive this object.
  RankReplay(const PlanRequest& request, TaskGraph& graph, const ReplayedProgram& program, std::size_t kind,
             ReplayMeeting& meeting);

  /// Issues events until one has to wait for another kind, or all steps are issued. Returns whether any event
  /// was issued. A call after a blocked one resumes at the same event.
  bool advance();
  /// Returns whether all steps of the request are issued.
  bool is_done() const { return static_cast<int>(step_ends_.size()) == request_.steps; }
  /// Last kernel of the compute stream in each step.
  const std::vector<TaskId>& step_ends() const { return step_ends_; }
  const Decisions& decisions() { return process_.decisions(); }
  /// Returns the seconds of all its kernels in a step.
  double kernel_s() const;

 private:
  /// A recorded stream and its queue in the task graph.
  struct Stream {
    QueueId queue = kNone;
    /// Tasks that the stream's next task has to wait for.
    std::vector<TaskId> waits{};
  };
  /// Host time and kernel time of an operator on this machine.
  struct Price {
    Time host{}, kernel{};
  };
  /// A collective, send or receive that a later event may wait for.
  struct Work {
    /// kNone: a receive whose send was not issued yet.
    TaskId task = kNone;
    /// The kind that sends, for receives.
    std::size_t from_kind = 0;
    std::uint32_t stream = 0;
  };
  /// Issues one event; returns false if it has to wait for another kind.
  bool issue(const ProgramEvent& event);
  /// Begins a pass: the batch before forward, the change of thread before backward.
  void enter(ProgramPass pass);
  /// Ends a pass; returns false if a receive in it has not arrived.
  bool leave_pass();
  void issue_operator(const ProgramEvent& event);
  /// Returns false until all kinds in the group have reached the collective.
  bool issue_collective(const ProgramRow& row);
  /// Starts a collective on the stream of its group, after its inputs and the tasks `also`.
  TaskId start_collective(const ProgramRow& row, const RankSequence& group, std::span<const TaskId> also);
  void issue_send(const ProgramRow& row);
  /// The host reads a result, which waits for the stream.
  void read(const ProgramRow& row);
  /// Returns the row's number, or a unique negative one if the row has none.
  std::int64_t number_of(const ProgramRow& row) const {
    return row.work >= 0 ? row.work : -1 - static_cast<std::int64_t>(at_);
  }
  /// Connects a receive with the oldest message to this kind; returns false if there is none yet.
  bool arrive(Work& work);
  /// Makes the work's stream wait for it; returns false if a receive has not arrived. Unknown numbers are
  /// ignored.
  bool wait_for(std::int64_t work);
  void end_step();
  /// Returns the tasks that a task issued on the stream at this point has to wait for.
  std::vector<TaskId> inputs_of(std::uint32_t stream);
  /// Returns the number of kinds with a rank in the group.
  std::size_t kinds_in(const RankSequence& group) const;
  /// Returns the kind of a rank; its own kind if no other claims the rank.
  std::size_t kind_of(std::int64_t rank) const;
  /// Returns a stream by its recorded number; number 0 is the compute stream.
  Stream& stream(std::uint32_t number);
  /// Returns the thread that issues the pass: autograd's in backward, else the main thread.
  HostThread thread() const;

  const PlanRequest& request_;
  const ReplayedProgram& replayed_;
  const ProgramRank& rank_;
  const ExpandedRank& expanded_;
  std::size_t kind_;
  ReplayMeeting& meeting_;
  Process process_;
  InputPipeline input_;
  /// Prices of operators, by index of the event's row.
  std::vector<Price> prices_;
  /// Labels by module.
  std::vector<LabelId> labels_;
  LabelId optimizer_label_ = kNone;
  std::map<std::uint32_t, Stream> streams_;
  /// NCCL streams by size and stride of the group.
  std::map<std::pair<int, int>, QueueId> group_streams_;
  QueueId message_stream_ = kNone;
  /// Works of this step by number, and recorded events by number: the tasks that they wait for.
  std::map<std::int64_t, Work> works_;
  std::map<std::int64_t, std::vector<TaskId>> events_;
  /// Number of collectives so far, by group of several kinds.
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::size_t> calls_;
  /// Asynchronous collectives and receives of the pass that no wait event has named yet.
  std::vector<std::int64_t> open_;
  /// The next event.
  std::size_t at_ = 0;
  ProgramPass pass_ = ProgramPass::optimizer;
  /// `has_arrived_`: the collective at `at_` has counted this kind already.
  bool was_backward_ = true, in_pass_ = false, has_arrived_ = false;
  std::vector<TaskId> step_ends_;
};

}  // namespace foretrain
