// The pipeline of one step as a task graph, one level above the kernels.
//
// A task is the forward or backward pass of one micro-batch through one model chunk. Passes follow the
// schedule's order on the queue of their stage. The durations of passes are simulated once for each kind of
// chunk (chunk_timing.hpp) and reused here. A message between stages is the lag of the dependency between two
// passes. Gradients leave in pieces during the last backward pass of their chunk, on a queue of their own. At
// the end all stages agree on the gradients' norm, then each updates its own weights. The bubble is not a
// formula: it is the time in which a stage's queue has nothing to run, for any schedule. Invariant: a pass is
// added only after all passes that it depends on (executable_order.cpp).
#include "sim/strategy/parallel/pipeline_graph.hpp"

#include <algorithm>
#include <map>

#include "sim/base/diagnostics.hpp"
#include "sim/engine/executor.hpp"

namespace foretrain {

namespace {

/// Largest number of pieces of a backward pass during which gradients leave.
constexpr int kMostPieces = 8;

/// Builds the graph, runs it and reads the result.
class PipelineGraph {
 public:
  PipelineGraph(const PipelineCosts& costs, const LargeModelRun& job, int micro_batches)
      : costs_(costs), job_(job), micro_batches_(micro_batches) {
    for (int stage = 0; stage < job.degrees.pipeline; ++stage) {
      passes_.push_back(graph_.add_queue("stage"));
      exchanges_.push_back(graph_.add_queue("gradients"));
      devices_.push_back(graph_.add_device("gpu"));
    }
    // A single stage computes weight gradients together with the rest.
    split_ = job.degrees.pipeline > 1;
    way_ = static_cast<int>(costs.chunks.size()) / job.ways();
    paired_.resize(costs.chunks.size());
  }

  PipelineRun run();

 private:
  // A span to be drawn: the tasks at which it begins and ends.
  struct Kept {
    TaskId first, task;
    StageSpan span;
  };
  void add(const PlacedAction& placed);
  void add_pair(const PlacedAction& forward, const PlacedAction& backward);
  std::vector<Dependency> inputs_of(const StageAction& action);
  void finish();
  TaskId pass(int stage, double duration, const std::vector<Dependency>& after);
  // Duration of a backward pass, and the task at which its span begins.
  struct Backward {
    double duration = 0;
    // kNone: the beginning of the pass itself.
    TaskId shown_from = kNone;
  };
  void add_backward(const PlacedAction& placed, const std::vector<Dependency>& after, const Backward& own);
  const PricedChunk& chunk_of(const PlacedAction& placed) const {
    return costs_.chunks[static_cast<std::size_t>(placed.action.chunk)];
  }
  void keep(TaskId first, TaskId task, const PlacedAction& placed, char work);
  // The last task of a pass, on which later passes depend.
  TaskId& done(StageWork work, int chunk, int micro) { return done_[{static_cast<int>(work), chunk, micro}]; }
  /// Returns the dependency on a pass whose result is sent. A message takes its time, unless the next chunk
  /// is on the same stage. The time that the sender waited for its own message is part of its pass, because
  /// both ends of an exchange are released at the same moment.
  Dependency message(TaskId from, const StageAction& sent, int to_chunk) const {
    const PricedChunk& own = costs_.chunks[static_cast<std::size_t>(sent.chunk)];
    if (own.chunk.stage == costs_.chunks[static_cast<std::size_t>(to_chunk)].chunk.stage) return {from, {}};
    const double waited = sent.work == StageWork::forward ? own.forward_wait_s : own.backward_wait_s;
    return {from, seconds(std::max(0.0, costs_.message_s - waited))};
  }

