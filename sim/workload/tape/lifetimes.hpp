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
