// Lifetimes of a training step's tensors on the GPU, from which its memory peak is computed.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/workload/amount.hpp"

namespace foretrain {

/// The width in which activations are stored. full: fp32. autocast: 16 bit behind matrix products and what
/// follows them, fp32 behind softmax, layer norm and loss, with copies where one kind feeds the other. half:
/// 16 bit except for the loss and RMSNorm (fp16 weights). graph: 16 bit everywhere (TensorFlow's rewritten
/// graph).
enum class ActivationWidth : std::uint8_t { full, autocast, half, graph };

/// Memory that is in use between two moments, both included. Moments number the forward operators from 0,
/// then the backward steps.
struct Lifetime {
  std::uint32_t from = 0, until = 0;
  Amount bytes;                            ///< bytes with fp32 elements
  std::array<float, 4> share{1, 1, 1, 1};  ///< share of `bytes` that exists, by ActivationWidth
  bool enters_block = false;               ///< it is the input from which a block is recomputed
  /// Returns the bytes for a batch of `batch` samples with activations stored in this width.
  double at(double batch, ActivationWidth width) const {
    return bytes.at(batch) * static_cast<double>(share[static_cast<std::size_t>(width)]);
  }
};

/// The activations that wait for backward in page-locked host memory. checkpoints: the inputs of recomputed
/// blocks, copied on the compute stream (the form of unsloth, axolotl and LLaMA-Factory). saved_tensors: all
/// tensors that autograd keeps, copied on a second stream (OffloadActivations of torchtune, TRL).
enum class ActivationOffload : std::uint8_t { none, checkpoints, saved_tensors };

/// A tensor that is copied to the host in the forward pass and copied back before backward needs it.
struct OffloadedTensor {
  std::uint32_t made = 0;    ///< forward operator behind which it is copied
  std::uint32_t gone = 0;    ///< forward operator before which its copy must have ended
  std::uint32_t called = 0;  ///< backward step from which on it may be copied back
  std::uint32_t needed = 0;  ///< backward step that waits for it
  Lifetime life;             ///< its bytes, and the life that it would have on the GPU otherwise
};

/// The tensors that a step copies to the host, in the order of the forward pass.
struct OffloadedActivations {
  ActivationOffload how = ActivationOffload::none;
  std::uint32_t forward = 0, backward = 0;  ///< operators of the lists that the tensors count in
  std::vector<OffloadedTensor> tensors;
};

/// The lifetimes of a step. Gradients of parameters stay until the optimizer has run, wherever they come
/// from.
struct Lifetimes {
  std::vector<Lifetime> activations;          ///< with their gradients, kept statistics, masks and indices
  std::vector<Lifetime> parameter_gradients;  ///< when they are made anew in each step
  /// Number of moments: forward operators plus backward steps, at least one of the latter.
  std::uint32_t moments = 0;
};

/// Decides when parameters' gradients are in memory. kept: all the time (buckets, accumulation, a zero_grad
/// that fills them with zeros). made_anew: from the backward step that makes them, in each step.
enum class GradientTensors : std::uint8_t { kept, made_anew };

/// Returns the largest sum of bytes over all moments. Gradients of parameters count only where they are made
/// anew, at `gradient_width` times their bytes in fp32. Linear in the number of lifetimes and moments.
double peak_bytes(const Lifetimes& lifetimes, double batch, ActivationWidth width, GradientTensors gradients,
                  double gradient_width = 1);

/// Returns the lifetimes of a step that holds the inputs of recomputed blocks, and their gradients, until
/// backward has ended. Needs at least one moment.
Lifetimes with_held_block_inputs(const Lifetimes& lifetimes);

}  // namespace foretrain
