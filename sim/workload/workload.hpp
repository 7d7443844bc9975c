// What is trained and how: the expanded network, batch, precision, optimizer, data and training loop.
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

/// What is trained and how, independent of cluster and strategy: model, batch, precision, framework,
/// optimizer, data and loop.
struct Workload {
  std::shared_ptr<const ExpandedModel> model;
  Precision precision = Precision::fp32;
  std::int64_t batch_per_gpu = 32;
  /// In 16 bit: weights and gradients too, with fp32 master weights (Apex O2, DeepSpeed), not autocast
  bool half_weights = false;
  bool recompute = false;  ///< activation checkpointing of blocks (tape/recompute); `model` is after it
  ActivationOffload offload_activations = ActivationOffload::none;  ///< `model` is after it
  Framework framework;
  Optimizer optimizer;
  DataSet data;
  TrainingLoop loop;
};

/// Weights and gradients have 16 bits: by half_weights, or because the network was recorded so.
bool has_half_weights(const Workload& workload);

/// Bytes of an element that the optimizer steps on over those of fp32: the parameters' own, where they have
/// no master weights.
double updated_width(const Workload& workload);

/// It trains under autocast in eager mode, as ExpandedModel::as_recorded was recorded. Which operators
/// autocast casts does not depend on the type of 16 bits.
bool runs_as_recorded(const Workload& workload);

/// An expanded network as this training runs it: with its blocks recomputed, kept activations on the host,
/// and lowered by its framework.
ExpandedModel as_trained(ExpandedModel model, const Workload& workload);

}  // namespace foretrain
