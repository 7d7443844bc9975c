// The step of a large model, in three levels.
//
// Kernels of one layer make the passes of one chunk, and these make the pipeline of all chunks. The pipeline
// is a task graph with a queue for each stage and one for its data-parallel exchanges. Passes are as long as
// their chunks take; all other waiting of a stage is the bubble. Only as many micro-batches are simulated as
// are needed until the pipeline repeats itself; the rest extends the result linearly, which is exact for a
// full pipeline. Cost is therefore independent of the global batch and of the number of data-parallel ranks.
#include "sim/strategy/parallel/large_step.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "sim/base/counted.hpp"
#include "sim/base/quantity.hpp"
#include "sim/strategy/parallel/pipeline_graph.hpp"
#include "sim/strategy/process/losses.hpp"

namespace foretrain {

namespace {

/// Number of turns of the pipeline that are simulated; one turn has as many micro-batches as stages. Each
/// further turn takes as long as the last.
constexpr int kSimulatedTurns = 4;

/// Factor on kernels: the slowest rank, and contention on a full node.
double kernel_factor(const LargeStepRequest& request) {
  const int gpus = request.cluster.node_spec(request.ranks.ranks.front().node).gpus;
  return slowest_rank_factor(request.device.rank_spread, request.job.gpus()) *
         contention_factor(request.device.busy_node, request.ranks, gpus);
}

/// Factor on host calls of a node whose ranks all work.
double host_factor(const LargeStepRequest& request) {
  // Busy threads of a rank: the script's and autograd's.
  constexpr int kThreads = 2;
  const Host& host = request.cluster.node_spec(request.ranks.ranks.front().node).host;
  return busy_host_factor(request.device.busy_host, request.ranks, host.cores, kThreads);
}

/// Runs the pipeline, or extrapolates it: step times are linear in the micro-batches once the pipeline is
/// full. Two runs differ by one turn, and the remainder of the division is in both.
PipelineRun run_pipeline(const PipelineCosts& costs, const LargeModelRun& job) {
  const auto all = job.micro_batches();
  const int stages = job.degrees.pipeline;
  if (all <= (kSimulatedTurns + 1) * stages) return run_pipeline(costs, job, static_cast<int>(all));
  const int more = kSimulatedTurns * stages + static_cast<int>(all % stages);
  const PipelineRun fewer = run_pipeline(costs, job, more - stages);
  PipelineRun run = run_pipeline(costs, job, more);
  const double turns = static_cast<double>(all - more) / stages;
  const auto extend = [turns](double a, double b) { return b + turns * (b - a); };
  run.left_out = static_cast<int>(all - more), run.left_out_s = turns * (run.end_s - fewer.end_s);
  run.end_s = extend(fewer.end_s, run.end_s);
  for (std::size_t i = 0; i < run.stages.size(); ++i) {
    StageRun& own = run.stages[i];
    own.busy_s = extend(fewer.stages[i].busy_s, own.busy_s),
    own.data_s = extend(fewer.stages[i].data_s, own.data_s);
  }
  for (std::size_t i = 0; i < run.paired.size(); ++i) {
    run.paired[i].forward = extend(fewer.paired[i].forward, run.paired[i].forward);
    run.paired[i].backward = extend(fewer.paired[i].backward, run.paired[i].backward);
  }
  return run;
}

/// Makes a step from a request, with the exchanges and chunk timer that all its parts share.
class LargeStepMaker {
 public:
  explicit LargeStepMaker(const LargeStepRequest& request)
      : request_(request),
        job_(request.job),
        exchanges_(job_, request.cluster, request.ranks, request.collective, request.collectives,
                   request.device.communication_time_scale, request.device.collective_share),
        timer_({job_, request.cluster, request.device, exchanges_, kernel_factor(request),
                host_factor(request)}) {}

  LargeStep make();
  LargeStepRecord record();

 private:
  LargeStep make(const PipelineCosts& costs, const PipelineRun& run);
  void account(const PipelineCosts& costs, const PipelineRun& run, LargeStep& step) const;
  void report_stages(const PipelineCosts& costs, LargeStep& step) const;
  double between_nodes(const LargeStep& step) const;
  void explain(const PipelineCosts& costs, LargeStep& step);

