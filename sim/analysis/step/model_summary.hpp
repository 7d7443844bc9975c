// A summary of a network layer by layer: shapes, parameters, FLOPs, bytes, kernels and saved activations, and
// the time of its kernels on a GPU.
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

// Repeated rows of a listing, which are shown once with a count.

/// A group of rows that repeats: rows first .. first + length - 1 stand `count` times one after the other.
struct RowGroup {
  std::size_t first = 0, length = 1, count = 1;
  friend bool operator==(const RowGroup&, const RowGroup&) = default;
};

/// A row of a listing. Rows with equal keys look alike; dots in the name separate levels ("encoder.3.query").
struct RepeatableRow {
  std::uint64_t key = 0;
  std::string name;
};

/// Longest repeated group that fold_repeated() finds, in rows.
inline constexpr std::size_t kLongestRepetition = 256;
/// Covers all rows, in order, by groups that print the fewest lines; a group of several rows costs one line
/// for its heading. A group repeats rows of one level or whole levels ("encoder.0.", "encoder.1."), never
/// parts of them. Groups longer than kLongestRepetition are not found.
std::vector<RowGroup> fold_repeated(const std::vector<RepeatableRow>& rows);

/// A layer of the network. FLOPs and bytes are those of one sample in the forward pass; what a batch shares,
/// such as reading the weights, is divided by the batch.
struct LayerSummary {
  std::string name;
  /// Class of the layer's largest operator; none for views.
  std::optional<OperatorClass> kind;
  Shape result;
  std::int64_t parameters = 0;
  double flops = 0, bytes = 0;
  /// Activations kept for backward, in fp32 bytes of one sample.
  double saved_bytes = 0;
  int forward_kernels = 0, backward_kernels = 0;
  /// Kernel times of the whole batch; zero without a GPU.
  Time forward_time{}, backward_time{};
  /// Returns FLOPs per byte moved; 0 for layers that move none.
  double intensity() const { return bytes > 0 ? flops / bytes : 0; }
  Time time() const { return forward_time + backward_time; }
};

/// Sums over the layers of a network.
struct ModelTotals {
  std::int64_t parameters = 0, tensors = 0;
  /// Further parameters that nothing trains.
  std::int64_t frozen = 0;
  /// Bytes that one more sample keeps for backward, in fp32.
  double saved = 0;
  Bytes gradients{};
  /// FLOPs of one sample; "product" counts matrix products alone.
  double forward_flops = 0, forward_product_flops = 0, backward_flops = 0;
  /// Bytes of one sample.
  double forward_bytes = 0;
  int forward_kernels = 0, backward_kernels = 0, optimizer_kernels = 0;
  /// Additional memory that one more sample takes in each precision.
  Bytes activations_fp32{}, activations_16_bit{};
  MemoryUse memory;
  int kernels() const { return forward_kernels + backward_kernels + optimizer_kernels; }
  double intensity() const { return forward_bytes > 0 ? forward_flops / forward_bytes : 0; }
};

/// Kernel time of one operator class, forward and backward; `kind` is none for the optimizer.
struct ClassTime {
  std::optional<OperatorClass> kind;
  int kernels = 0;
  Time time{};
};

/// Layers that do the same work with the same shapes, wherever they stand in the network.
struct SlowLayer {
  /// Index of the first of these layers.
  std::size_t layer = 0;
  int count = 1;
  /// Forward and backward time of all of them together.
  Time time{};
};

/// Kernel times of a network on one GPU, by class and by layer.
struct KernelTimes {
  std::string gpu;
  Time total{};
  /// Classes in descending order of time.
  std::vector<ClassTime> classes;
  /// Slow layers, at most kSlowestLayers, in descending order of time.
  std::vector<SlowLayer> slowest;
};
/// Longest list of slow layers that `model show` prints.
inline constexpr std::size_t kSlowestLayers = 10;

/// A network as `model show` prints it: layers with parameters, FLOPs, memory and times.
struct ModelSummary {
  std::string name, description, input;
  Precision precision = Precision::fp32;
  std::int64_t batch = 0;
  std::vector<LayerSummary> layers;
  /// Repetitions in `layers`, so that a report shows each once.
  std::vector<RowGroup> groups;
  ModelTotals totals;
  std::optional<KernelTimes> times;
  /// The recording that a recorded network comes from; null for others.
  std::shared_ptr<const Recording> recording;
};

/// Returns the summary of the scenario's model at its batch, precision, optimizer and framework. `with_times`
/// adds the kernel times on the cluster's GPU.
ModelSummary summarize_model(const Scenario& scenario, bool with_times);

}  // namespace foretrain
