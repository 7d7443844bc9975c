// Entry of the chunk level: checks what cannot be run, then lets one of two link models play the graph.
//
// At chunk level every transfer of a chunk over a connection is an event. Links either serve transfers in
// order of arrival, or share their rate fairly among the transfers in progress. The first model is faster and
// is the default. Memory grows with connections, not with transfers, because a connection repeats the same
// transfer.
#include "sim/engine/chunk_simulator.hpp"

#include <cassert>

#include <fmt/format.h>

#include "sim/engine/chunk_progress.hpp"

namespace foretrain {

namespace {

/// Returns why the graph cannot be run, or an empty string.
std::string find_problem(const TransferGraph& graph, std::span<const ByteRate> capacities,
                         const ChunkOptions& options) {
  if (const std::uint64_t transfers = graph.transfers(); transfers > options.most_transfers) {
    return fmt::format("{} transfers are more than the {} a run may have", transfers, options.most_transfers);
  }
  for (std::uint32_t c = 0; c < graph.connections.size(); ++c) {
    const Connection& connection = graph.connections[c];
    if (connection.transfers == 0 || !(connection.bytes > 0)) continue;
    for (const LinkId link : graph.route(c)) {
      if (capacities[link].per_second > 0) continue;
      return fmt::format("rank {} cannot send to rank {}: link {} has no bandwidth", connection.from,
                         connection.to, link);
    }
  }
  return {};
}

}  // namespace

ChunkResult simulate_chunks(const TransferGraph& graph, std::span<const ByteRate> capacities,
                            const ChunkOptions& options) {
  assert(options.start.empty() || options.start.size() == static_cast<std::size_t>(graph.ranks));
  ChunkProgress progress(graph, options.start);
  std::string problem = find_problem(graph, capacities, options);
  // The refused result holds the start times, so that callers can read `finish` in any case.
  if (!problem.empty()) {
    ChunkResult refused = progress.result();
    refused.problem = std::move(problem);
    return refused;
  }
  if (options.sharing == LinkSharing::serve_in_order)
    serve_in_order(graph, capacities, options.run_ahead, progress);
  else
    fair_share(graph, capacities, options.run_ahead, progress);
  return progress.result();
}

}  // namespace foretrain
