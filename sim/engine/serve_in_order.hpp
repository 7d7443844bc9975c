// Chunk level with links that serve first come, first served.
#pragma once

#include <span>

#include "sim/engine/chunk_progress.hpp"

namespace foretrain {

/// Plays the graph to its end. Requires that every link of a route that carries bytes has a bandwidth.
void serve_in_order(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                    ChunkProgress& progress);

}  // namespace foretrain
