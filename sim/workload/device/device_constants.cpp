// Named access to the constants of kernels and calls, for calibration files and fits. Each row is made from a
// pointer to its member. Its prior is the spread of the constant among the families of
// kernel_calibration.cpp.
#include "sim/workload/device/device_constants.hpp"

namespace foretrain {

namespace {

using KernelRow = ConstantOf<KernelCalibration>;
using HostRow = ConstantOf<HostCalibration>;

// Priors: standard deviations of the logarithm of a constant.
constexpr double kEfficiencyPrior = 0.2, kTimePrior = 0.4;

template <auto Member>
KernelRow number_row(std::string name, double least, double most, double prior, std::string meaning) {
  return {{std::move(name), std::nullopt, least, most, prior, std::move(meaning)},
          [](const KernelCalibration& kernels) { return kernels.*Member; },
          [](KernelCalibration& kernels, double value) { kernels.*Member = value; }};
}

template <auto Member>
KernelRow product_row(std::string name, double least, double most, double prior, std::string meaning) {
  return {{std::move(name), std::nullopt, least, most, prior, std::move(meaning)},
          [](const KernelCalibration& kernels) { return kernels.product.*Member; },
          [](KernelCalibration& kernels, double value) { kernels.product.*Member = value; }};
}

template <auto Member>
KernelRow time_row(std::string name, std::string meaning) {
  return {{std::move(name), Dimension::time, 1e-8, 1e-3, kTimePrior, std::move(meaning)},
          [](const KernelCalibration& kernels) { return to_seconds(kernels.*Member); },
          [](KernelCalibration& kernels, double value) { kernels.*Member = seconds(value); }};
}

/// Returns the row of one class's efficiency on one kind of arithmetic, for large kernels. Values above 1
/// occur where clocks exceed the data sheet's or work is saved.
template <auto Class, auto Arithmetic>
KernelRow efficiency_row(std::string name, std::string meaning) {
  return {{std::move(name), std::nullopt, 0.01, 1.3, kEfficiencyPrior, std::move(meaning)},
          [](const KernelCalibration& kernels) { return (kernels.*Class).*Arithmetic; },
          [](KernelCalibration& kernels, double value) { (kernels.*Class).*Arithmetic = value; }};
}

template <auto Class>
void add_efficiencies(std::vector<KernelRow>& rows, const std::string& name, const std::string& what) {
  using E = ComputeEfficiency;
  rows.push_back(efficiency_row<Class, &E::fp32>(name + ".fp32",
                                                 what + ": share of the CUDA cores' fp32 peak when large"));
  rows.push_back(
      efficiency_row<Class, &E::tf32>(name + ".tf32", what + ": share of the TF32 peak when large"));
  rows.push_back(
      efficiency_row<Class, &E::half>(name + ".half", what + ": share of the 16-bit tensor peak when large"));
  rows.push_back(efficiency_row<Class, &E::fp8>(name + ".fp8", what + ": share of the fp8 peak when large"));
}

std::vector<KernelRow> make_kernel_rows() {
  using K = KernelCalibration;
  std::vector<KernelRow> rows;
  add_efficiencies<&K::gemm>(rows, "gemm", "matrix products");
  add_efficiencies<&K::conv>(rows, "conv", "convolutions");
  add_efficiencies<&K::attention>(rows, "attention", "fused attention");
  rows.push_back(number_row<&K::depthwise_conv>("conv.depthwise", 0.001, 1, 0.4,
                                                "depthwise convolutions: share of the fp32 peak"));
  rows.push_back(number_row<&K::winograd>("conv.winograd", 0.05, 2, 0.2,
                                          "fused Winograd kernels: share of the fp32 peak"));
  rows.push_back(product_row<&ProductCosts::operand_loading>("kernel.operand_loading", 0.05, 10, 0.4,
                                                             "times a tile's operands pass shared memory"));
  rows.push_back(product_row<&ProductCosts::prologue_depth>(
      "kernel.prologue_depth", 1, 2000, 0.4, "depth's worth of time to fill and drain a tile's pipeline"));
  rows.push_back(product_row<&ProductCosts::core_prologue_depth>("kernel.core_prologue_depth", 0.5, 500, 0.4,
                                                                 "the same on CUDA cores"));
  rows.push_back(product_row<&ProductCosts::operand_bytes_per_clock>(
      "kernel.operand_bytes_per_clock", 0.5, 128, 0.4, "operands of a tile that reach a multiprocessor"));
  rows.push_back(number_row<&K::roofline_power>("kernel.roofline_power", 1, 20, 0.3,
                                                "how well arithmetic and memory overlap"));
  rows.push_back(
      number_row<&K::cache_speed>("kernel.cache_speed", 1, 20, 0.3, "cache bandwidth / memory bandwidth"));
  rows.push_back(time_row<&K::launch_gap>("kernel.launch_gap", "between two kernels of one stream"));
  rows.push_back(time_row<&K::minimum>("kernel.minimum", "shortest kernel"));
  rows.push_back(number_row<&K::time_scale>("kernel.time_scale", 0.1, 10, 0.25,
                                            "all kernels of a training, measured / predicted"));
  return rows;
}

template <auto Member>
HostRow call_row(std::string name, std::string meaning) {
  return {{std::move(name), Dimension::time, 1e-9, 1e-2, kTimePrior, std::move(meaning)},
          [](const HostCalibration& host) { return to_seconds(host.*Member); },
          [](HostCalibration& host, double value) { host.*Member = seconds(value); }};
}

}  // namespace

const std::vector<ConstantOf<KernelCalibration>>& kernel_constants() {
  static const std::vector<KernelRow> rows = make_kernel_rows();
  return rows;
}

const std::vector<ConstantOf<HostCalibration>>& host_call_constants() {
  using H = HostCalibration;
  static const std::vector<HostRow> rows{
      call_row<&H::launch>("host.launch", "one kernel launch, on the reference CPU"),
      call_row<&H::launch_latency>("host.launch_latency", "enqueue to start on an idle stream"),
      call_row<&H::sync_wake>("host.sync_wake", "the host wakes after a stream synchronisation"),
      call_row<&H::event>("host.event", "record or wait an event, on the reference CPU"),
      call_row<&H::copy_call>("host.copy_call", "one asynchronous copy, on the reference CPU"),
      call_row<&H::graph_launch>("host.graph_launch", "CUDA graphs: the one launch, on the reference CPU"),
      call_row<&H::graph_launch_node>("host.graph_launch_node",
                                      "CUDA graphs: each kernel in it, on the reference CPU"),
      {{std::string(kHostTimeScale), std::nullopt, 0.2, 10, kTimePrior,
        "calls in whole training steps / as single calls tell"},
       [](const HostCalibration& host) { return host.time_scale; },
       [](HostCalibration& host, double value) { host.time_scale = value; }},
  };
  return rows;
}

KernelCalibration kernel_calibration_of(const ClusterSpec& cluster, const FrameworkVersion& cuda) {
  const Gpu& gpu = cluster.node.gpu;
  KernelCalibration kernels = with_library(default_kernel_calibration(gpu), gpu, cuda);
  apply(cluster.calibration, kernel_constants(), kernels);
  return kernels;
}

}  // namespace foretrain