  const LargeStepRequest& request_;
  const LargeModelRun& job_;
  GroupExchanges exchanges_;
  ChunkTimer timer_;
};

/// Fills the breakdown from the busiest stage, whose time bounds the step. The bubble is the rest of the
/// step.
void LargeStepMaker::account(const PipelineCosts& costs, const PipelineRun& run, LargeStep& step) const {
  const auto busiest = std::ranges::max_element(run.stages, {}, &StageRun::busy_s);
  step.busiest_stage = static_cast<int>(busiest - run.stages.begin());
  const auto passes = static_cast<double>(job_.micro_batches_of_chunk());
  PassTime all;
  for (std::size_t i = 0; i < costs.chunks.size(); ++i) {
    const PricedChunk& chunk = costs.chunks[i];
    if (chunk.chunk.stage != step.busiest_stage) continue;
    const ChunkRun& paired = run.paired[i];
    all += chunk.time.forward.times(passes - paired.forward);
    all += chunk.time.backward.times(passes - paired.backward);
    all += chunk.paired_forward.times(paired.forward);
    all += chunk.paired_backward.times(paired.backward);
    step.host_s += passes * chunk.host_s(), step.pipeline_s += passes * chunk.messages_s();
  }
  step.compute_s = all.compute, step.host_s += all.host, step.tensor_s = all.tensor;
  step.context_s = all.context, step.expert_s = all.expert, step.data_s = all.data;
  step.optimizer_s = costs.stages[static_cast<std::size_t>(step.busiest_stage)].optimizer_s;
  step.data_s += busiest->data_s;
  step.step_s = run.end_s;
  step.bubble_s = std::max(0.0, step.step_s - step.compute_s - step.host_s - step.tensor_s - step.context_s -
                                    step.expert_s - step.data_s - step.pipeline_s - step.optimizer_s);
  // Factor on the account `other`, to which the bubble belongs.
  const double kept = request_.device.scale_of(Account::other);
  step.step_s -= (1 - kept) * step.bubble_s, step.bubble_s *= kept;
}

/// Returns the exposed time of groups that span several nodes.
double LargeStepMaker::between_nodes(const LargeStep& step) const {
  const auto crosses = [&](RankGroup group) { return exchanges_.nodes(group) > 1; };
  return (crosses(RankGroup::tensor) ? step.tensor_s : 0) +
         (crosses(RankGroup::context) ? step.context_s : 0) +
         (crosses(RankGroup::expert) ? step.expert_s : 0) +
         (crosses(RankGroup::gradients) ? step.data_s : 0) +
         (crosses(RankGroup::stages) ? step.pipeline_s : 0);
}

/// With DualPipe a stage has two chunks, one of each direction, hence the division by ways().
void LargeStepMaker::report_stages(const PipelineCosts& costs, LargeStep& step) const {
  step.stages.resize(static_cast<std::size_t>(job_.degrees.pipeline));
  for (const PricedChunk& priced : costs.chunks) {
    StageReport& stage = step.stages[static_cast<std::size_t>(priced.chunk.stage)];
    stage.layers += priced.chunk.layers;
    stage.embedding = stage.embedding || priced.chunk.embedding, stage.head = stage.head || priced.chunk.head;
    stage.forward_s += priced.time.forward.total / job_.ways();
    stage.backward_s += priced.time.backward.total / job_.ways();
    step.model_flops += priced.time.flops * job_.degrees.tensor * job_.degrees.context *
                        static_cast<double>(job_.micro_batches_of_chunk()) * job_.degrees.data;
  }
  const std::vector<StageMemory> memory = stage_memory(job_);
  for (std::size_t i = 0; i < memory.size(); ++i) {
    step.stages[i].memory = memory[i];
    // A host that runs ahead keeps buffers reserved; chunk i is the first one of stage i.
    if (!costs.chunks[i].from_idle) step.stages[i].memory.held = held_bytes(job_, costs.chunks[i].time);
    if (memory[i].total() > memory[static_cast<std::size_t>(step.fullest_stage)].total())
      step.fullest_stage = static_cast<int>(i);
  }
}

/// Decisions are printed with a prediction: degrees, how exchanges run, and their times.
void LargeStepMaker::explain(const PipelineCosts& costs, LargeStep& step) {
  const Degrees& d = job_.degrees;
  step.decisions.add(
      "degrees", to_string(d),
      fmt::format("{} micro-batches of {} through {} a step", job_.micro_batches(), job_.micro_batch,
                  d.pipeline == 1 ? "one stage" : fmt::format("{} stages", d.pipeline)));
  const auto width =
      2.0 * static_cast<double>(job_.micro_batch * job_.sequence / d.context * job_.shape.hidden);
  if (d.tensor > 1)
    step.decisions.add("tensor exchange", exchanges_.at(RankGroup::tensor, Exchange::all_gather, width).how,
                       fmt::format("{} of one layer's input among {} ranks on {}",
                                   to_string(Bytes{static_cast<std::int64_t>(width)}), d.tensor,
                                   counted(exchanges_.nodes(RankGroup::tensor), "node")));
  if (d.pipeline > 1)
    step.decisions.add("message between stages",
                       to_string(Bytes{static_cast<std::int64_t>(costs.message_bytes)}),
                       fmt::format("{:.3g} ms; each micro-batch, each way", costs.message_s * 1e3));
  const StageEnd& first = costs.stages.front();
  if (first.gradients_s > 0)
    step.decisions.add("gradients", first.how,
                       fmt::format("{:.3g} ms in {} on stage 0", first.gradients_s * 1e3,
                                   counted(first.messages, "message")));
}

LargeStep LargeStepMaker::make(const PipelineCosts& costs, const PipelineRun& run) {
  LargeStep step;
  account(costs, run, step);
  step.between_s = between_nodes(step);
  step.tensor_between_s = exchanges_.nodes(RankGroup::tensor) > 1 ? step.tensor_s : 0;
  report_stages(costs, step);
  step.spans = run.spans;
  if (request_.explain) explain(costs, step);
  return step;
}

LargeStep LargeStepMaker::make() {
  const PipelineCosts costs = pipeline_costs(job_, request_, exchanges_, timer_);
  return make(costs, run_pipeline(costs, job_));
}

/// Returns the messages between passes of neighbouring chunks on different stages. A message begins when the
/// sending pass ends, or when its layers end if the stage waits for the message within the pass.
std::vector<StageMessage> messages_of(const std::vector<StageSpan>& spans, const PipelineCosts& costs,
                                      int ways) {
  std::vector<StageMessage> out;
  const int way = static_cast<int>(costs.chunks.size()) / ways;
  for (const StageSpan& span : spans) {
    const int place = span.chunk % way, next = span.chunk + (span.work == 'F' ? 1 : -1);
    const bool is_end = span.work == 'F' ? place + 1 == way : place == 0;
    if ((span.work != 'F' && span.work != 'B') || is_end) continue;
    const int to = costs.chunks[static_cast<std::size_t>(next)].chunk.stage;
    if (to == span.stage) continue;
    const PricedChunk& own = costs.chunks[static_cast<std::size_t>(span.chunk)];
    const bool is_forward = span.work == 'F';
    const double waited = is_forward ? own.forward_wait_s : own.backward_wait_s;
    const double behind = waited + (is_forward ? own.forward_host_s : own.backward_host_s);
    const double begin_s = span.end_s - (waited > 0 ? behind : 0);
    out.push_back({span.stage, to, span.micro_batch, is_forward, begin_s, begin_s + costs.message_s});
  }
  return out;
}

/// Shifts spans after the cut in time, and their micro-batches by the number of omitted ones.
template <typename Span>
void move_behind_cut(std::vector<Span>& spans, const LargeStepRecord& record) {
  for (Span& span : spans) {
    if (span.begin_s < record.cut_s) continue;
    span.begin_s += record.left_out_s, span.end_s += record.left_out_s;
    span.micro_batch += record.left_out;
  }
}

/// The cut is in the middle of the simulated part, where the pipeline is full.
LargeStepRecord LargeStepMaker::record() {
  const PipelineCosts costs = pipeline_costs(job_, request_, exchanges_, timer_);
  const PipelineRun run = run_pipeline(costs, job_);
  LargeStepRecord out;
  out.job = job_, out.step = make(costs, run), out.spans = run.spans;
  out.splits_backward = splits_backward(job_.schedule) && job_.degrees.pipeline > 1;
  out.left_out = run.left_out, out.left_out_s = run.left_out_s;
  out.cut_s = (run.end_s - run.left_out_s) / 2;
  out.messages = messages_of(run.spans, costs, job_.ways());
  if (out.left_out > 0) move_behind_cut(out.spans, out), move_behind_cut(out.messages, out);
  for (const PricedChunk& chunk : costs.chunks)
    out.chunks.push_back({chunk.chunk, chunk.time.forward, chunk.time.backward, chunk.forward_wait_s,
                          chunk.backward_wait_s, chunk.forward_host_s, chunk.backward_host_s,
                          timer_.spans(chunk.chunk, chunk.from_idle),
                          timer_.messages(chunk.chunk, chunk.from_idle)});
  for (const StageEnd& end : costs.stages) out.ends.push_back({end.behind_s, end.optimizer_s, end.sent});
  out.message_bytes = costs.message_bytes;
  return out;
}

}  // namespace

LargeStep simulate_large_step(const LargeStepRequest& request) { return LargeStepMaker(request).make(); }

LargeStepRecord record_large_step(const LargeStepRequest& request) {
  return LargeStepMaker(request).record();
}

}  // namespace foretrain
