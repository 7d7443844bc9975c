// Writes the steps of a layer: linear layers as tensor parallelism cuts them, with their exchanges.
#pragma once

#include "sim/workload/transformer/layer_program.hpp"

namespace foretrain {

/// A linear layer of a rank: in x out of it, and the rows it is run on.
struct LinearSize {
  std::int64_t rows = 0, in = 0, out = 0;
  std::int64_t count = 1;  ///< alike ones in one launch (experts)
  std::int64_t parameters() const { return in * out * count; }
};

/// Appends to the steps of a program. A *column* layer takes an input that all ranks of the tensor group have
/// whole, a *row* layer gives a sum over them (Megatron-LM's names). With sequence parallelism the input is
/// gathered before the one and the sum scattered after the other, else the sum is an all-reduce, forward of
/// the row and backward of the column layer.
class LayerWriter {
 public:
  LayerWriter(const LayerSlice& slice, const LayerKernels& kernels) : slice_(slice), kernels_(kernels) {}

  void column_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  void row_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  /// `matrices`: that read the same input, in one product.
  void column_backward(std::vector<LayerStep>& steps, const LinearSize& size, int matrices = 1) const;
  void row_backward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  /// Without exchanges: one that every rank has for itself.
  void plain_forward(std::vector<LayerStep>& steps, const LinearSize& size) const;
  void plain_backward(std::vector<LayerStep>& steps, const LinearSize& size) const;

  /// Passes over a tensor of 16-bit elements.
  static LayerStep pass(double elements, double passes, int launches);
  /// The message of an exchange, appended; not at all among one rank.
  void exchange(std::vector<LayerStep>& steps, ParallelAxis along, Exchange exchange, double bytes) const;
  int ranks(ParallelAxis along) const;
  /// The gradient of weights becomes part of the fp32 gradients.
  void accumulate(std::vector<LayerStep>& steps, std::int64_t parameters) const;

  const LayerSlice& slice() const { return slice_; }
  const LayerKernels& kernels() const { return kernels_; }

 private:
  /// 16-bit values to 4 bit, for a product and, the other way round, for that of weights' gradients.
  void quantize(std::vector<LayerStep>& steps, std::int64_t elements) const;
  void weight_gradient(std::vector<LayerStep>& steps, const LinearSize& size, int waits_for) const;
  void gathered_products(std::vector<LayerStep>& steps, const LinearSize& size, int gather) const;
  bool cuts_tensor() const { return slice_.tensor > 1; }
  double message(const LinearSize& size, bool of_input) const {
    return 2.0 * static_cast<double>(size.rows) * static_cast<double>(of_input ? size.in : size.out);
  }

  const LayerSlice& slice_;
  const LayerKernels& kernels_;
};

// Parts of layers, each in its file; they append to forward and backward and add what is saved.

/// The feed-forward part of a layer with experts: router, dispatch, experts, combination.
void write_experts_forward(const LayerWriter& writer, const TransformerShape& shape,
                           std::vector<LayerStep>& steps);  // expert_steps.cpp
void write_experts_backward(const LayerWriter& writer, const TransformerShape& shape,
                            std::vector<LayerStep>& steps);
/// Experts that every token passes.
void write_shared_experts(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps);
/// Bytes kept for backward, in all and of its parts: what the activation of routed experts gives, and what
/// shared experts keep.
struct ExpertBytes {
  double all = 0, activated = 0, shared = 0;
};
ExpertBytes saved_by_experts(const LayerWriter& writer, const TransformerShape& shape);
/// Of the input of a product that is kept for the gradient of its weights.
double kept_operand_bytes(KernelPrecision precision);  // layer_program.cpp

/// Scores, softmax and weighted values, with what context parallelism exchanges for them.
void write_attention_core(const LayerWriter& writer, const TransformerShape& shape, bool backward,
                          std::vector<LayerStep>& steps);  // attention_core.cpp
/// Bytes of other ranks' keys and values that are kept for backward, beside a rank's own.
double kept_by_context(const LayerWriter& writer, const TransformerShape& shape);
/// Bytes of scores kept for backward where attention is not fused; 0 where it is.
double saved_scores(const LayerWriter& writer, const TransformerShape& shape);

}  // namespace foretrain
