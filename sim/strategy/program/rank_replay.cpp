// Replay of one kind of rank.
//
// Operators go to the stream on which they were recorded. A collective waits for that stream and runs on the
// stream of its group, as NCCL's communicators do. A recorded program states by group and sequence number
// which collectives belong together. Replay issues the same calls on another machine; durations come from the
// models, the order from the recording.
#include "sim/strategy/program/rank_replay.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/workload/device/host_time.hpp"
#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

namespace {

using Kind = ProgramRow::Kind;

/// The array follows the order of WireOperation; a barrier is an all-reduce.
CollectiveOp op_of(WireOperation operation) {
  constexpr CollectiveOp kOps[] = {
      CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
      CollectiveOp::broadcast,  CollectiveOp::reduce,     CollectiveOp::alltoall,
      CollectiveOp::gather,     CollectiveOp::scatter,    CollectiveOp::all_reduce};
  return kOps[static_cast<std::size_t>(operation)];
}

/// Bytes of a barrier, which NCCL implements as an all-reduce of one number.
constexpr Bytes kBarrier{4};

}  // namespace

RankReplay::RankReplay(const PlanRequest& request, TaskGraph& graph, const ReplayedProgram& program,
                       std::size_t kind, ReplayMeeting& meeting)
    : request_(request),
      replayed_(program),
      rank_(program.program.ranks[kind]),
      expanded_(program.ranks[kind]),
      kind_(kind),
      meeting_(meeting),
      process_(request, graph),
      input_(process_) {
  // Operators are priced once; every step issues the same ones.
  const Workload& work = request.workload;
  const KernelContext context{process_.gpu(), process_.kernels(), work.precision, work.framework, false};
  const HostCalibration& host = process_.host_costs();
  for (const Operator& op : expanded_.operators)
    prices_.push_back({host_time(op, process_.host_cpu(), host, work.precision, work.framework),
                       kernel_time(op, context, 1)});
  for (std::uint32_t i = 0; i < rank_.network.module_names.size(); ++i) {
    const std::string& module = rank_.network.module_names.at(i);
    labels_.push_back(graph.label(module.empty() ? "outside of modules" : module));
  }
  if (labels_.empty()) labels_.push_back(graph.label("outside of modules"));
  optimizer_label_ = graph.label("optimizer");
}

double RankReplay::kernel_s() const {
  double sum = 0;
  for (const ProgramEvent& event : expanded_.events) {
    if (event.row.kind == Kind::op) sum += to_seconds(prices_[event.row.index].kernel);
  }
  return sum;
}

HostThread RankReplay::thread() const {
  return pass_ == ProgramPass::backward ? process_.autograd_thread() : process_.main_thread();
}

RankReplay::Stream& RankReplay::stream(std::uint32_t number) {
  Stream& found = streams_[number];
  if (found.queue != kNone) return found;
  found.queue =
      number == 0 ? process_.compute_stream() : process_.graph().add_queue(rank_.streams.at(number));
  return found;
}

/// The stream's last task and the tasks that the stream was told to wait for.
std::vector<TaskId> RankReplay::inputs_of(std::uint32_t number) {
  const Stream& on = stream(number);
  std::vector<TaskId> inputs = on.waits;
  if (const TaskId last = process_.graph().last_on(on.queue); last != kNone) inputs.push_back(last);
  return inputs;
}

bool RankReplay::advance() {
  bool any = false;
  while (!is_done()) {
    // The program's end is the end of a step, and replay starts anew.
    if (at_ == expanded_.events.size()) {
      if (!leave_pass()) return any;
      end_step();
      any = true;
      continue;
    }
    const ProgramEvent& event = expanded_.events[at_];
    if (!in_pass_ || event.row.pass != pass_) {
      if (in_pass_ && !leave_pass()) return any;
      enter(event.row.pass);
    }
    if (!issue(event)) return any;
    ++at_;
    any = true;
  }
  return any;
}

void RankReplay::enter(ProgramPass pass) {
  pass_ = pass;
  in_pass_ = true;
  const HostThread main = process_.main_thread();
  if (pass == ProgramPass::forward && was_backward_) {
    input_.load_batch();
    was_backward_ = false;
  }
  if (pass != ProgramPass::backward) return;
  was_backward_ = true;
  process_.host(main, process_.host_costs().backward_call, Account::host);
  process_.hand_over(main, process_.autograd_thread());
}

