// A network layer by layer: shapes, parameters, FLOPs, bytes, kernels, saved activations, and on a GPU the
// time of its kernels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/scenario/scenario.hpp"
#include "sim/workload/device/memory.hpp"
#include "sim/workload/layers/shape.hpp"

namespace foretrain {

// Rows of a listing that repeat: which runs of them to show once with a count.

/// Rows first .. first + length - 1 stand `count` times one after the other.
struct RowGroup {
  std::size_t first = 0, length = 1, count = 1;
  friend bool operator==(const RowGroup&, const RowGroup&) = default;
};

/// One row of a listing: equal keys look alike; dots in the name part it into levels ("encoder.3.query").
struct RepeatableRow {
  std::uint64_t key = 0;
  std::string name;
};

/// Covers all rows, in order, by groups that print the fewest lines (a group of several rows costs a
/// heading). A group repeats rows of one level, or whole levels ("encoder.0.", "encoder.1."), never parts of
/// them. Repetitions of more than kLongestRepetition rows are not found.
inline constexpr std::size_t kLongestRepetition = 256;
std::vector<RowGroup> fold_repeated(const std::vector<RepeatableRow>& rows);

/// FLOPs and bytes are those of one sample in the forward pass; what a batch shares (weights) is divided by
/// the batch.
struct LayerSummary {
  std::string name;
  std::optional<OperatorClass> kind;  ///< of its largest operator; none for views
  Shape result;
  std::int64_t parameters = 0;
  double flops = 0, bytes = 0;
  double saved_bytes = 0;  ///< activations kept for backward, a sample, fp32
  int forward_kernels = 0, backward_kernels = 0;
  Time forward_time{}, backward_time{};  ///< of the whole batch; zero without a GPU
  /// FLOPs per byte moved; 0 for layers that move none.
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  Time time() const { return forward_time + backward_time; }
};

/// Sums over the layers of a network: parameters, FLOPs and bytes.
struct ModelTotals {
  std::int64_t parameters = 0, tensors = 0;
  std::int64_t frozen = 0;  ///< parameters besides that nothing trains
  double saved = 0;         ///< bytes that a further sample keeps for backward, in fp32
  Bytes gradients{};
  double forward_flops = 0, forward_product_flops = 0,
         backward_flops = 0;  ///< of one sample; product: matrix products alone
  double forward_bytes = 0;   ///< of one sample
  int forward_kernels = 0, backward_kernels = 0, optimizer_kernels = 0;
  Bytes activations_fp32{}, activations_16_bit{};  ///< more memory a further sample takes
  MemoryUse memory;
  int kernels() const { return forward_kernels + backward_kernels + optimizer_kernels; }
  double intensity() const { return forward_bytes > 0 ? forward_flops / forward_bytes : 0; }
};

/// Time of the kernels of one class, forward and backward; `kind` is none for the optimizer.
struct ClassTime {
  std::optional<OperatorClass> kind;
  int kernels = 0;
  Time time{};
};

/// Layers that do the same work with the same shapes, wherever they stand.
struct SlowLayer {
  std::size_t layer = 0;  ///< the first of them
  int count = 1;
  Time time{};  ///< of all of them, forward and backward
};

/// Kernel times of a network on one GPU, by pass.
struct KernelTimes {
  std::string gpu;
  Time total{};
  std::vector<ClassTime> classes;  ///< most time first
  std::vector<SlowLayer> slowest;  ///< at most kSlowestLayers, most time first
};
inline constexpr std::size_t kSlowestLayers = 10;

/// A network as `model show` prints it: layers with parameters, FLOPs, memory and times.
struct ModelSummary {
  std::string name, description, input;
  Precision precision = Precision::fp32;
  std::int64_t batch = 0;
  std::vector<LayerSummary> layers;
  std::vector<RowGroup> groups;  ///< of `layers`: what repeats, once
  ModelTotals totals;
  std::optional<KernelTimes> times;
  std::shared_ptr<const Recording> recording;  ///< of a recorded network
};

/// Of the scenario's model at its batch, precision, optimizer and framework; with times of the cluster's GPU
/// when asked for.
ModelSummary summarize_model(const Scenario& scenario, bool with_times);

}  // namespace foretrain
