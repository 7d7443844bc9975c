// Memory of one GPU in training: what stays for the whole step plus the larger of the two transient peaks.
//
// The peak is reached either when backward starts (every saved activation, a few live tensors) or in the optimizer step
// (foreach temporaries), never both.
#include "sim/workload/device/memory.hpp"

#include <algorithm>

namespace foretrain {
namespace {

constexpr double kContextBytes = 600e6;
constexpr double kAllocatorShare = 0.05;
constexpr double kLiveTensors = 3;
constexpr double kHalfSavedShare = 0.55;
constexpr double kMostBytes = 1e17;  // six of them still fit

Bytes whole(double bytes) { return {static_cast<std::int64_t>(std::clamp(bytes, 0.0, kMostBytes))}; }

double activation_bytes(const ExpandedModel& model, double batch, bool half) {
  const double live = kLiveTensors * 4 * static_cast<double>(model.largest_activation_elements) * batch;
  return half ? kHalfSavedShare * model.saved_bytes.at(batch) + 0.5 * live : model.saved_bytes.at(batch) + live;
}

double foreach_temporaries(const Optimizer& optimizer, double parameter_bytes) {
  if (optimizer.form != OptimizerForm::foreach) return 0;
  if (state_bytes_per_element(optimizer) == 8) return 2 * parameter_bytes;
  return optimizer.weight_decay ? parameter_bytes : 0;
}

double buffer_bytes(const ExpandedModel& model) {
  double sum = 0;
  for (const Buffer& buffer : model.buffers) sum += static_cast<double>(buffer.elements) * static_cast<double>(buffer.element_bytes);
  return sum;
}

}  // namespace

MemoryUse memory_use(const Workload& workload, Bytes bucket_bytes) {
  const ExpandedModel& model = *workload.model;
  const bool half = is_half(workload.precision);
  const auto elements = static_cast<double>(model.parameter_elements());
  const auto batch = static_cast<double>(std::max<std::int64_t>(workload.batch_per_gpu, 0));
  MemoryUse use;
  use.parameters = whole((half ? 6 : 4) * elements + buffer_bytes(model));
  use.gradients = whole(4 * elements);
  use.optimizer = whole(static_cast<double>(state_bytes_per_element(workload.optimizer)) * elements);
  use.buckets = whole(static_cast<double>(bucket_bytes.count));
  use.activations = whole(std::max(activation_bytes(model, batch, half), foreach_temporaries(workload.optimizer, 4 * elements)));
  const auto allocated = static_cast<double>((use.parameters + use.gradients + use.optimizer + use.buckets + use.activations).count);
  use.framework = whole(kContextBytes + kAllocatorShare * allocated);
  return use;
}

}  // namespace foretrain
