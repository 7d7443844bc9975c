// Brings the stages of a pipeline into the accounts, parts and memory of one row of a prediction.
#include "sim/analysis/step/parallel_step.hpp"

#include <algorithm>

#include "sim/base/largest_holding.hpp"
#include "sim/workload/device/tensor_cores.hpp"

namespace foretrain {

namespace {

double& at(Breakdown& breakdown, Account account) { return breakdown[static_cast<std::size_t>(account)]; }

Bytes bytes_of(double bytes) { return {static_cast<std::int64_t>(bytes)}; }

/// Returns the bytes of the fullest stage.
double fullest_bytes(const LargeModelRun& job) {
  double most = 0;
  for (const StageMemory& stage : stage_memory(job)) most = std::max(most, stage.total());
  return most;
}

}  // namespace

FlopRate product_peak(const Gpu& gpu, KernelPrecision precision) {
  if (precision == KernelPrecision::fp4 && fp4_rate(gpu).per_second > 0) return fp4_rate(gpu);
  if (is_narrow(precision) && gpu.fp8.per_second > 0) return gpu.fp8;
  return gpu.bf16.per_second > 0 ? gpu.bf16 : gpu.fp16;
}

/// Exchanges of all kinds count as exposed communication. Waits are divided into those between nodes and
/// those inside one; inside, NVLink carries the messages where the node has any, otherwise PCIe. The critical
/// path is taken to be the breakdown, because the busiest stage sets the length of the step.
SimulatedStep as_simulated(const LargeStep& step, const NodeSpec& node, Reading reading) {
  SimulatedStep out;
  out.waits.fill(0);
  out.step_s = step.step_s;
  if (reading == Reading::time) return out;
  const double exposed = step.tensor_s + step.context_s + step.expert_s + step.data_s + step.pipeline_s;
  at(out.breakdown, Account::compute) = step.compute_s;
  at(out.breakdown, Account::exposed_communication) = exposed;
  at(out.breakdown, Account::host) = step.host_s, at(out.breakdown, Account::optimizer) = step.optimizer_s;
  at(out.breakdown, Account::other) = step.bubble_s;
  out.critical = out.breakdown;
  // Exchanges inside a node run over NVLink where the GPUs have any.
  const LinkKind inside =
      node.nvswitches > 0 || node.gpu.ports.nvlinks > 0 ? LinkKind::nvlink : LinkKind::pcie;
  out.waits[static_cast<std::size_t>(LinkKind::network)] = step.between_s;
  out.waits[static_cast<std::size_t>(inside)] = std::max(0.0, exposed - step.between_s);
  out.decisions = step.decisions;
  const std::pair<const char*, double> parts[] = {{"layers", step.compute_s},
                                                  {"exchanges of tensor ranks", step.tensor_s},
                                                  {"exchanges of context ranks", step.context_s},
                                                  {"exchanges of expert ranks", step.expert_s},
                                                  {"gradients and parameters", step.data_s},
                                                  {"messages between stages", step.pipeline_s},
                                                  {"pipeline bubble", step.bubble_s},
                                                  {"host", step.host_s},
                                                  {"optimizer", step.optimizer_s}};
  for (const auto& [name, seconds_of] : parts)
    if (seconds_of > 0) out.parts.push_back({name, seconds_of});
  std::ranges::stable_sort(out.parts, std::greater{}, &StepPart::seconds);
  return out;
}

/// Logits count as activations; memory outside the allocator and scratch memory count as the framework's.
MemoryUse memory_of(const LargeModelRun& job) {
  const std::vector<StageMemory> stages = stage_memory(job);
  const StageMemory& most = *std::ranges::max_element(stages, {}, &StageMemory::total);
  MemoryUse use;
  use.parameters = bytes_of(most.weights), use.gradients = bytes_of(most.gradients);
  use.optimizer = bytes_of(most.optimizer), use.buckets = bytes_of(most.buckets);
  use.activations = bytes_of(most.activations + most.logits);
  use.framework = bytes_of(most.outside + most.workspace);
  return use;
}

/// Searches up to the limits on tokens at once and on micro-batches that the reader of [parallel] accepts.
std::int64_t largest_micro_batch(const LargeModelRun& asked, int gpus, Bytes capacity) {
  LargeModelRun other = asked;
  const std::int64_t most = std::clamp<std::int64_t>(
      kMostTokensAtOnce / std::max<std::int64_t>(1, asked.sequence), 1, kMostMicroBatch);
  return largest_holding(most, [&](std::int64_t batch) {
    other.micro_batch = batch;
    return fullest_bytes(job_on(other, gpus)) <= static_cast<double>(capacity.count);
  });
}

/// Model FLOPs per token are 3 x forward: backward costs two forward passes.
LargeModelPoint large_point(const LargeModelRun& job, double step_s, const Gpu& gpu) {
  LargeModelPoint point;
  point.layout = to_string(job.degrees), point.micro_batches = job.micro_batches();
  const auto tokens = static_cast<double>(job.tokens_per_step());
  point.tokens_per_s_per_gpu = tokens / step_s / job.gpus();
  const double flops = 3 * forward_flops_per_token(job.shape, job.sequence, job.shape.causal) * tokens;
  point.model_tflops = flops / step_s / job.gpus() / 1e12;
  point.mfu = point.model_tflops * 1e12 / product_peak(gpu, job.precision).per_second;
  return point;
}

LargeModelPoint large_point(const LargeModelRun& job, const LargeStep& step, const Gpu& gpu) {
  LargeModelPoint point = large_point(job, step.step_s, gpu);
  point.bubble = step.bubble_s / step.step_s;
  point.tensor_between = step.tensor_between_s / step.step_s;
  point.fullest_stage = step.fullest_stage;
  const StageMemory& fullest = step.stages[static_cast<std::size_t>(step.fullest_stage)].memory;
  point.largest_memory = fullest.largest_part(job);
  return point;
}

}  // namespace foretrain
