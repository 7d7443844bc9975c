// What measured runs like a training say about its predicted steps: a factor for all numbers of GPUs, one for
// each doubling of them, and what single numbers were measured to need besides.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

namespace foretrain {

/// The logarithm of a further factor on one number of GPUs.
struct MeasuredNumber {
  int gpus = 1;
  double log_factor = 0;
  friend bool operator==(const MeasuredNumber&, const MeasuredNumber&) = default;
};

/// Logarithms; 0: as simulated. One curve has one correction, so steps stay in the order that the simulation
/// gives them in everything but the number of GPUs, and in that, too, while `per_doubling` is not negative
/// and no number was measured.
struct StepCorrection {
  double one_gpu = 0;
  double per_doubling = 0;
  /// Ascending, above 1. Between two of them, and below the first from 0 on one GPU, on straight lines over
  /// the logarithm of the number; beyond the last as on the last.
  std::vector<MeasuredNumber> measured{};

  double factor(int gpus) const {
    if (one_gpu == 0 && per_doubling == 0 && measured.empty()) return 1;
    return std::exp(one_gpu + per_doubling * std::log2(gpus) + beyond(gpus));
  }
  friend bool operator==(const StepCorrection&, const StepCorrection&) = default;

 private:
  double beyond(int gpus) const {
    MeasuredNumber below{};
    for (const MeasuredNumber& here : measured) {
      if (gpus < here.gpus) {
        const double part = std::log2(static_cast<double>(gpus) / below.gpus) /
                            std::log2(static_cast<double>(here.gpus) / below.gpus);
        return below.log_factor + part * (here.log_factor - below.log_factor);
      }
      below = here;
    }
    return below.log_factor;
  }
};

}  // namespace foretrain
