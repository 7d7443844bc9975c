// The replica loop. Work that the process does once per step (the batch, Python) is issued for one GPU; work
// that the graph holds for each replica is issued for all of them.
#include "sim/strategy/replicas/replica_loop.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/replicas/replica_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

/// Returns the workload with the batch of all GPUs of a process, made by the threads and cores of all.
Workload for_all_gpus(const PlanRequest& request, int gpus) {
  Workload all = request.workload;
  all.batch_per_gpu *= gpus;
  all.data = data_of_process(request.workload.data, request.own_node(), gpus);
  return all;
}

/// Returns the place from which a process reads the batch of its node.
InputSite site_of_process(const PlanRequest& request, int gpus) {
  InputSite site = input_site(request);
  site.ranks_on_node = 1;
  site.ranks = std::max(1, site.ranks / gpus);
  return site;
}

/// Returns the host time of one replica's forward and backward passes, from a plan of these passes alone.
Time passes_of_one_replica(const PlanRequest& request) {
  TaskGraph graph;
  Process process(request, graph);
  TrainingStep step(process);
  step.forward();
  step.backward(false, nullptr);
  Time sum{};
  for (const Task& task : graph.tasks()) sum += task.kind == TaskKind::host ? task.duration : Time{};
  return sum;
}

/// Returns the time for which eager mode's thread runs the other replicas' passes; zero if all replicas'
/// operators are in one graph.
Time passes_of_the_others(const PlanRequest& request, int gpus) {
  if (request.workload.framework.execution != Execution::eager) return {};
  return passes_of_one_replica(request) * (gpus - 1);
}

/// The process of one node: its threads, its batches and its step.
class ReplicaLoop {
 public:
  ReplicaLoop(const PlanRequest& request, TaskGraph& graph)
      : gpus_(gpus_of_process(request)),
        private_(request.options<ReplicaOptions>().private_threads),
        others_(passes_of_the_others(request, gpus_)),
        batches_(for_all_gpus(request, gpus_)),
        process_(request, graph),
        turns_label_(graph.label("operators of all replicas")),
        others_label_(graph.label("passes of the other replicas")),
        step_(process_, InputPipeline(process_, batches_, site_of_process(request, gpus_), gpus_),
              threads()) {
    explain();
  }

  /// Returns the threads that issue the exchange of gradients.
  ReplicaThreads exchange_threads() const {
    return {for_all(process_.main_thread()), for_all(process_.autograd_thread()), gpus_};
  }

  // Issues one step and returns its last kernel. Gradients are exchanged in the last micro-step only.
  TaskId run_step(GradientExchange& exchange) {
    const int micro_steps = process_.request().knobs.accumulation;
    for (int micro = 0; micro < micro_steps; ++micro)
      run_micro_step(exchange, micro, micro + 1 == micro_steps);
    exchange.after_backward();
    const TaskId last = step_.optimize();
    step_.finish_step();
    return last;
  }

  Process& process() { return process_; }

 private:
  // Returns the thread with calls for all replicas, in turn or concurrently.
  HostThread for_all(const HostThread& thread) const {
    const HostThread labelled = thread.labelled(turns_label_);
    return private_ ? labelled.issuing_concurrently(gpus_) : labelled.issuing_for(gpus_);
  }

  /// Returns the threads of a step. In eager mode this replica's passes are issued by themselves.
  StepThreads threads() const {
    StepThreads threads(process_);
    threads.update = for_all(threads.update);
    if (others_ > Time::zero()) return threads;
    threads.forward = for_all(threads.forward), threads.backward = for_all(threads.backward);
    return threads;
  }

  // In eager mode the passes of the other replicas come first.
  void wait_for_others() {
    if (others_ == Time::zero()) return;
    process_.host_for(process_.main_thread().labelled(others_label_), others_, Account::host);
  }

  void run_micro_step(GradientExchange& exchange, int micro, bool exchanges) {
    step_.load_batch();
    if (micro == 0) step_.zero_gradients();
    wait_for_others();
    step_.forward();
    const auto hook = [&](std::uint32_t parameter) { exchange.on_gradient(parameter); };
    step_.backward(micro > 0, exchanges ? TrainingStep::GradientHook(hook) : nullptr);
  }

  void explain() {
    const Time each = process_.on_this_host(process_.host_costs().node + process_.host_costs().launch);
    if (gpus_ == 1) return;
    if (private_ && others_ == Time::zero()) {
      process_.decisions().add("replicas",
                               fmt::format("{} in one process, each issued by threads of its own", gpus_),
                               "strategy.private_threads: only the driver makes their launches take turns");
    } else if (others_ > Time::zero()) {
      process_.decisions().add("replicas", fmt::format("{} one after the other", gpus_),
                               fmt::format("eagerly, one Python thread runs each replica's passes; the last "
                                           "one waits {:.3g} ms for the others",
                                           1e3 * to_seconds(others_)));
    } else {
      process_.decisions().add(
          "replicas", fmt::format("{} in one process, which issues one operator at a time", gpus_),
          fmt::format("a step's host time grows with the GPUs, {:.3g} us for an operator of each",
                      1e6 * to_seconds(each)));
    }
  }

  // GPUs of the process.
  int gpus_;
  // Each GPU has threads of its own.
  bool private_;
  // Eager mode: time before this replica's passes.
  Time others_;
  Workload batches_;
  Process process_;
  LabelId turns_label_, others_label_;
  TrainingStep step_;
};

}  // namespace

Knob private_threads_knob() {
  return {"private_threads", option<&ReplicaOptions::private_threads>(), "true", "false",
          "every GPU has threads of its own for its operators (TF_GPU_THREAD_MODE = gpu_private)"};
}

int gpus_of_process(const PlanRequest& request) {
  const std::vector<GpuPlace>& ranks = request.placement.ranks;
  return static_cast<int>(std::count_if(ranks.begin(), ranks.end(),
                                        [&](const GpuPlace& p) { return p.node == ranks.front().node; }));
}

Plan plan_replicas(const PlanRequest& request, const MakeExchange& make_exchange) {
  // One replica's gradients are the sum already.
  if (request.placement.size() == 1) {
    Plan plan = plan_single(request);
    plan.decisions.add("one GPU", "nothing packed or sent",
                       "one replica's gradients are the sum already: the plain training loop");
    return plan;
  }
  Plan plan;
  ReplicaLoop loop(request, plan.graph);
  GradientExchange exchange = make_exchange(loop.process(), loop.exchange_threads());
  for (int i = 0; i < request.steps; ++i) plan.step_ends.push_back(loop.run_step(exchange));
  plan.buckets = exchange.messages();
  plan.memory.buffers = exchange.buffers();
  plan.decisions = loop.process().decisions();
  return plan;
}

}  // namespace foretrain
