// Which links of a transfer graph are shared, and how long a message takes on one.
#pragma once

#include <vector>

#include "sim/engine/transfer_graph.hpp"

namespace foretrain {

/// Per link: it comes more than once in the routes of connections that carry anything.
std::vector<bool> shared_links(const TransferGraph& graph, std::size_t links);

/// bytes / rate, rounded up to a picosecond as in flow mode; kLongestTime when the link has no bandwidth.
Time time_on_link(double bytes, ByteRate rate);

}  // namespace foretrain
