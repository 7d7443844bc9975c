// The steps of nn.DataParallel. The script sends the batch of all GPUs to GPU 0; the wrapped modules
// distribute it.
#include "sim/strategy/replicas/data_parallel_steps.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/quantity.hpp"
#include "sim/strategy/ddp/coalesced_groups.hpp"
#include "sim/strategy/ddp/ddp_buckets.hpp"
#include "sim/strategy/process/call_costs.hpp"

namespace foretrain {

namespace {

/// Returns the workload of one loader that makes the batches of all GPUs.
Workload for_all_gpus(const PlanRequest& request) {
  Workload whole = request.workload;
  const int gpus = request.placement.size();
  whole.batch_per_gpu *= gpus;
  whole.data = data_of_process(whole.data, request.own_node(), gpus);
  return whole;
}

/// Returns the sizes of groups, as in "25 MiB, 12 MiB".
std::string listed(const std::vector<CoalescedGroup>& groups) {
  std::string text;
  for (const CoalescedGroup& group : groups) text += (text.empty() ? "" : ", ") + to_string(group.size);
  return text;
}

}  // namespace

DataParallelSteps::DataParallelSteps(const PlanRequest& request, Plan& plan,
                                     std::vector<WrappedModule> modules)
    : request_(request),
      plan_(plan),
      model_(*request.workload.model),
      modules_(std::move(modules)),
      losses_(losses_of(model_)),
      whole_(for_all_gpus(request)),
      process_(request, plan.graph),
      step_(process_, InputPipeline(process_, whole_, input_site_of_one_process(request))),
      replicas_(process_, step_) {}

/// The output of one module is the input of the next. Losses run on GPU 0 for the whole batch.
void DataParallelSteps::forward() {
  step_.begin_forward();
  Bytes input = batch_bytes(request_.workload);
  for (const WrappedModule& module : modules_) {
    replicas_.forward(module, input);
    input = replicas_.output_bytes(module);
  }
  for (const Operator* op : losses_.forward)
    step_.forward_operator(process_.main_thread(), *op, whole_.batch_per_gpu);
  step_.end_forward();
}

/// A module's input needs a gradient only if an earlier module has a backward pass. Gradients are complete
/// when their module's backward is.
void DataParallelSteps::backward(bool accumulating) {
  step_.begin_backward();
  for (const BackwardStep* step : losses_.backward)
    step_.backward_operator(process_.autograd_thread(), *step, whole_.batch_per_gpu);
  for (std::size_t i = modules_.size(); i-- > 0;) {
    const WrappedModule& module = modules_[i];
    if (module.backward.empty()) continue;
    const bool gathers = i > 0 && !modules_[i - 1].backward.empty();
    replicas_.backward(module, gathers ? replicas_.output_bytes(modules_[i - 1]) : Bytes{}, gathers);
    for (const std::uint32_t parameter : module.parameters)
      step_.finish_gradient(process_.autograd_thread(), parameter, accumulating || step_.keeps_gradients());
  }
  process_.hand_over(process_.autograd_thread(), process_.main_thread());
}

void DataParallelSteps::run() {
  for (int i = 0; i < request_.steps; ++i) {
    for (int micro = 0; micro < request_.knobs.accumulation; ++micro) {
      step_.load_batch();
      if (micro == 0) step_.zero_gradients();
      forward();
      backward(micro > 0);
    }
    plan_.step_ends.push_back(step_.optimize());
    step_.finish_step();
  }
  explain();
  plan_.memory = memory();
  plan_.decisions = process_.decisions();
}

/// Adds decisions. Every micro-step sums its own gradients, because nn.DataParallel has no no_sync().
void DataParallelSteps::explain() {
  if (replicas_.gpus() == 1) {
    process_.decisions().add("one GPU", "called directly",
                             "DataParallel checks the devices, hands the batch on and copies nothing");
    return;
  }
  const std::int64_t element = gradient_element_bytes(request_.workload);
  std::vector<CoalescedGroup> sent, summed;
  for (const WrappedModule& module : modules_) {
    const auto down = broadcast_groups(module.elements, element),
               up = reduce_groups(module.elements, element);
    sent.insert(sent.end(), down.begin(), down.end());
    summed.insert(summed.begin(), up.begin(), up.end());
  }
  for (int micro = 0; micro < request_.knobs.accumulation; ++micro) {
    for (const CoalescedGroup& group : summed) plan_.buckets.push_back(group.size);
  }
  process_.decisions().add(
      "broadcast of parameters", listed(sent),
      "before forward in every micro-step: groups of at least 10 MiB in the order of registration");
  process_.decisions().add("reduce of gradients", listed(summed),
                           "on GPU 0, after the backward pass of all GPUs: groups of at most 10 MiB");
  process_.decisions().add(
      "forward", fmt::format("{} threads under one GIL", replicas_.gpus()),
      std::string("their framework calls follow one another; backward runs at once on all GPUs") +
          (replicas_.plans_anew() ? "; since PyTorch 2.1 new threads plan every convolution anew" : ""));
}

/// Returns the extra memory of GPU 0: the batch of all GPUs, the gathered outputs of every module (its own
/// share is a view), the loss's tensors of the last output, and the flat tensors of the largest group.
StrategyMemory DataParallelSteps::memory() const {
  StrategyMemory memory;
  const int gpus = replicas_.gpus();
  if (gpus == 1 || modules_.empty()) return memory;
  // Log-probabilities, and the gradient of the outputs.
  constexpr std::int64_t kOfLoss = 2;
  std::int64_t outputs = kOfLoss * modules_.back().output_elements;
  for (const WrappedModule& module : modules_) {
    outputs += module.output_elements;
    for (const CoalescedGroup& group :
         broadcast_groups(module.elements, gradient_element_bytes(request_.workload)))
      memory.buffers = std::max(memory.buffers, group.size * 2);
  }
  const std::int64_t batch = std::max<std::int64_t>(1, request_.workload.batch_per_gpu);
  memory.per_sample =
      Bytes{kFloatBytes * outputs} * gpus + Bytes{batch_bytes(request_.workload).count / batch} * (gpus - 1);
  return memory;
}

}  // namespace foretrain
