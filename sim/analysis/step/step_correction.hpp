// The correction of predicted steps by measured runs that resemble the training: a factor for all numbers of
// GPUs, one for each doubling, and further ones for single measured numbers.
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

/// Logarithms of factors on the step; 0 leaves it as simulated. One curve has one correction, so steps keep
/// their simulated order in everything but the number of GPUs. They keep it in that, too, while
/// `per_doubling` is not negative and no number was measured.
struct StepCorrection {
  /// Logarithm of the factor on one GPU, which applies to all numbers.
  double one_gpu = 0;
  /// Logarithm of the factor for each doubling of GPUs.
  double per_doubling = 0;
  /// Measured numbers of GPUs above 1, ascending. The further factor is interpolated linearly over the
  /// logarithm of the number, from 0 on one GPU; beyond the last number it stays constant.
  std::vector<MeasuredNumber> measured{};

  /// Returns the factor on the simulated step; exactly 1 without a correction.
  double factor(int gpus) const {
    if (one_gpu == 0 && per_doubling == 0 && measured.empty()) return 1;
    return std::exp(one_gpu + per_doubling * std::log2(gpus) + beyond(gpus));
  }
  friend bool operator==(const StepCorrection&, const StepCorrection&) = default;

 private:
  /// Returns the interpolated logarithm of the further factor.
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
