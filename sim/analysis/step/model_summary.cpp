// Adds operators up by layer. Layers that look alike are then folded in the listing and ranked together among
// the slow ones.
#include "sim/analysis/step/model_summary.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "sim/workload/device/arithmetic.hpp"
#include "sim/workload/device/device_constants.hpp"
#include "sim/workload/device/kernel_time.hpp"

namespace foretrain {

namespace {

/// Sums of operators by layer and by class, for one batch; times are added only with a GPU.
class LayerSums {
 public:
  LayerSums(const Workload& workload, const std::optional<KernelContext>& context)
      : workload_(workload), context_(context), batch_(static_cast<double>(workload.batch_per_gpu)) {
    const ExpandedModel& model = *workload.model;
    for (std::size_t i = 0; i < model.layer_names.size(); ++i) {
      layers_.emplace_back();
      layers_[i].name = model.layer_names[i];
      layers_[i].result = model.layer_traces[i].result;
      layers_[i].saved_bytes = model.layer_traces[i].saved_bytes.at(batch_) / batch_;
    }
    weights_.resize(layers_.size());
    for (const Parameter& parameter : model.parameters)
      layers_[parameter.layer].parameters += parameter.elements;
    for (const Operator& op : model.forward) forward(op);
    for (const BackwardStep& step : model.backward) backward(step.op);
  }

  std::vector<LayerSummary> layers() && { return std::move(layers_); }
  const std::map<OperatorClass, ClassTime>& classes() const { return classes_; }

 private:
  void forward(const Operator& op) {
    LayerSummary& layer = layers_[op.layer];
    layer.flops += op.flops.at(batch_) / batch_;
    layer.bytes += op.bytes.at(batch_) / batch_ * element_share(op, workload_.precision);
    layer.forward_kernels += op.kernels;
    const double weight = op.flops.at(batch_) + op.bytes.at(batch_);
    // A layer has the class of the operator with the most FLOPs and bytes.
    if (!layer.kind || weight > weights_[op.layer]) layer.kind = op.cls, weights_[op.layer] = weight;
    layer.forward_time += time_of(op);
  }

  void backward(const Operator& op) {
    layers_[op.layer].backward_kernels += op.kernels;
    layers_[op.layer].backward_time += time_of(op);
  }

  /// Returns the operator's kernel time and adds it to its class; zero without a GPU.
  Time time_of(const Operator& op) {
    if (!context_) return {};
    const Time time = kernel_time(op, *context_, workload_.batch_per_gpu);
    ClassTime& sum = classes_[op.cls];
    sum.kind = op.cls, sum.kernels += op.kernels, sum.time += time;
    return time;
  }

