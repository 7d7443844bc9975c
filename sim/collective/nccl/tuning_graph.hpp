// The graph on which an algorithm of NCCL runs.
#pragma once

#include "sim/collective/nccl/tuning.hpp"

namespace foretrain::nccl {

/// Returns the graph of an algorithm. PAT has no search of its own and uses the tree's graph.
inline const GraphResult& graph_of(const TuningInput& input, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return input.ring;
    case Algorithm::collnet_direct:
      return input.collnet_direct;
    case Algorithm::collnet_chain:
      return input.collnet_chain;
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return input.nvls;
    case Algorithm::tree:
    case Algorithm::pat:
      break;
  }
  return input.tree;
}

}  // namespace foretrain::nccl
