// DistributedDataParallel acts in four places of a step. Buffers are broadcast before forward. A hook copies
// each gradient into its bucket, and launches the bucket's exchange when the bucket is complete and its turn
// has come. At the end of backward the compute stream waits for the buckets and copies them back.
// Accumulation skips all of this except in the last micro-step.
//
// The additions to the plain loop can be read in torch/nn/parallel/distributed.py and
// torch/csrc/distributed/c10d/reducer.cpp. Two rules decide the performance. Buckets are launched in the
// order of their numbers, even if a later one is complete first. The last bucket is complete only when
// backward ends, so its exchange can never overlap backward: its time, and the wait of the compute stream for
// it, is the exposed communication of an otherwise ideal step.
#include "sim/strategy/ddp/ddp.hpp"

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/ddp_options.hpp"
#include "sim/strategy/ddp/ddp_reducer.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/sync_batch_norm.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

// The decisions of a plan say in words what was chosen and why; reports print them.
void explain_buckets(const std::vector<Bucket>& buckets, const DdpOptions& options, Decisions& decisions) {
  std::string sizes;
  for (const Bucket& bucket : buckets) sizes += (sizes.empty() ? "" : ", ") + to_string(bucket.size);
  const bool rebuilt = !options.find_unused_parameters || options.static_graph;
  decisions.add("gradient buckets", sizes,
                fmt::format("{}, first limit {}, then {}; the last one can never overlap backward",
                            rebuilt ? "order of gradient arrival"
                                    : "reversed registration order (find_unused_parameters)",
                            to_string(options.first_bucket), to_string(options.bucket_cap)));
}

void explain_hook(const PlanRequest& request, const Reducer& reducer, Decisions& decisions) {
  const Compression compression = request.options<GradientOptions>().compression;
  if (compression == Compression::none) return;
  Bytes wire{}, whole{};
  for (const Bytes message : reducer.exchange().messages()) wire += message;
  for (const Bucket& bucket : reducer.buckets()) whole += bucket.size;
  const bool low_rank = compression == Compression::powersgd;
  decisions.add("communication hook",
                fmt::format("{} instead of {} a step", to_string(wire), to_string(whole)),
                low_rank ? fmt::format("PowerSGD of rank {} as it runs after its first 1000 steps, three "
                                       "all-reduces per bucket; the host "
                                       "waits for each bucket, so backward stands still meanwhile",
                                       request.options<DdpOptions>().powersgd_rank)
                         : "gradients cross the wire in 16 bit, cast before and after");
}

/// Returns the backend. NCCL moves data between GPUs only, so CPUs take gloo.
Backend choose_backend(Process& process) {
  const Backend asked = process.request().options<DdpOptions>().backend;
  if (process.gpu().architecture != Architecture::cpu || asked == Backend::gloo) return asked;
  process.decisions().add("backend", "gloo", "there are no GPUs for NCCL");
  return Backend::gloo;
}

/// The passes of one process. Before every operator, batch norms may wait for synchronised statistics.
class DdpStep {
 public:
  DdpStep(Process& process, ProcessGroup& group)
      : process_(process),
        step_(process),
        reducer_(process, group),
        norms_(process, group),
        options_(process.request().options<DdpOptions>()),
        knobs_(process.request().knobs) {}

  /// Adds the tasks of one optimizer step and returns its last kernel.
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
  const DdpOptions& options_;
  const StrategyOptions& knobs_;
};

void DdpStep::forward() {
  step_.begin_forward();
  for (const Operator& op : model().forward) {
    if (options_.sync_batch_norm) norms_.before(process_.main_thread(), op);
    step_.forward_operator(process_.main_thread(), op, batch());
  }
  step_.end_forward();
}

// The host's work of backward runs on the autograd thread; the hooks of a parameter run there too, when its
// gradient is ready.
void DdpStep::backward(bool accumulating, bool synchronises) {
  const HostThread thread = process_.autograd_thread();
  step_.begin_backward();
  for (const BackwardStep& node : model().backward) {
    if (options_.sync_batch_norm) norms_.before(thread, node.op);
    step_.backward_operator(thread, node, batch());
    for (const std::uint32_t parameter : node.ready) {
      step_.finish_gradient(thread, parameter, accumulating || step_.keeps_gradients());
      if (synchronises) reducer_.on_gradient(parameter);
    }
  }
  process_.hand_over(thread, process_.main_thread());
}

TaskId DdpStep::add() {
  for (int micro = 0; micro < knobs_.accumulation; ++micro) {
    const bool synchronises = knobs_.exchanges_in(micro);
    step_.load_batch();
    if (micro == 0) step_.zero_gradients();
    // Buffers are broadcast only in the forward pass after an exchange.
    reducer_.before_forward(micro == 0 || knobs_.exchanges_in(micro - 1));
    forward();
    if (synchronises) reducer_.before_backward();
    backward(micro > 0, synchronises);
    if (synchronises) reducer_.finalize_backward();
  }
  const TaskId last = step_.optimize();
  step_.finish_step();
  return last;
}

