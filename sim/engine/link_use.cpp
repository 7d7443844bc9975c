// The links that connections share, and the time of a message on one link.
#include <algorithm>
#include <cmath>

#include "sim/engine/chunk_progress.hpp"

namespace foretrain {

std::vector<bool> shared_links(const TransferGraph& graph, std::size_t links) {
  std::vector<bool> used(links), shared(links);
  for (std::uint32_t c = 0; c < graph.connections.size(); ++c) {
    if (graph.connections[c].transfers == 0 || !(graph.connections[c].bytes > 0)) continue;
    for (const LinkId link : graph.route(c)) {
      // The second connection, or the second crossing by the same one, makes a link shared.
      shared[link] = shared[link] || used[link];
      used[link] = true;
    }
  }
  return shared;
}

Time time_on_link(double bytes, ByteRate rate) {
  if (!(bytes > 0)) return {};
  const double picoseconds = std::ceil(bytes / rate.per_second * 1e12);
  // The comparison is also false for NaN and infinity, which a rate of 0 gives.
  if (!(picoseconds >= 0 && picoseconds < static_cast<double>(kLongestTime.count()))) return kLongestTime;
  return Time{static_cast<std::int64_t>(picoseconds)};
}

}  // namespace foretrain
