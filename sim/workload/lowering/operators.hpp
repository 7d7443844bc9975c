// A network expanded into the operators of one training step: forward and backward operators with exact FLOPs
// and bytes.
//
// They stand in the order in which the framework issues them, with the moment at which each parameter's
// gradient is ready. Everything after expansion reads these types: lowering, kernel and host time, memory,
// strategies and reports. Amounts are those of one sample, written as fixed + batch * per_sample, so that one
// expansion serves every batch.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostics.hpp"
#include "sim/base/units.hpp"
#include "sim/workload/amount.hpp"
#include "sim/workload/fine_tuning/fine_tuning.hpp"
#include "sim/workload/layers/layer.hpp"
#include "sim/workload/layers/shape.hpp"
#include "sim/workload/precision.hpp"
#include "sim/workload/tape/lifetimes.hpp"

namespace foretrain {

/// The kind of work that limits a kernel. Each class has its own set of efficiencies (device/kernel_time).
enum class OperatorClass : std::uint8_t {
  conv,
  depthwise_conv,
  gemm,
  attention,
  normalization,
  elementwise,
  pooling,
  reduction,
  embedding,
  copy
};

/// "conv", "depthwise_conv", …
std::string_view name_of(OperatorClass cls);

/// The framework call that issues an operator. Each has a row in the table of host times (device/host_time).
enum class HostCall : std::uint8_t {
  conv2d,
  batch_norm,
  linear,
  layer_norm,
  activation,
  pooling,
  add,
  concat,
  dropout,
  embedding,
  attention,
  softmax,
  loss,
  view,
  copy,
  fused_attention,
  recurrent,
  gelu
};

/// A matrix product C[m,n] += A[m,k] B[k,n] inside an operator. A convolution is the product of the same size
/// (implicit GEMM). Forward, m is the number of output positions, n the output channels of a group, and k the
/// input channels of a group times the window. Sizes are of one sample; the batch multiplies the one
/// dimension that `grows`, if any.
struct Product {
  enum class Grows : std::uint8_t { rows, depth, count, nothing };
  double m = 0, n = 0, k = 0;
  double count = 1;   ///< independent products in one launch: heads, groups
  double serial = 1;  ///< launches one after the other: time steps of a recurrent layer
  Grows grows = Grows::rows;
  std::int32_t window = 1;  ///< kernel positions of a convolution (3x3: 9); 1 for plain products
  std::int32_t stride = 1;
  Amount bytes;  ///< read + written, fp32 elements, all of `count` and `serial`
  /// Fused attention: the share of all pairs of a query and a key that the mask leaves, 0 to 1. `count` is
  /// heads times this share.
  double unmasked_share = 1;
  /// Returns FLOPs of one sample; of the whole step where nothing grows with the batch.
  double flops_per_sample() const { return 2 * m * n * k * count * serial; }
  double flops(double batch) const { return flops_per_sample() * (grows == Grows::nothing ? 1 : batch); }
};

/// The width of an operator's floating-point elements, whose bytes count as if they had 32 bits.
enum class ElementWidth : std::uint8_t {
  by_precision,  ///< 16 bits under a precision of 16, if the operator is half capable
  full,          ///< in every precision as the bytes count
  half           ///< in every precision 16 bits: half of the bytes that count
};

/// A framework-level operator: `kernels` launches issued by one host call. Bytes are read plus written, for
/// fp32 elements.
struct Operator {
  OperatorClass cls = OperatorClass::elementwise;
  HostCall call = HostCall::activation;
  bool backward = false;
  std::uint32_t layer = 0;  ///< index into ExpandedModel::layer_names
  std::uint16_t kernels = 1;
  /// Number of host calls that issue the kernels, one after the other: the steps of a loop in the script.
  std::uint16_t calls = 1;
  Amount flops;  ///< 2 per multiply-add; rules in docs/models/kernels.md
  Amount bytes;
  Amount visits{};               ///< pooling: elements that its windows hold, each counted for every window
  std::int64_t channels = 0;     ///< normalization: channels of its trained vectors
  bool keeps_averages = false;   ///< it also updates running averages of every channel, and counts batches
  std::optional<Time> stated{};  ///< time at any batch; none: it follows from FLOPs and bytes
  /// Its FLOPs at the vector rate bound its time too: the operator takes the longer of these and its bytes.
  bool is_roofline = false;
  bool half_capable = true;     ///< runs in 16 bit under autocast (loss and softmax do not)
  bool stays_wide = false;      ///< a loss: its input is converted to 32 bits even beside weights of 16
  bool narrows_result = false;  ///< computes in 32 bits, and converts its result back to its operand's width
  ElementWidth width = ElementWidth::by_precision;  ///< others: the recorded types decide
  double over_model = 1;  ///< measured time of its kernels over the modelled one, on the GPU of a trace
  std::optional<Time> stated_host{};  ///< measured time of its calls on the reference CPU
  /// The matrix products among `kernels` (backward: for the input, for the weights); their FLOPs and bytes
  /// are part of the totals.
  std::array<Product, 2> products{};
  std::uint8_t product_count = 0;

  /// Appends a product. Precondition: fewer than two so far.
  Operator& with(const Product& product) { return products[product_count++] = product, *this; }
};

/// A parameter tensor, in registration order.
struct Parameter {
  std::string name;  ///< "layer path.weight"
  std::int64_t elements = 0;
  std::uint32_t layer = 0;
  std::int64_t element_bytes = 4;  ///< bytes of the weight, its gradient and each optimizer state
  WeightFormat packed{};           ///< storage of a frozen weight of 8 bits or fewer