/// Asynchronous collectives, sends and receives of the pass, for which no event waits, are awaited at its
/// end.
bool RankReplay::leave_pass() {
  while (!open_.empty()) {
    const std::int64_t number = open_.back();
    if (!wait_for(number)) return false;
    std::erase(open_, number);
  }
  if (pass_ == ProgramPass::backward) process_.hand_over(process_.autograd_thread(), process_.main_thread());
  in_pass_ = false;
  return true;
}

/// Works and recorded events belong to one step.
void RankReplay::end_step() {
  process_.host(process_.main_thread(), process_.host_costs().iteration, Account::host);
  step_ends_.push_back(process_.last_kernel());
  at_ = 0;
  in_pass_ = false;
  was_backward_ = true;
  works_.clear();
  events_.clear();
}

bool RankReplay::issue(const ProgramEvent& event) {
  const ProgramRow& row = event.row;
  switch (row.kind) {
    case Kind::op:
      issue_operator(event);
      return true;
    case Kind::collective:
      return issue_collective(row);
    case Kind::send:
      issue_send(row);
      return true;
    // A receive adds no task of its own: the sender's message ends it.
    case Kind::receive:
      works_[number_of(row)] = {kNone, kind_of(row.peer), row.stream};
      if (row.is_async) {
        open_.push_back(number_of(row));
        return true;
      }
      return wait_for(number_of(row));
    case Kind::wait:
      return wait_for(row.work);
    case Kind::read:
      read(row);
      return true;
    // CUDA events: `record` notes the work of a stream so far, `until` makes another stream wait for it.
    case Kind::record:
      events_[row.work] = inputs_of(row.stream);
      return true;
    case Kind::until: {
      std::vector<TaskId>& waits = stream(row.stream).waits;
      const std::vector<TaskId>& recorded = events_[row.work];
      waits.insert(waits.end(), recorded.begin(), recorded.end());
      return true;
    }
  }
  return true;
}

void RankReplay::issue_operator(const ProgramEvent& event) {
  const Price& price = prices_[event.row.index];
  const Account account = event.row.pass == ProgramPass::optimizer ? Account::optimizer : Account::compute;
  Stream& on = stream(event.row.stream);
  const std::vector<TaskId> waits = std::exchange(on.waits, {});
  const LabelId label = account == Account::optimizer
                            ? optimizer_label_
                            : labels_[std::min<std::size_t>(event.module, labels_.size() - 1)];
  // Kernels of other streams compete with the compute stream for memory bandwidth (Process::launch_on).
  if (event.row.stream == 0) {
    for (const TaskId task : waits) process_.stream_waits_for(task);
    process_.launch(thread(), price.host, price.kernel, account, label);
  } else {
    process_.launch_on(on.queue, thread(), price.host, price.kernel, label, waits);
  }
}

std::size_t RankReplay::kind_of(std::int64_t rank) const {
  const std::vector<ProgramRank>& kinds = replayed_.program.ranks;
  const auto found = std::ranges::find_if(kinds, [&](const ProgramRank& kind) {
    return std::ranges::any_of(kind.like, [&](const RankSequence& like) { return like.contains(rank); });
  });
  return found == kinds.end() ? kind_ : static_cast<std::size_t>(found - kinds.begin());
}

std::size_t RankReplay::kinds_in(const RankSequence& group) const {
  if (replayed_.program.ranks.size() == 1) return 1;
  std::set<std::size_t> kinds;
  for (std::int64_t i = 0; i < group.size; ++i) kinds.insert(kind_of(group.first + i * group.stride));
  return kinds.size();
}

