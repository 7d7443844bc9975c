// Two clusters side by side, in words.
#pragma once

#include <string>

#include "sim/cluster/hardware.hpp"

namespace foretrain {

/// A line for each thing that differs, "what: of a | of b", with equal differences of many devices as one;
/// then what is alike. Devices are compared by their numbers. Requires that check() found nothing in either.
std::string difference_in_words(const ClusterSpec& a, const ClusterSpec& b);

}  // namespace foretrain
