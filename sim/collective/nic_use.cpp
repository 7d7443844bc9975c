// The rules of ncclTopoGetNetDev, ncclTopoGetIntermediateRank and ncclTopoCheckGdr (NVIDIA/nccl, src/graph).
#include "sim/collective/nic_use.hpp"

#include <algorithm>

#include "sim/cluster/path_class.hpp"

namespace foretrain {

namespace {

/// The first version with relays (PXN).
constexpr nccl::Version kRelays{2, 12, 0};
/// The first version in which the NIC reads out of any Ampere GPU. Earlier ones require NVLink between GPUs
/// of any generation.
constexpr nccl::Version kReadsOfAmpere{2, 22, 0};
constexpr double kAmpere = 8.0;  ///< compute capability

}  // namespace

NicUse::NicUse(const Cluster& cluster, const nccl::Job& job) : cluster_(cluster), job_(job) {
  const nccl::Settings& settings = job.settings;
  // Ports of an NVLink domain are described as NICs. Ranks that do not know of each other relay nothing.
  relaying_ = settings.version >= kRelays && settings.pxn && settings.isolation == nccl::Isolation::none &&
              cluster.spec().fabric.nvlink_domain <= 1;
  if (cluster.spec().fabric.nvlink_domain > 1) {
    tables_.push_back(table_of_host());
    shape_of_node_.assign(static_cast<std::size_t>(cluster.nodes()), 0);
    return;
  }
  shape_of_node_.assign(static_cast<std::size_t>(cluster.nodes()), -1);
  tables_.resize(job.shapes.size());
  if (job.nodes.size() < 2) return;
  for (const nccl::JobNode& node : job.nodes) {
    shape_of_node_[static_cast<std::size_t>(node.node)] = node.shape;
    Table& table = tables_[static_cast<std::size_t>(node.shape)];
    if (!table.own.empty()) continue;
    table = table_of(job.shape_of(node), node.node);
    relays_ = relays_ || has_relay(job.shape_of(node), node.node);
  }
}

/// Returns a table in which every GPU uses its nearest NIC, which reads out of it.
NicUse::Table NicUse::table_of_host() const {
  Table table;
  const NodeSpec& spec = cluster_.node_spec(0);
  for (int gpu = 0; gpu < spec.gpus; ++gpu) table.own.push_back(std::max(0, nearest_nic(cluster_, gpu, 0)));
  table.read_directly.assign(static_cast<std::size_t>(spec.gpus), true);
  table.holder.assign(static_cast<std::size_t>(spec.nics), -1);
  return table;
}

/// Returns the place on a host; the GPUs of a domain are numbered on through its hosts.
GpuPlace NicUse::on_host(GpuPlace gpu) const {
  const int gpus = cluster_.node_spec(gpu.node).gpus;
  return {gpu.node + gpu.gpu / gpus, gpu.gpu % gpus};
}

/// Evaluates the rules for a node of the shape.
NicUse::Table NicUse::table_of(const nccl::NodeShape& shape, int node) const {
  Table table;
  const NodeSpec& spec = cluster_.node_spec(node);
  table.own.assign(static_cast<std::size_t>(spec.gpus), -1);
  table.read_directly.assign(static_cast<std::size_t>(spec.gpus), true);
  for (const int gpu : shape.gpus) {
    table.own[static_cast<std::size_t>(gpu)] = std::max(0, nearest_nic(cluster_, gpu, node));
    table.read_directly[static_cast<std::size_t>(gpu)] = reads_directly(shape, node, gpu);
  }
  for (int nic = 0; nic < spec.nics; ++nic)
    table.holder.push_back(relaying_ ? holder_of(shape, table.own, node, nic) : -1);
  return table;
}

/// Returns the nearest of the GPUs that use the NIC, if no CPU is between them; else -1.
int NicUse::holder_of(const nccl::NodeShape& shape, const std::vector<int>& own, int node, int nic) const {
  int holder = -1;
  const auto distance = [&](int gpu) {
    return host_path_class(cluster_, cluster_.gpu(node, gpu), cluster_.nic(node, nic));
  };
  for (const int gpu : shape.gpus) {
    if (own[static_cast<std::size_t>(gpu)] != nic || distance(gpu) > PathClass::pxb) continue;
    if (holder < 0 || distance(gpu) < distance(holder)) holder = gpu;
  }
  return holder;
}

/// Returns whether the NIC reads out of the GPU's memory.
bool NicUse::reads_directly(const nccl::NodeShape& shape, int node, int gpu) const {
  const bool any_gpu =
      job_.settings.version >= kReadsOfAmpere && cluster_.node_spec(node).gpu.compute_capability >= kAmpere;
  if (any_gpu || shape.gpus.size() == 1) return true;
  return std::ranges::any_of(shape.gpus, [&](int peer) { return peer != gpu && joined(node, gpu, peer); });
}

/// Returns whether some GPU of the shape can relay for another one.
bool NicUse::has_relay(const nccl::NodeShape& shape, int node) const {
  return std::ranges::any_of(at(node).holder, [&](int holder) {
    return holder >= 0 && std::ranges::any_of(shape.gpus, [&](int gpu) {
             return gpu != holder && joined(node, gpu, holder);
           });
  });
}

/// Returns whether two GPUs of a node are joined by NVLink.
bool NicUse::joined(int node, int a, int b) const {
  return cluster_.route_in_node(cluster_.gpu(node, a), cluster_.gpu(node, b)).nvlink_only;
}

/// Returns whether no CPU is between the GPU and the NIC.
bool NicUse::beside(int node, int gpu, int nic) const {
  return host_path_class(cluster_, cluster_.gpu(node, gpu), cluster_.nic(node, nic)) <= PathClass::pxb;
}

const NicUse::Table& NicUse::at(int node) const {
  return tables_[static_cast<std::size_t>(shape_of_node_[static_cast<std::size_t>(node)])];
}

/// Several ranks of one machine may each be a node of their own; then the table has only one of them, and the
/// NIC is found directly.
int NicUse::own_nic(GpuPlace place) const {
  const GpuPlace gpu = on_host(place);
  const int own = at(gpu.node).own[static_cast<std::size_t>(gpu.gpu)];
  return own >= 0 ? own : std::max(0, nearest_nic(cluster_, gpu.gpu, gpu.node));
}

/// Returns the exit over a holder, or directly from the GPU if `holder` is -1.
NodeExit NicUse::exit_by(const Table& table, GpuPlace from, int holder) const {
  return {holder == from.gpu ? -1 : holder,
          !table.read_directly[static_cast<std::size_t>(holder < 0 ? from.gpu : holder)]};
}

/// Uses a relay if it is nearer to the NIC than the GPU, or has the wider path to it.
NodeExit NicUse::of_channel(GpuPlace place, int nic) const {
  const GpuPlace from = on_host(place);
  const Table& table = at(from.node);
  const int holder =
      nic < static_cast<int>(table.holder.size()) ? table.holder[static_cast<std::size_t>(nic)] : -1;
  if (holder < 0 || holder == from.gpu || !joined(from.node, from.gpu, holder))
    return exit_by(table, from, -1);
  const VertexId port = cluster_.nic(from.node, nic);
  const auto rate = [&](int gpu) {
    return cluster_.route_in_node(cluster_.gpu(from.node, gpu), port).bandwidth;
  };
  const bool alike = beside(from.node, from.gpu, nic) && rate(holder) <= rate(from.gpu);
  return exit_by(table, from, alike ? -1 : holder);
}

NicUse::Send NicUse::of_send(GpuPlace place, int peer_gpu) const {
  const GpuPlace from = on_host(place);
  const Table& table = at(from.node);
  const int preferred =
      peer_gpu < static_cast<int>(table.own.size()) ? table.own[static_cast<std::size_t>(peer_gpu)] : -1;
  if (preferred >= 0 && relaying_) {
    const int holder = table.holder[static_cast<std::size_t>(preferred)];
    if (holder == from.gpu || (holder >= 0 && joined(from.node, from.gpu, holder)))
      return {preferred, exit_by(table, from, holder)};
  }
  // NCCL_CROSS_NIC=0 keeps the message on the rail even without a relay.
  const bool bound =
      preferred >= 0 && job_.settings.version >= kRelays && job_.settings.cross_nic == nccl::CrossNic::never;
  return {bound ? preferred : own_nic(from), exit_by(table, from, -1)};
}

}  // namespace foretrain
