// DDP in four places of a step: buffers are broadcast before forward; a hook copies each gradient into its
// bucket and launches the bucket's exchange when it is complete and its turn has come; at the end of backward
// the compute stream waits for the buckets and copies them back; accumulation skips all of it but in the last
// micro-step.
#include "sim/strategy/ddp/ddp.hpp"

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/sync_batch_norm.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

void explain_buckets(const std::vector<Bucket>& buckets, const StrategyKnobs& knobs, Decisions& decisions) {
  std::string sizes;
  for (const Bucket& bucket : buckets) sizes += (sizes.empty() ? "" : ", ") + to_string(bucket.size);
  const bool rebuilt = !knobs.find_unused_parameters || knobs.static_graph;
  decisions.add("gradient buckets", sizes,
                fmt::format("{}, first limit {}, then {}; the last one can never overlap backward",
                            rebuilt ? "order of gradient arrival"
                                    : "reversed registration order (find_unused_parameters)",
                            to_string(knobs.first_bucket), to_string(knobs.bucket_cap)));
}

void explain_hook(const PlanRequest& request, const Reducer& reducer, Decisions& decisions) {
  const StrategyKnobs& knobs = request.knobs;
  if (knobs.compression == Compression::none) return;
  Bytes wire{}, whole{};
  for (const Bytes message : reducer.exchange().messages()) wire += message;
  for (const Bucket& bucket : reducer.buckets()) whole += bucket.size;
  const bool low_rank = knobs.compression == Compression::powersgd;
  decisions.add("communication hook",
                fmt::format("{} instead of {} a step", to_string(wire), to_string(whole)),
                low_rank ? fmt::format("PowerSGD of rank {} as it runs after its first 1000 steps, three "
                                       "all-reduces per bucket; the host "
                                       "waits for each bucket, so backward stands still meanwhile",
                                       knobs.powersgd_rank)
                         : "gradients cross the wire in 16 bit, cast before and after");
}

/// NCCL moves data between GPUs only.
Backend choose_backend(Process& process) {
  const Backend asked = process.request().knobs.backend;
  if (process.gpu().architecture != Architecture::cpu || asked == Backend::gloo) return asked;
  process.decisions().add("backend", "gloo", "there are no GPUs for NCCL");
  return Backend::gloo;
}

/// The passes of one process: every operator may have to wait for synchronised statistics.
class DdpStep {
 public:
  DdpStep(Process& process, ProcessGroup& group)
      : process_(process),
        step_(process),
        reducer_(process, group),
        norms_(process, group),
        knobs_(process.request().knobs) {}

  /// Returns the last kernel.
  TaskId add();
  const Reducer& reducer() const { return reducer_; }

 private:
  void forward();
  void backward(bool accumulating, bool synchronises);
  std::int64_t batch() const { return process_.request().workload.batch_per_gpu; }
  const ExpandedModel& model() const { return *process_.request().workload.model; }

  Process& process_;
  TrainingStep step_;
  Reducer reducer_;
  SyncBatchNorm norms_;
  const StrategyKnobs& knobs_;
};

void DdpStep::forward() {
  step_.begin_forward();
  for (const Operator& op : model().forward) {
    if (knobs_.sync_batch_norm) norms_.before(process_.main_thread, op);
    step_.forward_operator(op, batch());
  }
  step_.end_forward();
}

void DdpStep::backward(bool accumulating, bool synchronises) {
  const QueueId thread = process_.autograd_thread;
  step_.begin_backward();
  for (const BackwardStep& node : model().backward) {
    if (knobs_.sync_batch_norm) norms_.before(thread, node.op);
    step_.backward_operator(node, batch());
    for (const std::uint32_t parameter : node.ready) {
      step_.finish_gradient(thread, parameter, accumulating || step_.keeps_gradients());
      if (synchronises) reducer_.on_gradient(parameter);
    }
  }
  process_.hand_over(thread, process_.main_thread);
}