TaskId RankReplay::start_collective(const ProgramRow& row, const RankSequence& group,
                                    std::span<const TaskId> also) {
  const auto size = static_cast<int>(group.size), stride = static_cast<int>(group.stride);
  const bool is_world = size == request_.placement.size();
  const auto [known, is_new] = group_streams_.try_emplace({size, stride}, process_.nccl_stream());
  if (is_new && group_streams_.size() > 1)
    known->second = process_.graph().add_queue(fmt::format("NCCL stream of {} by {}", size, stride));
  std::vector<TaskId> after = inputs_of(row.stream);
  after.insert(after.end(), also.begin(), also.end());
  // The call is then the only input; without it the collective would wait for the compute stream.
  if (after.empty()) after.push_back(process_.host(thread(), Time::zero(), Account::host));
  const Bytes bytes = row.operation == WireOperation::barrier ? kBarrier : row.bytes;
  const LabelId label =
      process_.graph().label(fmt::format("{} {}", name_of(row.operation), to_string(bytes)));
  return process_.collective({thread(), op_of(row.operation), bytes, label, known->second, after,
                              is_world ? Group::world : process_.add_group(size, stride)});
}

bool RankReplay::issue_collective(const ProgramRow& row) {
  const RankSequence& group = replayed_.program.groups[row.group];
  // A group of one rank exchanges nothing.
  if (group.size == 1) return true;
  TaskId task = kNone;
  const std::size_t kinds = kinds_in(group);
  // All ranks of the group are of this kind, so its representative starts the collective.
  if (kinds == 1) {
    task = start_collective(row, group, {});
  } else {
    const std::tuple key{group.first, group.size, group.stride};
    ReplayMeeting::Arrivals& call = meeting_.calls[{group.first, group.size, group.stride, calls_[key]}];
    // The kind that arrives last starts the collective, when all kinds are ready; the others resume with its
    // task.
    if (!has_arrived_) {
      const std::vector<TaskId> ready = inputs_of(row.stream);
      call.ready.insert(call.ready.end(), ready.begin(), ready.end());
      has_arrived_ = true;
      if (++call.kinds == kinds) call.task = start_collective(row, group, call.ready);
    }
    if (call.task == kNone) return false;
    task = call.task;
    has_arrived_ = false;
    ++calls_[key];
  }
  works_[number_of(row)] = {task, kind_, row.stream};
  if (row.is_async)
    open_.push_back(number_of(row));
  else
    stream(row.stream).waits.push_back(task);
  return true;
}

void RankReplay::issue_send(const ProgramRow& row) {
  if (message_stream_ == kNone) message_stream_ = process_.graph().add_queue("NCCL stream of messages");
  const GpuPlace to = (request_.job != nullptr ? *request_.job : request_.placement)
                          .ranks[static_cast<std::size_t>(row.peer)];
  const LabelId label = process_.graph().label(fmt::format("send {}", to_string(row.bytes)));
  const TaskId task =
      process_.message(thread(), to, row.bytes, label, message_stream_, inputs_of(row.stream));
  meeting_.messages[{kind_, kind_of(row.peer)}].push_back(task);
  works_[number_of(row)] = {task, kind_, row.stream};
  if (row.is_async)
    open_.push_back(number_of(row));
  else
    stream(row.stream).waits.push_back(task);
}

void RankReplay::read(const ProgramRow& row) {
  Stream& on = stream(row.stream);
  if (row.stream == 0) {
    for (const TaskId task : std::exchange(on.waits, {})) process_.stream_waits_for(task);
    if (row.bytes.count > 0)
      process_.launch_copy(thread(), row.bytes, Time::zero(), Account::host,
                           process_.graph().label("read by the host"));
    process_.synchronize(thread());
    return;
  }
  // A read on another stream waits for the stream's work only.
  for (const TaskId task : inputs_of(row.stream)) process_.synchronize(thread(), task);
}

/// A receive ends with the transfer that the other kind has begun.
bool RankReplay::arrive(Work& work) {
  if (work.task != kNone) return true;
  std::deque<TaskId>& sent = meeting_.messages[{work.from_kind, kind_}];
  if (sent.empty()) return false;
  work.task = sent.front();
  sent.pop_front();
  return true;
}

bool RankReplay::wait_for(std::int64_t number) {
  const auto found = works_.find(number);
  if (found == works_.end()) return true;
  if (!arrive(found->second)) return false;
  stream(found->second.stream).waits.push_back(found->second.task);
  std::erase(open_, number);
  return true;
}

}  // namespace foretrain