/// Plans processes that do not wait for one another: the plain loop without spread between ranks.
Plan plan_of_separate_models(const PlanRequest& request) {
  DeviceModel device = request.device;
  device.rank_spread = 0;
  PlanRequest alone{request.workload, request.cluster, request.placement, request.knobs, device};
  alone.steps = request.steps, alone.reuse = request.reuse, alone.calls = request.calls;
  Plan plan = plan_single(alone);
  plan.decisions.add(
      "gradients", "not exchanged",
      "strategy.wrapped = false: as many models are trained as there are processes, each on its "
      "own part of the samples");
  return plan;
}

}  // namespace

Plan plan_ddp(const PlanRequest& request) {
  if (!request.options<DdpOptions>().wrapped) return plan_of_separate_models(request);
  if (request.placement.size() == 1 && !request.options<DdpOptions>().wrap_one_gpu) {
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
  // Buckets that are no views exist beside the gradients and are as large as all of them.
  if (!request.options<DdpOptions>().gradient_as_bucket_view)
    plan.memory.buffers +=
        Bytes{gradient_element_bytes(request.workload) * request.workload.model->parameter_elements()};
  explain_buckets(reducer.buckets(),
                  options_in(request.options<DdpOptions>(), request.workload.framework.version),
                  process.decisions());
  explain_hook(request, reducer, process.decisions());
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry ddp_strategy() {
  const Knob knobs[] = {
      {"bucket_cap", KnobValue<Bytes>{[](StrategyOptions& options, Bytes cap) {
         options.edit<DdpOptions>().bucket_cap = cap, options.edit<DdpOptions>().cap_is_given = true;
       }},
       "\"25 MiB\"", "25 MiB, the first 1 MiB",
       "limit of every gradient bucket; before PyTorch 2 of every one but the first", 1},
      {"first_bucket", KnobValue<Bytes>{[](StrategyOptions& options, Bytes cap) {
         options.edit<DdpOptions>().first_bucket = cap, options.edit<DdpOptions>().cap_is_given = false;
       }},
       "\"1 MiB\"", "1 MiB, or bucket_cap where that is given", "limit of the first bucket", 1},
      {"lightning",
       KnobChoice{{"1.x", "2.x"},
                  [](StrategyOptions& options, std::size_t i) {
                    options.edit<DdpOptions>().find_unused_parameters = i == 0;
                  }},
       "\"1.x\"", "none",
       "PyTorch Lightning's defaults of this major version: 1.x searches for unused parameters"},
      {"find_unused_parameters", option<&DdpOptions::find_unused_parameters>(), "true", "false",
       "buckets then follow registration order"},
      {"static_graph", option<&DdpOptions::static_graph>(), "true", "false",
       "promises that the graph never changes"},
      {"gradient_as_bucket_view", option<&DdpOptions::gradient_as_bucket_view>(), "true", "false",
       "no copy back from the buckets, less memory"},
      {"broadcast_buffers", option<&DdpOptions::broadcast_buffers>(), "false", "true",
       "BatchNorm buffers are broadcast before every forward pass"},
      {"sync_batch_norm", option<&DdpOptions::sync_batch_norm>(), "true", "false",
       "BatchNorm statistics over all ranks: SyncBatchNorm"},
      {"compression", choice_of<&GradientOptions::compression>({"none", "fp16", "bf16", "powersgd"}),
       "\"fp16\"", "none", "communication hook: fp16_compress_hook, bf16_compress_hook, powerSGD_hook"},
      {"powersgd_rank", option<&DdpOptions::powersgd_rank>(), "2", "1",
       "matrix_approximation_rank of PowerSGD", 1, 128},
      {"powersgd_min_rate", option<&DdpOptions::powersgd_min_rate>(), "4", "2",
       "min_compression_rate of PowerSGD", 0, 1e9},
      {"backend", choice_of<&DdpOptions::backend>({"nccl", "gloo"}), "\"gloo\"", "nccl",
       "library of the process group"},
      {"wrap_one_gpu", option<&DdpOptions::wrap_one_gpu>(), "true", "false",
       "wrap the model even when there is one process"},
      {"wrapped", option<&DdpOptions::wrapped>(), "false", "true",
       "false: processes are started, but no model is wrapped, so nothing is exchanged"},
      no_sync_knob(),
  };
  return {.name = "ddp",
          .summary = "PyTorch DistributedDataParallel: buckets all-reduced during backward",
          .plan = plan_ddp,
          .framework = FrameworkKind::pytorch,
          .knobs = {std::begin(knobs), std::end(knobs)},
          .alias = "distributed_data_parallel"};
}

}  // namespace foretrain
