// The same network, wider or narrower.
#pragma once

#include <string>

#include "sim/workload/layers/layer.hpp"

namespace foretrain {

/// Why the network has no wider sister: the first layer whose sizes are numbers of the script rather than
/// widths. Empty: it has.
std::string why_not_widened(const Model& model);

/// Channels, features and hidden sizes times `factor`, rounded so that heads and groups still divide them;
/// the input and what the losses compare (classes, words, regressed values) stay. Heads, groups and depth
/// stay as many; depthwise convolutions stay depthwise. Products between two inner layers grow with the
/// square of the factor, docs/models/break_even.md. Requires why_not_widened() to be empty and factor > 0.
/// expand() tells whether the result is a network: an addition to the input itself, say, no longer fits.
Model widened(const Model& model, double factor);

}  // namespace foretrain
