// The differences of two clusters in words.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// Returns a line for each difference, "subject: of a | of b". Devices with equal differences share a line.
/// The subjects that are alike follow. Devices are compared by their numbers. Precondition: check() found
/// nothing in either cluster.
std::string difference_in_words(const ClusterSpec& a, const ClusterSpec& b);

}  // namespace foretrain
