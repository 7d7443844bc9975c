// What measured runs like a training say about its predicted steps: a factor for all numbers of GPUs, and one
// for each doubling of them.
#pragma once

#include <cmath>

namespace foretrain {

/// Logarithms; 0: as simulated. One curve has one correction, so steps stay in the order that the simulation
/// gives them in everything but the number of GPUs, and in that, too, while `per_doubling` is not negative.
struct StepCorrection {
  double one_gpu = 0;
  double per_doubling = 0;
  double factor(int gpus) const {
    return one_gpu == 0 && per_doubling == 0 ? 1 : std::exp(one_gpu + per_doubling * std::log2(gpus));
  }
  friend bool operator==(const StepCorrection&, const StepCorrection&) = default;
};

}  // namespace foretrain