  const PipelineCosts& costs_;
  const LargeModelRun& job_;
  int micro_batches_;
  bool split_ = false;
  // Number of chunks that a micro-batch passes.
  int way_ = 1;
  TaskGraph graph_;
  std::vector<QueueId> passes_, exchanges_;
  std::vector<DeviceId> devices_;
  std::map<std::tuple<int, int, int>, TaskId> done_;
  std::vector<Kept> kept_;
  std::vector<TaskId> last_pass_, ends_;
  // Seconds of passes, by stage.
  std::vector<double> busy_;
  std::vector<ChunkRun> paired_;
};

/// Adds a pass to the queue of its stage and counts it as busy time.
TaskId PipelineGraph::pass(int stage, double duration, const std::vector<Dependency>& after) {
  Task task;
  task.kind = TaskKind::kernel, task.queue = passes_[static_cast<std::size_t>(stage)];
  task.device = devices_[static_cast<std::size_t>(stage)], task.duration = seconds(duration);
  busy_[static_cast<std::size_t>(stage)] += duration;
  return last_pass_[static_cast<std::size_t>(stage)] = graph_.add(task, after);
}

/// Keeps a span for drawings, up to the limit; the optimizer's span is always kept.
void PipelineGraph::keep(TaskId first, TaskId task, const PlacedAction& placed, char work) {
  if (kept_.size() < kMostSpans || work == 'O')
    kept_.push_back(
        {first, task, {placed.stage, placed.action.micro_batch, placed.action.chunk, work, 0, 0}});
}

/// Adds a backward pass or its weight gradients. The last one of a chunk makes gradients ready bucket by
/// bucket, so it is cut into pieces, each of which starts an exchange.
void PipelineGraph::add_backward(const PlacedAction& placed, const std::vector<Dependency>& after,
                                 const Backward& own) {
  const PricedChunk& chunk = chunk_of(placed);
  const bool is_last = (placed.action.micro_batch + 1) % std::max(1, micro_batches_ / job_.ways()) == 0;
  const int pieces = is_last && costs_.overlaps_gradients ? std::clamp(chunk.buckets, 1, kMostPieces) : 1;
  const auto stage = static_cast<std::size_t>(placed.stage);
  TaskId first = kNone, task = kNone;
  for (int i = 0; i < pieces; ++i) {
    task = pass(placed.stage, own.duration / pieces, i == 0 ? after : std::vector<Dependency>{});
    if (i == 0) first = own.shown_from == kNone ? task : own.shown_from;
    if (!is_last || chunk.gradients_s <= 0) continue;
    Task exchange;
    exchange.kind = TaskKind::collective, exchange.queue = exchanges_[stage];
    exchange.device = devices_[stage], exchange.device_share = costs_.stages[stage].gpu_share;
    exchange.duration = seconds(chunk.gradients_s / pieces);
    const TaskId sent = graph_.add(exchange, {{task, {}}});
    keep(sent, sent, placed, 'D');
  }
  const StageWork work = placed.action.work;
  done(work, placed.action.chunk, placed.action.micro_batch) = task;
  keep(first, task, placed, work == StageWork::weight_gradient ? 'W' : 'B');
}

/// The first chunk of a way has no input in forward, the last one none in backward. Weight gradients follow
/// their own stage's backward pass in the queue.
std::vector<Dependency> PipelineGraph::inputs_of(const StageAction& a) {
  const bool is_forward = a.work == StageWork::forward;
  const bool is_first = is_forward ? a.chunk % way_ == 0 : (a.chunk + 1) % way_ == 0;
  if (a.work == StageWork::weight_gradient || is_first) return {};
  const StageAction sent{a.work, a.micro_batch, a.chunk + (is_forward ? -1 : 1)};
  return {message(done(sent.work, sent.chunk, sent.micro_batch), sent, a.chunk)};
}

/// Adds one pass that is not paired. A schedule that defers weight gradients splits backward by
/// `weight_share`.
void PipelineGraph::add(const PlacedAction& placed) {
  const StageAction& action = placed.action;
  const PricedChunk& chunk = chunk_of(placed);
  const std::vector<Dependency> after = inputs_of(action);
  if (action.work == StageWork::forward) {
    const TaskId task = pass(placed.stage, chunk.forward_s(), after);
    done(StageWork::forward, action.chunk, action.micro_batch) = task;
    return keep(task, task, placed, 'F');
  }
  const double weights_s = chunk.time.weight_share * chunk.backward_s();
  if (action.work == StageWork::weight_gradient) {
    if (split_) add_backward(placed, after, {weights_s});
    return;
  }
  if (!split_ || !action.leaves_weights) return add_backward(placed, after, {chunk.backward_s()});
  const TaskId task = pass(placed.stage, chunk.backward_s() - weights_s, after);
  done(StageWork::backward, action.chunk, action.micro_batch) = task;
  keep(task, task, placed, 'B');
}

/// Adds a pair. Both passes start when both can, and their results are sent when both have ended.
void PipelineGraph::add_pair(const PlacedAction& forward, const PlacedAction& backward) {
  std::vector<Dependency> after = inputs_of(forward.action);
  for (const Dependency& input : inputs_of(backward.action)) after.push_back(input);
  const TaskId begin = pass(forward.stage, chunk_of(forward).paired_forward.total, after);
  add_backward(backward, {}, {chunk_of(backward).paired_backward.total, begin});
  const TaskId end = done(StageWork::backward, backward.action.chunk, backward.action.micro_batch);
  done(StageWork::forward, forward.action.chunk, forward.action.micro_batch) = end;
  keep(begin, end, forward, 'F');
  ++paired_[static_cast<std::size_t>(forward.action.chunk)].forward;
  ++paired_[static_cast<std::size_t>(backward.action.chunk)].backward;
}

/// Adds the end of the step. The norm of gradients needs all stages; then each stage updates its weights and
/// gathers.
void PipelineGraph::finish() {
  const auto stages = passes_.size();
  std::vector<Dependency> all;
  for (std::size_t stage = 0; stage < stages; ++stage) {
    const TaskId sent = graph_.last_on(exchanges_[stage]);
    if (sent != kNone) all.push_back({sent, {}});
    if (last_pass_[stage] != kNone) all.push_back({last_pass_[stage], {}});
  }
  for (std::size_t stage = 0; stage < stages; ++stage) {
    Task task;
    task.kind = TaskKind::kernel, task.queue = passes_[stage];
    task.duration = seconds(costs_.stages[stage].optimizer_s + costs_.stages[stage].behind_s);
    ends_.push_back(graph_.add(task, all));
    keep(ends_.back(), ends_.back(),
         {static_cast<int>(stage), {StageWork::weight_gradient, micro_batches_, 0}}, 'O');
  }
}

PipelineRun PipelineGraph::run() {
  const auto stages = static_cast<std::size_t>(job_.degrees.pipeline);
  last_pass_.assign(stages, kNone), busy_.assign(stages, 0);
  const auto orders =
      schedule_of({job_.schedule, job_.degrees.pipeline, chunks_per_stage(job_), micro_batches_});
  const auto placed = executable_order(orders, static_cast<int>(costs_.chunks.size()), job_.ways());
  if (!placed)
    throw InputError("stages of this schedule wait for each other for ever",
                     "a number of micro-batches that divides by pipeline, or another schedule");
  for (std::size_t i = 0; i < placed->size(); ++i) {
    const PlacedAction& next = (*placed)[i];
    if (next.action.is_paired)
      add_pair(next, (*placed)[++i]);
    else
      add(next);
  }
  finish();
  // Passes and exchanges have durations and no flows, so the rate of links has no effect.
  const Timeline timeline = foretrain::run(graph_, [](LinkId) { return ByteRate{1e18}; });
  PipelineRun out;
  out.paired = paired_;
  Time end{};
  for (std::size_t stage = 0; stage < stages; ++stage) {
    end = std::max(end, timeline.end_of(ends_[stage]));
    const TaskId sent = graph_.last_on(exchanges_[stage]);
    const Time passed = last_pass_[stage] == kNone ? Time{} : timeline.end_of(last_pass_[stage]);
    // Exchanges that end after the stage's last pass are exposed.
    const double waits = sent == kNone ? 0 : std::max(0.0, to_seconds(timeline.end_of(sent) - passed));
    out.stages.push_back({busy_[stage], waits + costs_.stages[stage].behind_s});
  }
  out.end_s = to_seconds(end);
  for (Kept& kept : kept_) {
    kept.span.begin_s = to_seconds(timeline.spans[kept.first].start);
    kept.span.end_s = to_seconds(timeline.spans[kept.task].end);
    out.spans.push_back(kept.span);
  }
  return out;
}

}  // namespace

PipelineRun run_pipeline(const PipelineCosts& costs, const LargeModelRun& job, int micro_batches) {
  return PipelineGraph(costs, job, micro_batches).run();
}

}  // namespace foretrain
