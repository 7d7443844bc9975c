// Implementations of TensorFlow's sum of a tensor over GPUs: NCCL, copies between GPUs, and its own ring over
// gRPC. The returned functions refer to the process, which must outlive them.
#pragma once

#include "sim/collective/transports/transport.hpp"
#include "sim/strategy/replicas/gradient_exchange.hpp"

namespace foretrain {

/// Sums by NCCL over all GPUs of the job. A thread of its own launches the kernels of the process's `gpus`
/// GPUs, as one group, on NCCL's streams.
SumOverReplicas sum_by_nccl(Process& process, const ReplicaThreads& threads);

/// Sums by HierarchicalCopyAllReduce, which was made for the DGX-1. The GPUs form two halves; each sums on
/// its main GPU, the two mains exchange, and then copy the result to all. The mains change from message to
/// message. Requires at least two GPUs on one node.
SumOverReplicas sum_by_hierarchical_copy(Process& process, const ReplicaThreads& threads);

/// Sums by ReductionToOneDevice: every GPU copies to GPU 0, which adds and copies the sum back to each. With
/// `mains` > 1 messages are summed on the first `mains` GPUs in turn (tf_cnn_benchmarks, variable_update =
/// replicated). Requires at least two GPUs on one node.
SumOverReplicas sum_by_copies(Process& process, const ReplicaThreads& threads, int mains);

/// Sums by CollectiveAllReduce with implementation RING: down to host memory, TensorFlow's ring over gRPC
/// between all GPUs, and up again.
SumOverReplicas sum_by_grpc_ring(Process& process, const ReplicaThreads& threads);

/// Returns the costs of that ring: the figures of topologies/transports/grpc.toml, whose comments have the
/// sources.
Transport grpc_transport(const CallCosts& calls = {});

}  // namespace foretrain
