// The workload: the expanded network with batch, precision, optimizer, data and training loop.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "sim/base/units.hpp"
#include "sim/workload/data_set.hpp"
#include "sim/workload/framework.hpp"
#include "sim/workload/lowering/operators.hpp"
#include "sim/workload/lowering/optimizer.hpp"
#include "sim/workload/precision.hpp"
#include "sim/workload/training_loop.hpp"

namespace foretrain {

/// The training of a network, independent of cluster and strategy. `model` is shared and immutable.
struct Workload {
  std::shared_ptr<const ExpandedModel> model;
  Precision precision = Precision::fp32;
  std::int64_t batch_per_gpu = 32;
  /// Under 16 bits, weights and gradients have them too, with fp32 master weights (Apex O2, DeepSpeed),
  /// instead of autocast.
  bool half_weights = false;
  bool recompute = false;  ///< activation checkpointing of blocks (tape/recompute); `model` is after it
  ActivationOffload offload_activations = ActivationOffload::none;  ///< `model` is after it
  Framework framework;
  Optimizer optimizer;
  DataSet data;
  TrainingLoop loop;
};

/// True where weights and gradients have 16 bits: by half_weights, or because the network was recorded so.
bool has_half_weights(const Workload& workload);

/// Returns the bytes of an element that the optimizer steps on, over those of fp32. These are the parameters'
/// own elements where they have no master weights.
double updated_width(const Workload& workload);

/// True for a training under autocast in eager mode, as ExpandedModel::as_recorded was recorded. Autocast
/// casts the same operators for both types of 16 bits.
bool runs_as_recorded(const Workload& workload);

/// Returns an expanded network as this training runs it: with its blocks recomputed, kept activations on the
/// host, and lowered by its framework.
ExpandedModel as_trained(ExpandedModel model, const Workload& workload);

}  // namespace foretrain
