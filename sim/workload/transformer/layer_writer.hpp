// A writer of a layer's steps: linear layers as tensor parallelism cuts them, with their exchanges.
#pragma once

#include "sim/workload/transformer/layer_program.hpp"

namespace foretrain {

/// A linear layer of one rank: `in` x `out`, and the rows that it is run on.
struct LinearSize {
  std::int64_t rows = 0, in = 0, out = 0;
  std::int64_t count = 1;  ///< alike ones in one launch (experts)
  std::int64_t parameters() const { return in * out * count; }
};

/// Appends steps to a program. A *column* layer takes an input that all ranks of the tensor group have whole.
/// A *row* layer gives a sum over them (Megatron-LM's names). With sequence parallelism the input is gathered
/// before the column layer, and the sum is scattered after the row layer. Without it the sum is an
/// all-reduce, in the row layer's forward and in the column layer's backward.
///
/// Holds references to the slice and the kernels, which must outlive it.
class LayerWriter {
 public:
  LayerWriter(const LayerSlice& slice, const LayerKernels& kernels) : slice_(slice), kernels_(kernels) {}

  void column_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  void row_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  /// `matrices` is the number of matrices in the product that read the same input.
  void column_backward(std::vector<LayerStep>& steps, const LinearSize& size, int matrices = 1) const;
  void row_backward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  /// Writes a layer without exchanges, which every rank has for itself.
  void plain_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  void plain_backward(std::vector<LayerStep>& steps, const LinearSize& size) const;

  /// Returns a kernel that passes over a tensor of 16-bit elements `passes` times.
  static LayerStep pass(double elements, double passes, int launches);
  /// Appends an exchange of this whole message; appends nothing for a group of one rank.
  void exchange(std::vector<LayerStep>& steps, ParallelAxis along, Exchange exchange, double bytes) const;
  int ranks(ParallelAxis along) const;
  /// Appends the addition of weight gradients to the fp32 gradients of earlier micro-batches.
  void accumulate(std::vector<LayerStep>& steps, std::int64_t parameters) const;

  const LayerSlice& slice() const { return slice_; }
  const LayerKernels& kernels() const { return kernels_; }

 private:
  /// Appends the conversion of 16-bit values to 4 bit: for a product and, transposed, for that of weights'
  /// gradients.
  void quantize(std::vector<LayerStep>& steps, std::int64_t elements) const;
  // weight_gradient() waits for the exchange at place `waits_for`, -1 for none; gathered_products() for
  // `gather`.
  void weight_gradient(std::vector<LayerStep>& steps, const LinearSize& size, int waits_for) const;
  void gathered_products(std::vector<LayerStep>& steps, const LinearSize& size, int gather) const;
  bool cuts_tensor() const { return slice_.tensor > 1; }
  double message(const LinearSize& size, bool of_input) const {
    return 2.0 * static_cast<double>(size.rows) * static_cast<double>(of_input ? size.in : size.out);
  }

  const LayerSlice& slice_;
  const LayerKernels& kernels_;
};

// Parts of layers, each in a file of its own. They append to forward and backward.

/// Writes the feed-forward part of a layer with experts: router, dispatch, experts, combination.
void write_experts_forward(const LayerWriter& writer, const TransformerShape& shape,
                           std::vector<LayerStep>& steps);  // expert_steps.cpp
void write_experts_backward(const LayerWriter& writer, const TransformerShape& shape,
                            std::vector<LayerStep>& steps);
/// Writes the shared experts, which every token passes.
void write_shared_experts(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps);
/// Bytes kept for backward: in all, those of the routed experts' activation, and those of shared experts.
struct ExpertBytes {
  double all = 0, activated = 0, shared = 0;
};
ExpertBytes saved_by_experts(const LayerWriter& writer, const TransformerShape& shape);
/// Returns the bytes of an element of a product's input, which is kept for the gradient of its weights.
double kept_operand_bytes(KernelPrecision precision);  // layer_program.cpp

/// Writes scores, softmax and weighted values, with the exchanges of context parallelism.
void write_attention_core(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps);  // attention_core.cpp
/// Returns the bytes of other ranks' keys and values that are kept for backward, beside a rank's own.
double kept_by_context(const LayerWriter& writer, const TransformerShape& shape);
/// Returns the bytes of scores kept for backward where attention is not fused; 0 where it is.
double saved_scores(const LayerWriter& writer, const TransformerShape& shape);

}  // namespace foretrain
