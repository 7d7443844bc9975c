// A matrix product with trained weights over the last dimension, as layers of several kinds record it.
#pragma once

#include <string_view>

#include "sim/workload/tape/tape.hpp"

namespace foretrain {

/// `prefix` goes before "weight" and "bias".
struct LinearForm {
  enum class Bias : std::uint8_t { none, fused, apart };  ///< apart: added by an operator of its own
  Bias bias = Bias::fused;
  std::string_view prefix;
  bool is_module = true;  ///< otherwise the weight is a parameter of a larger module: no adapter finds it
};
inline LinearForm::Bias bias_of(bool has_bias) {
  return has_bias ? LinearForm::Bias::fused : LinearForm::Bias::none;
}

/// Requires a sequence or features, and products within kMostElements.
TensorId record_linear(Tape& tape, TensorId input, std::int64_t out, const LinearForm& form);

}  // namespace foretrain
