// When the tensors of a training step live on the GPU: what its memory peak is computed from.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/workload/amount.hpp"

namespace foretrain {

/// In which width activations are stored. full: fp32. autocast: 16 bit behind matrix products and what
/// follows them, fp32 behind softmax, layer norm and loss, with copies where one kind feeds the other. half:
/// 16 bit but for the loss and RMSNorm (fp16 weights). graph: 16 bit everywhere (TensorFlow's rewritten
/// graph).
enum class ActivationWidth : std::uint8_t { full, autocast, half, graph };

/// Something on the GPU between two moments, both included. Moments count the forward operators, then the
/// backward steps.
struct Lifetime {
  std::uint32_t from = 0, until = 0;
  Amount bytes;                            ///< with fp32 elements
  std::array<float, 4> share{1, 1, 1, 1};  ///< of `bytes` that are there, by ActivationWidth
  bool enters_block = false;               ///< what a recomputed block is computed from once more
  double at(double batch, ActivationWidth width) const {
    return bytes.at(batch) * static_cast<double>(share[static_cast<std::size_t>(width)]);
  }
};

/// Which activations wait for backward in page-locked host memory. checkpoints: what goes into recomputed
/// blocks, copied on the compute stream (unsloth, axolotl's and LLaMA-Factory's forms of it).
/// saved_tensors: all that autograd keeps, copied on a second stream (torchtune's OffloadActivations, TRL).
enum class ActivationOffload : std::uint8_t { none, checkpoints, saved_tensors };

/// A tensor that is copied to the host in the forward pass, and back before backward needs it.
struct OffloadedTensor {
  std::uint32_t made = 0;    ///< forward operator behind which it is copied
  std::uint32_t gone = 0;    ///< forward operator before which its copy must have ended
  std::uint32_t called = 0;  ///< backward step from which on it may be copied back
  std::uint32_t needed = 0;  ///< backward step that waits for it
  Lifetime life;             ///< its bytes; as it would live on the GPU otherwise
};

/// What a step copies to the host, in the order of the forward pass.
struct OffloadedActivations {
  ActivationOffload how = ActivationOffload::none;
  std::uint32_t forward = 0, backward = 0;  ///< operators of the lists that the tensors count in
  std::vector<OffloadedTensor> tensors;
};

/// A step's tensors. Gradients of parameters stay until the optimizer has run, wherever they come from.
struct Lifetimes {
  std::vector<Lifetime> activations;          ///< with their gradients, kept statistics, masks and indices
  std::vector<Lifetime> parameter_gradients;  ///< when they are made anew in each step
  std::uint32_t moments = 0;
};

/// Whether parameters' gradients are there all the time (buckets, accumulation, zero_grad that fills), or
/// made anew in each step.
enum class GradientTensors : std::uint8_t { kept, made_anew };

/// The largest sum of bytes over all moments; with the gradients of parameters only where they are made anew,
/// at `gradient_width` of their bytes in fp32.
double peak_bytes(const Lifetimes& lifetimes, double batch, ActivationWidth width, GradientTensors gradients,
                  double gradient_width = 1);

/// The same where what goes into recomputed blocks stays, with its gradient, until backward has ended.
Lifetimes with_held_block_inputs(const Lifetimes& lifetimes);

}  // namespace foretrain
