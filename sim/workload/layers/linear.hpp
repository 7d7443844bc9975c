// The recorder of a matrix product with trained weights over the last dimension, for layers of several kinds.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// The form of a product. `prefix` is put before "weight" and "bias".
struct LinearForm {
  enum class Bias : std::uint8_t { none, fused, apart };  ///< apart: added by an operator of its own
  Bias bias = Bias::fused;
  std::string_view prefix;
  /// Otherwise the weight is a parameter of a larger module, and no adapter applies to it.
  bool is_module = true;
};
/// Returns `fused` where there is a bias.
inline LinearForm::Bias bias_of(bool has_bias) {
  return has_bias ? LinearForm::Bias::fused : LinearForm::Bias::none;
}

/// Records x W + b on the tape, with its adapter where fine-tuning has one, and returns the result. Requires
/// a sequence or features, and products within kMostElements.
TensorId record_linear(Tape& tape, TensorId input, std::int64_t out, const LinearForm& form);

}  // namespace foretrain
