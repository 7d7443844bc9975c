// The ways in which TensorFlow sums a tensor over the GPUs: NCCL, copies between them, its own ring over
// gRPC.
#pragma once

#include "sim/collective/transports/transport.hpp"
#include "sim/strategy/replicas/gradient_exchange.hpp"

namespace foretrain {

/// NCCL over all GPUs of the job. A thread of its own launches the kernels of the process's `gpus` GPUs, as
/// one group, on NCCL's streams.
SumOverReplicas sum_by_nccl(Process& process, const ReplicaThreads& threads);

/// HierarchicalCopyAllReduce, made for the DGX-1: two halves; each sums on its main GPU, the two mains
/// exchange, then copies back to all. The mains move on from message to message. Requires at least two GPUs
/// on one node.
SumOverReplicas sum_by_hierarchical_copy(Process& process, const ReplicaThreads& threads);

/// ReductionToOneDevice: every GPU copies to GPU 0, which adds and copies the sum back to each; `mains` > 1:
/// message after message on the first so many GPUs in turn (tf_cnn_benchmarks, variable_update = replicated).
/// Requires as above.
SumOverReplicas sum_by_copies(Process& process, const ReplicaThreads& threads, int mains);

/// CollectiveAllReduce with implementation RING: down to host memory, TensorFlow's ring over gRPC between all
/// GPUs, up again.
SumOverReplicas sum_by_grpc_ring(Process& process, const ReplicaThreads& threads);

/// What that ring costs: the figures of topologies/transports/grpc.toml, whose comments have the sources.
Transport grpc_transport(const CallCosts& calls = {});

}  // namespace foretrain
