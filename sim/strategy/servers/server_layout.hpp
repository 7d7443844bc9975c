// Which tensors, or parts of them, live on which parameter server, and on which GPU of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/strategy.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// As many as asked for, else one on every node.
int server_count(const PlanRequest& request);

/// A tensor cut evenly over all servers.
inline constexpr int kEveryServer = -1;

/// A tensor, or a part of one, on one server (or kEveryServer): what travels by itself.
struct Shard {
  std::uint32_t parameter = 0;  ///< index into ExpandedModel::parameters
  int server = 0;
  std::int64_t elements = 0;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// TensorFlow: whole variables, in turn over the servers (round_robin is the default of
/// tf.compat.v1.train.replica_device_setter, and tf.distribute partitions nothing unless told to). Requires
/// servers >= 1.
std::vector<Shard> shards_in_turn(const ExpandedModel& model, int servers);

/// MXNet (src/kvstore/kvstore_dist.h): tensors of at least 1,000,000 elements (MXNET_KVSTORE_BIGARRAY_BOUND)
/// are cut evenly over all servers, tensor k of the others is on server 9973 k mod servers.
std::vector<Shard> shards_by_size(const ExpandedModel& model, int servers);

/// BytePS: gradients in the order of backward, in parts of at most `most` elements. The server of part k of
/// the n-th tensor by name is the DJB2 hash of the digits of n * 65536 + k (byteps/common/global.cc,
/// byteps/torch/__init__.py).
std::vector<Shard> shards_of_gradients(const ExpandedModel& model, std::int64_t most, int servers);

/// Elements on every server.
std::vector<double> elements_of_servers(const std::vector<Shard>& shards, int servers);

/// Per parameter: the GPU of a node that sums it, always the one with fewest elements so far; the lowest of
/// equals. Tensors come in the order of the model (tf_cnn_benchmarks, ParamServerDeviceSetter) or the largest
/// first (MXNet, src/kvstore/comm.h).
enum class TensorOrder : std::uint8_t { of_model, largest_first };
std::vector<int> tensors_over_gpus(const ExpandedModel& model, int gpus, TensorOrder order);

}  // namespace foretrain
