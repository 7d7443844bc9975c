// Fills the table of forecasts cell by cell. Pairs that NCCL does not consider stay zero. Pairs that it
// cannot run have a latency but no bandwidth.
#include "sim/collective/nccl/tuning.hpp"

#include <cassert>

namespace foretrain::nccl {

namespace {

/// Returns the place of an operation in NCCL's order; -1: not tuned.
int place_of(CollectiveOp op) {
  switch (op) {
    case CollectiveOp::broadcast:
      return 0;
    case CollectiveOp::reduce:
      return 1;
    case CollectiveOp::all_gather:
      return 2;
    case CollectiveOp::reduce_scatter:
      return 3;
    case CollectiveOp::all_reduce:
      return 4;
    default:
      return -1;
  }
}

constexpr std::array kTunedOps{CollectiveOp::broadcast, CollectiveOp::reduce, CollectiveOp::all_gather,
                               CollectiveOp::reduce_scatter, CollectiveOp::all_reduce};

/// Returns whether NCCL considers the algorithm for all_gather and reduce_scatter.
bool considered_for_gather_or_scatter(const JobFacts& job, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::ring:
      return true;
    case Algorithm::collnet_direct:
      return job.version >= Version{2, 20, 0};
    case Algorithm::nvls:
      return job.version >= Version{2, 18, 0};
    case Algorithm::pat:
      return job.version >= Version{2, 23, 0} && job.ranks_per_node() == 1;
    default:
      return false;
  }
}

/// Returns whether the version has the algorithm.
bool exists_in(const Version& version, Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::tree:
    case Algorithm::ring:
      return true;
    case Algorithm::collnet_direct:
      return version >= Version{2, 7, 0};
    case Algorithm::collnet_chain:
      return version >= Version{2, 14, 0};
    case Algorithm::nvls:
      return version >= Version{2, 17, 0};
    case Algorithm::nvls_tree:
      return version >= Version{2, 18, 0};
    case Algorithm::pat:
      return version >= Version{2, 23, 0};
  }
  return false;
}

}  // namespace

std::size_t TuningTable::index(CollectiveOp op, Algorithm algorithm, Protocol protocol) {
  assert(is_tuned(op));
  return (static_cast<std::size_t>(place_of(op)) * 7 + static_cast<std::size_t>(algorithm)) * 3 +
         static_cast<std::size_t>(protocol);
}

bool is_tuned(CollectiveOp op) { return place_of(op) >= 0; }

bool is_considered(const JobFacts& job, CollectiveOp op, Algorithm algorithm, Protocol protocol) {
  if (!is_tuned(op) || !exists_in(job.version, algorithm)) return false;
  const bool simple_only =
      algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree || algorithm == Algorithm::pat;
  if (simple_only && protocol != Protocol::simple) return false;
  if (op == CollectiveOp::broadcast || op == CollectiveOp::reduce) return algorithm == Algorithm::ring;
  if (op == CollectiveOp::all_reduce) return algorithm != Algorithm::pat;
  return considered_for_gather_or_scatter(job, algorithm);
}

TuningTable tuning_table(const TuningInput& input) {
  TuningTable table;
  table.job = input.job;
  if (input.job.ranks <= 1) return table;
  for (const CollectiveOp op : kTunedOps) {
    for (const Algorithm algorithm : kAlgorithms) {
      for (const Protocol protocol : kProtocols) {
        if (!is_considered(input.job, op, algorithm, protocol)) continue;
        table.at(op, algorithm, protocol) = {latency_us(input, op, algorithm, protocol),
                                             algorithm_bandwidth(input, op, algorithm, protocol)};
      }
    }
  }
  return table;
}

}  // namespace foretrain::nccl
