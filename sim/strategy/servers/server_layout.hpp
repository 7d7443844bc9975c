// Placement of tensors, or parts of them, on parameter servers and on the GPUs of a node.
#pragma once

#include <cstdint>
#include <vector>

#include "sim/strategy/strategy.hpp"
#include "sim/workload/lowering/operators.hpp"

namespace foretrain {

/// Returns the stated number of servers, else one for every node.
int server_count(const PlanRequest& request);

/// Number that stands for all servers, for a tensor that is cut evenly over them.
inline constexpr int kEveryServer = -1;

/// A tensor, or a part of one, on one server (or kEveryServer). It is sent as a message of its own.
struct Shard {
  /// Index into ExpandedModel::parameters.
  std::uint32_t parameter = 0;
  int server = 0;
  std::int64_t elements = 0;
  friend bool operator==(const Shard&, const Shard&) = default;
};

/// Returns TensorFlow's layout: whole variables, in turn over the servers. round_robin is the default of
/// tf.compat.v1.train.replica_device_setter, and tf.distribute partitions variables only on request. Requires
/// servers >= 1.
std::vector<Shard> shards_in_turn(const ExpandedModel& model, int servers);

/// Returns MXNet's layout (src/kvstore/kvstore_dist.h). Tensors of at least 1,000,000 elements
/// (MXNET_KVSTORE_BIGARRAY_BOUND) are cut evenly over all servers. Of the others, tensor k is on server 9973
/// k mod servers. Requires servers >= 1.
std::vector<Shard> shards_by_size(const ExpandedModel& model, int servers);

/// Returns BytePS's layout: gradients in the order of backward, in parts of at most `most` elements. The
/// server of part k of the n-th tensor by name is the DJB2 hash of the digits of n * 65536 + k
/// (byteps/common/global.cc, byteps/torch/__init__.py). Requires servers >= 1 and most >= 1.
std::vector<Shard> shards_of_gradients(const ExpandedModel& model, std::int64_t most, int servers);

/// Returns the number of elements on every server.
std::vector<double> elements_of_servers(const std::vector<Shard>& shards, int servers);

/// Order in which tensors choose their GPU: that of the model (tf_cnn_benchmarks, ParamServerDeviceSetter),
/// or the largest first (MXNet, src/kvstore/comm.h).
enum class TensorOrder : std::uint8_t { of_model, largest_first };
/// Returns for each parameter the GPU of a node that sums it: always the one with fewest elements so far, and
/// the lowest of equals.
std::vector<int> tensors_over_gpus(const ExpandedModel& model, int gpus, TensorOrder order);

}  // namespace foretrain
