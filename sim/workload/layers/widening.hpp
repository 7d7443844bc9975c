// The same network, wider or narrower.
#pragma once

#include <string>

#include "sim/workload/layers/layer.hpp"

namespace foretrain {

/// Returns the reason why the network cannot be widened: the first layer whose sizes are numbers of the
/// script rather than widths. Returns an empty string when it can.
std::string why_not_widened(const Model& model);

/// Returns the network with channels, features and hidden sizes times `factor`, rounded so that heads and
/// groups still divide them. The input and what the losses compare (classes, words, regressed values) keep
/// their sizes. The numbers of heads, groups and layers stay; depthwise convolutions stay depthwise. Products
/// between two inner layers grow with the square of the factor (docs/models/choices.md). Requires
/// why_not_widened() to be empty and factor > 0. expand() tells whether the result is a network: an addition
/// to the input itself, for example, no longer fits.
Model widened(const Model& model, double factor);

}  // namespace foretrain
