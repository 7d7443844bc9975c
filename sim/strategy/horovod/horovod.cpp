// Planning of a step under Horovod.
//
// The gradients that share a message depend on when the framework hands them over, which no graph shows
// beforehand. The step is therefore rehearsed without communication. The engine gives the time of each hook,
// the thread's clock (horovod_cycles) forms cycles from these times, and the real graph gets these cycles.
// This is exact as long as communication does not move the hooks: they run on the host, ahead of the GPU.
#include "sim/strategy/horovod/horovod.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/engine/executor.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/horovod/horovod_options.hpp"
#include "sim/strategy/horovod/horovod_thread.hpp"
#include "sim/strategy/process/gradient_options.hpp"
#include "sim/strategy/step/single.hpp"
#include "sim/strategy/step/training_step.hpp"

namespace foretrain {

namespace {

constexpr int kRehearsedSteps = 2;     ///< the second one starts, as all others do, behind an optimizer
constexpr ByteRate kSlowestLink{1e6};  ///< in the rehearsal, where nobody cares how long the batch travels

/// Adds a step up to the optimizer. Returns the task at whose end its last backward pass begins.
TaskId add_passes(Process& process, TrainingStep& step, GradientQueue& queue) {
  const int passes = process.request().knobs.accumulation;
  TaskId origin = kNone;
  for (int pass = 0; pass < passes; ++pass) {
    const bool last = pass + 1 == passes;
    step.load_batch();
    if (pass == 0) step.zero_gradients();
    step.forward();
    origin = process.graph().last_on(process.main_thread().queue);
    step.backward(pass > 0,
                  [&](std::uint32_t parameter) { last ? queue.on_gradient(parameter) : queue.count_down(); });
  }
  queue.end_backward();
  return origin;
}

/// Returns the gradients as they would arrive if nothing had to be reduced, in the order in which Horovod
/// gets them.
std::vector<Arrival> arrivals_of(const Timeline& timeline, TaskId origin,
                                 const std::vector<Enqueued>& gradients, const ExpandedModel& model,
                                 std::int64_t element_bytes, const HorovodGathering& gathering) {
  const Time begin = timeline.end_of(origin);
  std::vector<Arrival> arrivals;
  for (const Enqueued& gradient : gradients) {
    const std::uint32_t parameter = gradient.parameter;
    const Time ready = std::max(begin, timeline.end_of(gradient.ready)) - begin,
               call = timeline.end_of(gradient.call) - begin;
    if (gathering.is_sparse(parameter)) {
      const Time delay = gathering.hand_over_delay(parameter);
      const Time there = delay == Time::zero() ? call : std::max(call, ready + delay);
      arrivals.push_back({{parameter, gathering.gathered(parameter), element_bytes, true}, there, ready});
    } else {
      arrivals.push_back(
          {{parameter, {element_bytes * model.parameters[parameter].elements}, element_bytes}, call, ready});
    }
  }
  std::stable_sort(arrivals.begin(), arrivals.end(),
                   [](const Arrival& a, const Arrival& b) { return a.enqueued < b.enqueued; });
  return arrivals;
}

/// Runs the rehearsal and returns the cycles of a step.
std::vector<Cycle> rehearse(const PlanRequest& request, const HorovodSettings& settings) {
  TaskGraph graph;
  Process process(request, graph);
  TrainingStep step(process);
  GradientQueue queue(process, settings);
  TaskId origin = kNone;
  std::vector<Enqueued> gradients;
  for (int i = 0; i < kRehearsedSteps; ++i) {
    origin = add_passes(process, step, queue);
    gradients = queue.take();
    process.synchronize(process.main_thread());
    step.optimize();
    step.finish_step();
  }
  // An ideal network without contention suffices: no collective is in the graph.
  std::vector<ByteRate> capacities = request.cluster.capacities();
  for (ByteRate& rate : capacities) rate.per_second = std::max(rate.per_second, kSlowestLink.per_second);
  const Timeline timeline = run(graph, *make_ideal_network(std::move(capacities)));
  const HorovodThread thread(process, settings);
  const ExpandedModel& model = *request.workload.model;
  return typical_cycles(
      arrivals_of(timeline, origin, gradients, model, settings.element_bytes, thread.gathering()),
      thread.rules());
}

// Reports print the sizes of the first messages; a long list would not be read.
void explain_cycles(const std::vector<Cycle>& cycles, Decisions& decisions) {
  std::string sizes;
  std::size_t messages = 0;
  for (const Cycle& cycle : cycles) {
    for (const FusedMessage& message : cycle.messages) {
      if (++messages <= 12) sizes += (sizes.empty() ? "" : ", ") + to_string(message.size);
    }
  }
  decisions.add("fused messages", sizes + (messages > 12 ? ", …" : ""),
                fmt::format("{} in {} cycles: a message holds what hooks handed over, on the host's "
                            "timeline, since the last cycle",
                            messages, cycles.size()));
}

/// Returns the buffers of a rank. The fusion buffer is allocated whole as soon as two gradients that fit into
/// it meet in a cycle, which happens in some step of every run, whatever the batch. Compressed copies, and
/// the rows of all ranks, live until they are taken back. Rows grow with the samples.
StrategyMemory memory_of(const HorovodSettings& settings, const HorovodGathering& gathering,
                         const Workload& workload) {
  const std::vector<Parameter>& parameters = workload.model->parameters;
  StrategyMemory memory;
  std::vector<std::int64_t> reduced;
  for (std::uint32_t i = 0; i < parameters.size(); ++i) {
    if (gathering.is_sparse(i)) {
      memory.per_sample += Bytes{gathering.gathered(i).count / workload.batch_per_gpu};
      continue;
    }
    reduced.push_back(parameters[i].elements);
    if (settings.compresses) memory.buffers += Bytes{2 * parameters[i].elements};
  }
  std::ranges::sort(reduced);
  const std::int64_t element = settings.compresses ? 2 : gradient_element_bytes(workload);
  const bool fuses = reduced.size() > 1 && element * (reduced[0] + reduced[1]) <= settings.threshold.count;
  if (fuses) memory.buffers += settings.threshold;
  return memory;
}

void explain_sparse(const PlanRequest& request, const HorovodSettings& settings, Decisions& decisions) {
  Bytes own{};
  for (const auto& gradient : sparse_gradients(request)) own += gradient.value_or(SparseGradient{}).bytes();
  if (own == Bytes{}) return;
  decisions.add("sparse gradients",
                settings.gathers_over_hosts ? "MPI all-gather over the CPUs" : "NCCL all-gather",
                fmt::format("TensorFlow hands tables' gradients over as rows: {} of each rank go to all {}; "
                            "sparse_as_dense reduces whole "
                            "tables instead",
                            to_string(own), request.placement.size()));
}

Plan plan_one_process(const PlanRequest& request) {
  Plan plan = plan_single(request);
  plan.decisions.add(
      "one process", "no hooks",
      "Horovod registers none for a single process: its background thread finds nothing to do");
  return plan;
}

}  // namespace

// The rehearsal gives the cycles of a typical step, which then hold for all steps of the plan.
Plan plan_horovod(const PlanRequest& request) {
  if (request.placement.size() == 1) return plan_one_process(request);
  Plan plan;
  Process process(request, plan.graph);
  const HorovodSettings settings = horovod_settings(request, process.decisions());
  const std::vector<Cycle> cycles = rehearse(request, settings);
  explain_cycles(cycles, process.decisions());
  explain_sparse(request, settings, process.decisions());
  TrainingStep step(process);
  GradientQueue queue(process, settings);
  HorovodThread thread(process, settings);
  for (int i = 0; i < request.steps; ++i) {
    const TaskId origin = add_passes(process, step, queue);
    thread.add_cycles(cycles, origin, queue.take());
    thread.synchronize();
    plan.step_ends.push_back(step.optimize());
    step.finish_step();
  }
  for (const Cycle& cycle : cycles) {
    for (const FusedMessage& message : cycle.messages) plan.buckets.push_back(message.size);
  }
  plan.memory = memory_of(settings, thread.gathering(), request.workload);
  plan.decisions = process.decisions();
  return plan;
}

StrategyEntry horovod_strategy() {
  const Knob knobs[] = {
      {"horovod_version", option<&HorovodOptions::horovod_version>(), "\"0.19\"", "0.28",
       "before 0.21 smaller defaults and no batched copies; before 0.23 the background thread waits for the "
       "gradients itself"},
      {"fusion_threshold", option<&HorovodOptions::fusion_threshold>(), "\"64 MiB\"",
       "128 MiB; 64 MiB before 0.21",
       "HOROVOD_FUSION_THRESHOLD: limit of a message of several gradients; 0: no fusion"},
      {"cycle_time", option<&HorovodOptions::cycle_time>(), "\"5 ms\"", "1 ms; 5 ms before 0.21",
       "HOROVOD_CYCLE_TIME: the background thread looks into its queue so often", 0, 60},
      {"cache_capacity", option<&HorovodOptions::cache_capacity>(), "0", "1024",
       "HOROVOD_CACHE_CAPACITY: tensors the ranks agree on without asking rank 0; 0: none", 0, 1'000'000},
      {"batch_copies", option<&HorovodOptions::batch_copies>(), "false", "true; false before 0.21",
       "HOROVOD_BATCH_D2D_MEMCOPIES: one kernel copies up to 160 gradients into or out of the fusion buffer"},
      {"hierarchical_allreduce", option<&HorovodOptions::hierarchical_allreduce>(), "true", "false",
       "HOROVOD_HIERARCHICAL_ALLREDUCE: NCCL inside nodes, MPI between the CPUs of nodes"},
      {"torus_allreduce", option<&HorovodOptions::torus_allreduce>(), "true", "false",
       "HOROVOD_TORUS_ALLREDUCE: NCCL inside nodes, then across; ignored with hierarchical_allreduce"},
      {"compression", choice_of<&GradientOptions::compression>({"none", "fp16"}), "\"fp16\"", "none",
       "gradients travel in 16 bit"},
      {"sparse_as_dense", option<&HorovodOptions::sparse_as_dense>(), "true", "false",
       "TensorFlow: gradients of looked-up tables are all-reduced whole; otherwise all ranks' rows are "
       "gathered"},
  };
  return {.name = "horovod",
          .summary =
              "Horovod: a background thread fuses gradients in cycles and all-reduces them during backward",
          .plan = plan_horovod,
          .starter = Starter::horovodrun,
          .knobs = {std::begin(knobs), std::end(knobs)},
          .alias = "hvd"};
}

}  // namespace foretrain
