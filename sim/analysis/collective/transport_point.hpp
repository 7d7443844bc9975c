// One collective over a transport that is not NCCL: gloo, MPI, gRPC between processes on the hosts, or links
// alone.
#pragma once

#include "sim/analysis/collective/collective_curve.hpp"
#include "sim/collective/transport_run.hpp"

namespace foretrain {

/// `bottleneck` is left to the caller. An operation that the library has not got has channels = 0 and says
/// why.
CollectivePoint transport_point(const Transport& transport, Bytes size, const TransportRun& run);

}  // namespace foretrain