  const Workload& workload_;
  const std::optional<KernelContext>& context_;
  double batch_;
  std::vector<LayerSummary> layers_;
  /// FLOPs and bytes of the operator that gives a layer its kind.
  std::vector<double> weights_;
  std::map<OperatorClass, ClassTime> classes_;
};

/// Returns a text that is equal for layers that look alike in every column but the name.
std::string look_of(const LayerSummary& layer) {
  return fmt::format("{} {} {} {} {} {} {} {}", layer.kind ? name_of(*layer.kind) : "",
                     to_string(layer.result), layer.parameters, layer.flops, layer.bytes, layer.saved_bytes,
                     layer.forward_kernels, layer.backward_kernels);
}

std::vector<RepeatableRow> rows_of(const std::vector<LayerSummary>& layers) {
  std::vector<RepeatableRow> rows;
  rows.reserve(layers.size());
  for (const LayerSummary& layer : layers)
    rows.push_back({std::hash<std::string>{}(look_of(layer)), layer.name});
  return rows;
}

/// Returns the optimizer's launches over all trained tensors.
std::vector<OptimizerLaunch> launches_of(const Workload& workload) {
  std::vector<std::int64_t> tensors;
  for (const Parameter& parameter : workload.model->parameters) tensors.push_back(parameter.elements);
  return optimizer_launches(workload.optimizer, tensors, updated_width(workload));
}

/// Returns the bytes that one more sample adds: the slope between two large batches. Plain SGD is assumed,
/// because the temporary memory of an optimizer could otherwise hide the activations.
Bytes activations_of_a_sample(Workload workload, Precision precision) {
  // Large enough that the activations exceed all temporary memory.
  constexpr std::int64_t kSamples = 256;
  workload.precision = precision;
  workload.optimizer = {OptimizerKind::sgd, OptimizerForm::fused, false};
  workload.batch_per_gpu = kSamples;
  // The difference of two batches removes everything that does not depend on the batch.
  const Bytes many = memory_use(workload, {}).activations;
  workload.batch_per_gpu = 2 * kSamples;
  return {(memory_use(workload, {}).activations.count - many.count) / kSamples};
}

ModelTotals totals_of(const Workload& workload, const std::vector<LayerSummary>& layers) {
  const ExpandedModel& model = *workload.model;
  const auto batch = static_cast<double>(workload.batch_per_gpu);
  ModelTotals totals;
  totals.parameters = model.parameter_elements(),
  totals.tensors = static_cast<std::int64_t>(model.parameters.size());
  for (const Parameter& parameter : model.frozen) totals.frozen += parameter.elements;
  totals.gradients = model.gradient_bytes();
  totals.forward_flops = model.forward_flops().at(batch) / batch;
  totals.forward_product_flops = model.forward_gemm_flops().at(batch) / batch;
  totals.backward_flops = model.backward_flops().at(batch) / batch;
  for (const LayerSummary& layer : layers) {
    totals.forward_bytes += layer.bytes, totals.saved += layer.saved_bytes;
    totals.forward_kernels += layer.forward_kernels, totals.backward_kernels += layer.backward_kernels;
  }
  totals.optimizer_kernels = static_cast<int>(launches_of(workload).size());
  totals.activations_fp32 = activations_of_a_sample(workload, Precision::fp32);
  totals.activations_16_bit = activations_of_a_sample(workload, Precision::amp_fp16);
  totals.memory = memory_use(workload, {});
  return totals;
}

/// Sums the time of layers that look alike, and returns the slowest groups; equal times keep the network's
/// order.
std::vector<SlowLayer> slowest_of(const std::vector<LayerSummary>& layers,
                                  const std::vector<RepeatableRow>& rows) {
  std::map<std::uint64_t, SlowLayer> alike;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const auto [it, is_new] = alike.try_emplace(rows[i].key, SlowLayer{i, 0, Time{}});
    ++it->second.count, it->second.time += layers[i].time();
  }
  std::vector<SlowLayer> slowest;
  for (const auto& [key, layer] : alike) slowest.push_back(layer);
  std::sort(slowest.begin(), slowest.end(), [](const SlowLayer& a, const SlowLayer& b) {
    return a.time != b.time ? a.time > b.time : a.layer < b.layer;
  });
  slowest.resize(std::min(slowest.size(), kSlowestLayers));
  return slowest;
}

/// Returns the times by class with the optimizer as a class of its own, and their total.
KernelTimes times_of(const Workload& workload, const KernelContext& context,
                     const std::map<OperatorClass, ClassTime>& classes) {
  KernelTimes times;
  times.gpu = context.gpu.name;
  ClassTime optimizer;
  for (const OptimizerLaunch& launch : launches_of(workload)) {
    optimizer.time += memory_kernel_time(launch.bytes, context.gpu, context.calibration);
    ++optimizer.kernels;
  }
  for (const auto& [cls, time] : classes) times.classes.push_back(time);
  if (optimizer.kernels > 0) times.classes.push_back(optimizer);
  std::stable_sort(times.classes.begin(), times.classes.end(),
                   [](const ClassTime& a, const ClassTime& b) { return a.time > b.time; });
  for (const ClassTime& time : times.classes) times.total += time.time;
  return times;
}

}  // namespace

ModelSummary summarize_model(const Scenario& scenario, bool with_times) {
  const Workload& workload = scenario.workload;
  const Gpu& gpu = scenario.cluster.node.gpu;
  const KernelCalibration calibration = kernel_calibration_of(scenario.cluster, workload.framework.cuda);
  std::optional<KernelContext> context;
  if (with_times)
    context.emplace(
        KernelContext{gpu, calibration, workload.precision, workload.framework, has_half_weights(workload)});
  ModelSummary summary;
  summary.name = scenario.model.name, summary.description = scenario.model.description;
  if (const auto input = input_shape(scenario.model.input, scenario.model.input_is_tokens))
    summary.input = to_string(*input);
  summary.recording = workload.model->recording;
  summary.precision = workload.precision, summary.batch = workload.batch_per_gpu;
  LayerSums sums(workload, context);
  const std::map<OperatorClass, ClassTime> classes = sums.classes();
  summary.layers = std::move(sums).layers();
  const std::vector<RepeatableRow> rows = rows_of(summary.layers);
  summary.groups = fold_repeated(rows);
  summary.totals = totals_of(workload, summary.layers);
  if (!context) return summary;
  summary.times = times_of(workload, *context, classes);
  summary.times->slowest = slowest_of(summary.layers, rows);
  return summary;
}

}  // namespace foretrain
