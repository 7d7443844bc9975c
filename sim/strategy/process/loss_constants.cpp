// The loss constants that a calibration may set, as one table: name, dimension, least and largest value,
// prior standard deviation, meaning, and access to the member of Losses.
#include "sim/strategy/process/losses.hpp"

namespace foretrain {

const std::vector<ConstantOf<Losses>>& loss_constants() {
  static const std::vector<ConstantOf<Losses>> rows{
      {{"loss.rank_spread", std::nullopt, 1e-5, 1, 0.7, "standard deviation of step time between ranks"},
       [](const Losses& losses) { return losses.rank_spread; },
       [](Losses& losses, double value) { losses.rank_spread = value; }},
      {{"loss.busy_node", std::nullopt, 1e-5, 2, 0.7,
        "by how much kernels are slower when all GPUs of a node work"},
       [](const Losses& losses) { return losses.busy_node; },
       [](Losses& losses, double value) { losses.busy_node = value; }},
      {{"loss.busy_host", std::nullopt, 1e-5, 2, 0.7,
        "by how much host calls are slower then: cores clock down when many work"},
       [](const Losses& losses) { return losses.busy_host; },
       [](Losses& losses, double value) { losses.busy_host = value; }},
      {{"loss.collective_share", std::nullopt, 0.01, 10, 0.5,
        "what collectives take of a GPU, over the formula's"},
       [](const Losses& losses) { return losses.collective_share; },
       [](Losses& losses, double value) { losses.collective_share = value; }},
  };
  return rows;
}

Losses losses_of(const ClusterSpec& cluster) {
  Losses losses = losses_of(cluster.node.gpu.architecture);
  apply(cluster.calibration, loss_constants(), losses);
  return losses;
}

}  // namespace foretrain