TaskId DdpStep::add() {
  for (int micro = 0; micro < knobs_.accumulation; ++micro) {
    const bool synchronises = micro + 1 == knobs_.accumulation;
    step_.load_batch();
    if (micro == 0) step_.zero_gradients();
    reducer_.before_forward(micro == 0);
    forward();
    if (synchronises) reducer_.before_backward();
    backward(micro > 0, synchronises);
  }
  reducer_.finalize_backward();
  const TaskId last = step_.optimize();
  step_.finish_step();
  return last;
}

}  // namespace

Plan plan_ddp(const PlanRequest& request) {
  if (request.placement.size() == 1 && !request.knobs.wrap_one_gpu) {
    Plan plan = plan_single(request);
    plan.decisions.add(
        "one GPU", "model not wrapped",
        "scripts skip DistributedDataParallel for one process; strategy.wrap_one_gpu = true wraps it");
    return plan;
  }
  Plan plan;
  Process process(request, plan.graph);
  ProcessGroup group(process, choose_backend(process));
  DdpStep step(process, group);
  for (int i = 0; i < request.steps; ++i) plan.step_ends.push_back(step.add());
  const Reducer& reducer = step.reducer();
  plan.buckets = reducer.exchange().messages();
  plan.memory.buffers = reducer.exchange().memory();
  if (!request.knobs.gradient_as_bucket_view)
    plan.memory.buffers +=
        Bytes{gradient_element_bytes(request.workload) * request.workload.model->parameter_elements()};
  explain_buckets(reducer.buckets(), request.knobs, process.decisions());
  explain_hook(request, reducer, process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry ddp_strategy() {
  const Knob knobs[] = {
      {"bucket_cap", &StrategyKnobs::bucket_cap, "\"25 MiB\"", "25 MiB",
       "limit of every gradient bucket but the first", 1},
      {"first_bucket", &StrategyKnobs::first_bucket, "\"1 MiB\"", "1 MiB", "limit of the first bucket", 1},
      {"lightning",
       KnobChoice{{"1.x", "2.x"},
                  [](StrategyKnobs& chosen, std::size_t i) { chosen.find_unused_parameters = i == 0; }},
       "\"1.x\"", "none",
       "PyTorch Lightning's defaults of this major version: 1.x searches for unused parameters"},
      {"find_unused_parameters", &StrategyKnobs::find_unused_parameters, "true", "false",
       "buckets then follow registration order"},
      {"static_graph", &StrategyKnobs::static_graph, "true", "false",
       "promises that the graph never changes"},
      {"gradient_as_bucket_view", &StrategyKnobs::gradient_as_bucket_view, "true", "false",
       "no copy back from the buckets, less memory"},
      {"broadcast_buffers", &StrategyKnobs::broadcast_buffers, "false", "true",
       "BatchNorm buffers are broadcast before every forward pass"},
      {"sync_batch_norm", &StrategyKnobs::sync_batch_norm, "true", "false",
       "BatchNorm statistics over all ranks: SyncBatchNorm"},
      {"compression", choice_of<&StrategyKnobs::compression>({"none", "fp16", "bf16", "powersgd"}),
       "\"fp16\"", "none", "communication hook: fp16_compress_hook, bf16_compress_hook, powerSGD_hook"},
      {"powersgd_rank", &StrategyKnobs::powersgd_rank, "2", "1", "matrix_approximation_rank of PowerSGD", 1,
       128},
      {"powersgd_min_rate", &StrategyKnobs::powersgd_min_rate, "4", "2", "min_compression_rate of PowerSGD",
       0, 1e9},
      {"backend", choice_of<&StrategyKnobs::backend>({"nccl", "gloo"}), "\"gloo\"", "nccl",
       "library of the process group"},
      {"wrap_one_gpu", &StrategyKnobs::wrap_one_gpu, "true", "false",
       "wrap the model even when there is one process"},
  };
  return {.name = "ddp",
          .summary = "PyTorch DistributedDataParallel: buckets all-reduced during backward",
          .plan = plan_ddp,
          .framework = FrameworkKind::pytorch,
          .knobs = {std::begin(knobs), std::end(knobs)},
          .alias = "distributed_data_parallel"};
}

}  // namespace foretrain
