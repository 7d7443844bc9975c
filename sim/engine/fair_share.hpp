// Chunk level with links that all messages on their way share max-min.
#pragma once

#include <span>

#include "sim/engine/chunk_progress.hpp"

namespace foretrain {

/// Plays the graph to its end. Requires that every link of a route that carries bytes has a bandwidth.
void fair_share(const TransferGraph& graph, std::span<const ByteRate> capacities, bool run_ahead,
                ChunkProgress& progress);

}  // namespace foretrain