  /// Returns the stored bytes; packed weights have fewer than `element_bytes` an element.
  std::int64_t bytes() const;
};

/// An entry of the backward pass: an operator, after which the gradients of the parameters in `ready` are
/// complete. Their order is that in which the framework's accumulation nodes run (conv, norm: weight, bias;
/// linear: bias, weight).
struct BackwardStep {
  Operator op;
  std::vector<std::uint32_t> ready;  ///< indices into ExpandedModel::parameters
};

/// A persistent non-parameter tensor: BatchNorm's running mean and variance (fp32) and its batch counter
/// (int64, 8 bytes).
struct Buffer {
  std::int64_t elements = 0;
  std::int64_t element_bytes = 4;
};

/// The result of a layer: its shape, and the bytes that the layer keeps for backward.
struct LayerTrace {
  Shape result;
  Amount saved_bytes;
};

/// Facts about a recorded network that its operators do not show.
struct Recording {
  std::string by;
  std::int64_t batch = 1;                    ///< samples of the recorded step
  bool grows = true;                         ///< sizes say how they grow with the batch
  bool was_tried_at_two = false;             ///< recorded at two batches, whose sizes are compared
  std::int64_t operators = 0, launches = 0;  ///< those of the step, without the optimizer
  std::int64_t unknown_launches = 0;         ///< launches of operators without a formula
  Amount bytes, unknown_bytes;               ///< bytes of all operators, and of the unknown ones
  std::vector<std::string> unknown;          ///< names of operators without a formula
  std::vector<std::string> beyond_linear;    ///< operators that grow faster than the batch
  bool is_half = false;                      ///< most numbers of its parameters have 16 bits
  std::optional<Precision> autocast;         ///< it was recorded under autocast, in this precision
  std::int64_t without_gradient = 0;         ///< trained tensors that nothing makes a gradient of
  std::int64_t measured_launches = 0;        ///< launches whose times a trace gives
  std::string gpu;                           ///< GPU of the measured times
};

/// A network as operators: parameters, buffers, forward and backward in the order of execution, and the
/// memory that they need. Amounts are for one sample unless a member says otherwise. Immutable once expanded;
/// strategies share it by pointer.
struct ExpandedModel {
  std::string name;
  std::vector<std::string> layer_names;
  std::vector<LayerTrace> layer_traces;  ///< one for each of `layer_names`
  std::vector<Parameter> parameters;
  std::vector<Buffer> buffers;
  std::vector<Operator> forward;  ///< with the loss
  std::vector<BackwardStep> backward;
  std::int64_t input_elements = 0;  ///< per sample
  std::int64_t largest_activation_elements = 0;
  Amount saved_bytes;  ///< fp32 activations kept for backward, each storage once
  /// Lifetimes of everything on the GPU during a step that grows with the batch or comes and goes.
  Lifetimes lifetimes;
  OffloadedActivations offloaded;  ///< `lifetimes` are those that are left on the GPU
  std::int64_t modules = 0;
  std::vector<Parameter> frozen;               ///< parameters without gradient and update
  std::shared_ptr<const Recording> recording;  ///< none: written layer by layer
  bool has_half_weights = false;               ///< its weights have 16 bits or fewer, without fp32 masters
  /// Every tensor has the recorded type, and casts are operators of their own.
  bool keeps_types = false;
  /// Network recorded under autocast: the same step with the recorded types, for training under autocast.
  std::shared_ptr<const ExpandedModel> as_recorded;

  std::int64_t parameter_elements() const;  ///< trained ones
  std::int64_t frozen_elements() const;
  std::int64_t frozen_bytes() const;
  Bytes gradient_bytes() const;
  Amount forward_flops() const;       ///< all operators
  Amount forward_gemm_flops() const;  ///< conv and gemm operators with their bias: the figure papers quote
  Amount backward_flops() const;
  /// Returns parameter indices by the moment at which their gradients are ready.
  std::vector<std::uint32_t> gradient_ready_order() const;
};

/// A layer that does not fit its input, with its place in the file, the mistake and a hint.
struct ModelFault {
  SourceSpan span;
  std::string message, hint;
};

/// An expanded model or the faults of its description. The model is valid only where `faults` is empty.
struct ExpansionResult {
  ExpandedModel model;
  std::vector<ModelFault> faults;  ///< when not empty, `model` is not to be used
};

/// Expands a network and checks its shapes. Allows at most 100,000 layers and tensors of at most 2^40
/// elements; anything beyond is a fault. Does not throw for mistakes of the description.
ExpansionResult expand(const Model& model);

/// Returns the size of a product that the batch multiplies; nullptr where there is none.
inline double* grown_size(Product& product) {
  switch (product.grows) {
    case Product::Grows::rows:
      return &product.m;
    case Product::Grows::depth:
      return &product.k;
    case Product::Grows::count:
      return &product.count;
    case Product::Grows::nothing:
      break;
  }
  return nullptr;
}

/// Returns the operator of a layer that a script runs row by row in a loop of `steps` calls. Kernels and
/// calls are multiplied, the products take one row each, and weights are read at every step.
Operator in_steps(Operator op, double steps);

/// Returns the operator that adds the gradients of `elements` weights from all steps but the first.
Operator sum_over_steps(double elements, double steps);

}  // namespace foretrain
