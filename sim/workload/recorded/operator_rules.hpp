// Costs of the framework's operators, one row each, by name. FLOPs, bytes, matrix products and kernels follow
// from the sizes of its tensors. The conventions are those of docs/models/kernels.md.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/recorded/recorded_network.hpp"

namespace foretrain {

/// A tensor at one batch. Refers to its size, which must outlive it.
class TensorAt {
 public:
  TensorAt(const TensorSize& size, double batch, double width) : size_(&size), batch_(batch), width_(width) {}
  ElementType type() const { return size_->type; }
  std::size_t rank() const { return size_->dimensions.size(); }
  /// Returns dimension i, counted from the end when negative; 1 where there is none.
  double dim(int i) const;
  double elements() const { return size_->elements(batch_); }
  /// Returns the bytes of its elements, in the width in which the model counts them.
  double bytes() const { return elements() * width_; }

 private:
  const TensorSize* size_;
  double batch_, width_;
};

/// The way in which bytes of elements count. The model counts floating-point elements in 32 bits and halves
/// them in precisions of 16. Elements that autocast made narrow therefore count as full ones (half_as_full).
/// Those of an operator that has 16 bits in every precision count twice, since they are always halved.
enum class ByteCount : std::uint8_t { as_recorded, half_as_full, twice };

/// A recorded operator at one batch: the input of its rule. Refers to the network, which must outlive it.
class RecordedCall {
 public:
  RecordedCall(const RecordedNetwork& network, const RecordedOperator& op, double batch, ByteCount count)
      : network_(&network), op_(&op), batch_(batch), count_(count) {}
  std::size_t in_count() const { return op_->in.size(); }
  std::size_t out_count() const { return op_->out.size(); }
  /// Returns an operand or a result, or an empty tensor where there is none.
  TensorAt in(std::size_t i) const { return tensor(op_->in, i); }
  TensorAt out(std::size_t i) const { return tensor(op_->out, i); }
  /// Return the sum over all operands, or over all results, in the counted width.
  double in_bytes() const;
  double out_bytes() const;
  /// Returns the argument of this name, or nullptr.
  const RecordedArgument* argument(std::string_view name) const;
  /// Returns the first number of an argument, or `fallback` where it is not given.
  double number(std::string_view name, double fallback) const;
  /// Returns whether the first number of an argument is not 0, or `fallback` where it is not given.
  bool flag(std::string_view name, bool fallback = false) const {
    return number(name, fallback ? 1 : 0) != 0;
  }

 private:
  TensorAt tensor(const std::vector<SizeId>& ids, std::size_t i) const;
  const RecordedNetwork* network_;
  const RecordedOperator* op_;
  double batch_;
  ByteCount count_;
};

/// Work of one kernel, or of several behind one host call, at that batch. Sizes of products are those of the
/// whole batch too.
struct RecordedWork {
  double flops = 0, bytes = 0;
  int kernels = 1;
  /// Products, at most two, whose bytes are in `fixed`.
  std::vector<Product> products{};
  double visits = 0;  ///< Operator::visits
};

/// The way in which an operator joins its neighbours of one call (call_groups.cpp).
enum class OperatorRole : std::uint8_t {
  alone,
  silent,   ///< runs nothing on the GPU: a view, an allocation
  product,  ///< backward, up to two of one call are one operator
  sum,      ///< backward, the column sum of a bias goes to the product before it
  copy,     ///< neighbours are one operator
  fill,     ///< goes to the copy behind it
  random    ///< begins a dropout that a CPU runs in parts
};

/// The cost of an operator of ATen in a recorded network: its class, host call, FLOPs and bytes. There is one
/// row for each operator, and its words are printed in docs/models/networks.md.
struct OperatorRule {
  std::string_view name;  ///< without "aten::"; in place alike, with "_" behind it
  OperatorClass cls = OperatorClass::elementwise;
  HostCall call = HostCall::activation;
  std::string_view flops, bytes;  ///< in words, for docs/models/networks.md
  std::vector<RecordedWork> (*work)(const RecordedCall& call, const OperatorRule& rule) = nullptr;
  /// FLOPs an element, where the work is counted by element.
  double each = 0;
  OperatorRole role = OperatorRole::alone;
  /// False for operators that stay in 32 bits under autocast.
  bool half_capable = true;
  int kernels = 1;
};

/// Returns the rules of all families, in the order of the reference page.
const std::vector<OperatorRule>& operator_rules();
/// Returns the row of a name: that of "relu" for "aten::relu" and "aten::relu_"; nullptr when there is none.
const OperatorRule* find_operator_rule(std::string_view name);

// Work by elements of the result, or of the first operand, with the bytes of all operands and results.
std::vector<RecordedWork> work_by_result(const RecordedCall& call, const OperatorRule& rule);
std::vector<RecordedWork> work_by_operand(const RecordedCall& call, const OperatorRule& rule);

// The families of rules, each in a file of its own.
std::vector<OperatorRule> convolution_rules(), product_rules(), attention_rules(), normalization_rules(),
    activation_rules(), pointwise_rules(), pooling_rules(), loss_rules(), embedding_rules(),
    recurrent_rules(), copy_rules(), reduction_rules(), dropout_rules(), resize_rules(), list_rules();

}  // namespace foretrain
