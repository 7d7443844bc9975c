// What the framework's operators cost: one row each, by name, with FLOPs, bytes, matrix products and kernels
// from the sizes of its tensors. The conventions are those of docs/models/operators.md.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/recorded/recorded_network.hpp"

namespace foretrain {

/// A tensor at one batch.
class TensorAt {
 public:
  TensorAt(const TensorSize& size, double batch, double width) : size_(&size), batch_(batch), width_(width) {}
  ElementType type() const { return size_->type; }
  std::size_t rank() const { return size_->dimensions.size(); }
  /// Dimension i, from the end below 0; 1 where there is none.
  double dim(int i) const;
  double elements() const { return size_->elements(batch_); }
  /// Of its elements, in the width that the model counts them in.
  double bytes() const { return elements() * width_; }

 private:
  const TensorSize* size_;
  double batch_, width_;
};

/// How many bytes an element counts. The model counts floating-point ones in 32 bits and halves them in
/// precisions of 16: what autocast made narrow counts as full; an operator that has 16 bits in every
/// precision counts twice, since it is always halved.
enum class ByteCount : std::uint8_t { as_recorded, half_as_full, twice };

/// A recorded operator at one batch: what its rule computes from.
class RecordedCall {
 public:
  RecordedCall(const RecordedNetwork& network, const RecordedOperator& op, double batch, ByteCount count)
      : network_(&network), op_(&op), batch_(batch), count_(count) {}
  std::size_t in_count() const { return op_->in.size(); }
  std::size_t out_count() const { return op_->out.size(); }
  /// A tensor without elements where there is none.
  TensorAt in(std::size_t i) const { return tensor(op_->in, i); }
  TensorAt out(std::size_t i) const { return tensor(op_->out, i); }
  double in_bytes() const;
  double out_bytes() const;
  const RecordedArgument* argument(std::string_view name) const;
  /// The first number of an argument.
  double number(std::string_view name, double fallback) const;
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

/// What one kernel, or several behind one host call, do at that batch. Sizes of products, too, are whole.
struct RecordedWork {
  double flops = 0, bytes = 0;
  int kernels = 1;
  std::vector<Product> products{};  ///< at most two; their bytes in `fixed`
  double visits = 0;                ///< Operator::visits
};

/// How an operator goes together with its neighbours of one call (call_groups.cpp).
enum class OperatorRole : std::uint8_t {
  alone,
  silent,   ///< runs nothing on the GPU: a view, an allocation
  product,  ///< backward, up to two of one call are one operator
  sum,      ///< backward, the column sum of a bias goes to the product before it
  copy,     ///< neighbours are one operator
  fill,     ///< goes to the copy behind it
  random    ///< begins a dropout that a CPU runs in parts
};

/// The cost of an operator of ATen in a recorded network: its class, host call, FLOPs and bytes. One row for
/// each operator; the words are printed in docs/models/recorded.md.
struct OperatorRule {
  std::string_view name;  ///< without "aten::"; in place alike, with "_" behind it
  OperatorClass cls = OperatorClass::elementwise;
  HostCall call = HostCall::activation;
  std::string_view flops, bytes;  ///< in words, for docs/models/recorded.md
  std::vector<RecordedWork> (*work)(const RecordedCall& call, const OperatorRule& rule) = nullptr;
  double each = 0;  ///< FLOPs an element, where the work is by element
  OperatorRole role = OperatorRole::alone;
  bool half_capable = true;
  int kernels = 1;
};

/// Those of all families, in the order of the reference page.
const std::vector<OperatorRule>& operator_rules();
/// The row of "aten::relu_" is that of "relu"; nullptr when there is none.
const OperatorRule* find_operator_rule(std::string_view name);

// By element of the result, of the first operand; bytes of all operands and results.
std::vector<RecordedWork> work_by_result(const RecordedCall& call, const OperatorRule& rule);
std::vector<RecordedWork> work_by_operand(const RecordedCall& call, const OperatorRule& rule);

// The families, a file each.
std::vector<OperatorRule> convolution_rules(), product_rules(), attention_rules(), normalization_rules(),
    activation_rules(), pointwise_rules(), pooling_rules(), loss_rules(), embedding_rules(),
    recurrent_rules(), copy_rules(), reduction_rules(), dropout_rules(), resize_rules(), list_rules();

}  // namespace foretrain
