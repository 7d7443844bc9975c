// The latency of a cell is a base latency plus the steps of the algorithm times the latency of a step on
// NVLink, PCIe or the network (docs/sources/nccl_tuning.md 1.2).
#include <algorithm>
#include <bit>

#include "sim/collective/nccl/tuning.hpp"
#include "sim/collective/nccl/tuning_graph.hpp"
#include "sim/collective/nccl/tuning_tables.hpp"

namespace foretrain::nccl {

namespace {

/// The terms of the formulas below.
struct Terms {
  const JobFacts& job;
  CollectiveOp op;
  Algorithm algorithm;
  Protocol protocol;
  const GraphResult& graph;

  bool since(int minor, int patch = 0) const { return job.version >= Version{2, minor, patch}; }
  bool simple() const { return protocol == Protocol::simple; }
  Hop local_hop() const { return graph.type_intra == PathClass::nvl ? Hop::nvlink : Hop::pcie; }

  /// Returns the latency of a hop in us. On POWER, trees with Simple over PCIe use the row of rings.
  double hop(Hop hop, Algorithm row) const {
    const bool tree_simple_over_pcie = hop == Hop::pcie && row == Algorithm::tree && simple();
    if (job.cpu == CpuVendor::power && tree_simple_over_pcie) row = Algorithm::ring;
    return hop_latency_us(job.version, hop, row, protocol);
  }
  /// Returns the latency of a step inside a node in us.
  float local() const {
    float step = static_cast<float>(hop(local_hop(), algorithm));
    if (job.nodes > 1 && !since(18) && protocol == Protocol::ll) step = static_cast<float>(step * 1.8);
    return step;
  }
  /// Returns the latency of a step between nodes in us.
  float remote() const {
    const bool rows_of_tree = since(23) && job.ranks_per_node() == 1;
    float step = static_cast<float>(hop(Hop::network, rows_of_tree ? Algorithm::tree : algorithm));
    const float nic = static_cast<float>(graph.nic_latency_us);
    if (since(18)) return step + nic * (simple() ? 2.0F : 1.0F);
    return since(12) && nic > 0 ? nic : step;
  }
};

/// Returns the latency of a ring's step inside a node. Between several nodes it is at least the time of
/// posting.
float ring_local_step(const Terms& t) {
  if (t.job.nodes == 1 || !t.since(18)) return t.local();
  const float post = (t.job.cpu == CpuVendor::amd ? 2.0F : 1.0F) * (t.simple() ? 3.0F : 1.0F);
  return std::max(t.local(), post);
}

/// Returns how many of the ring's steps go over the network.
int ring_network_steps(const Terms& t) {
  const int nodes = t.job.nodes;
  if (nodes == 1) return 0;
  if (t.op != CollectiveOp::all_reduce) return nodes - 1;
  return t.since(12) && !t.since(23) ? 2 * nodes : 2 * (nodes - 1);
}

/// Returns the latency of a broadcast or reduce. NCCL assumes one step if all channels have the same order of
/// GPUs.
float rooted_ring(const Terms& t) {
  const Hop hop = t.job.nodes > 1 ? Hop::network : t.local_hop();
  if (t.graph.same_channels) return static_cast<float>(t.hop(hop, Algorithm::ring));
  const float step = static_cast<float>(t.hop(hop, t.simple() ? Algorithm::tree : Algorithm::ring));
  return static_cast<float>(t.job.ranks) * step;
}

/// Returns the latency of a ring without its base.
float ring(const Terms& t) {
  if (t.op == CollectiveOp::broadcast || t.op == CollectiveOp::reduce) return rooted_ring(t);
  const int steps = (t.op == CollectiveOp::all_reduce ? 2 : 1) * (t.job.ranks - 1);
  if (!t.since(7))
    return static_cast<float>(steps) *
           static_cast<float>(t.hop(t.job.nodes > 1 ? Hop::network : t.local_hop(), t.algorithm));
  const int remote = ring_network_steps(t);
  return static_cast<float>(steps - remote) * ring_local_step(t) + static_cast<float>(remote) * t.remote();
}

/// Returns the latency of a tree without its base: up and down the chain of a node and the tree of nodes.
float tree(const Terms& t) {
  return 2.0F * (static_cast<float>(t.job.ranks_per_node() - 1) * t.local() +
                 static_cast<float>(floor_log2(t.job.nodes)) * t.remote());
}

/// Returns the latency of CollNetDirect without its base.
float collnet_direct(const Terms& t) {
  const int others = t.job.ranks_per_node() - 1;
  if (!t.since(10)) return 2.0F * static_cast<float>(others) * t.local() + t.remote();
  const float per_peer = t.since(19) ? 0.4F : 0.5F;
  return 2.0F *
             (static_cast<float>(std::min(1, others)) * t.local() + static_cast<float>(others) * per_peer) +
         t.remote();
}

/// Returns the latency of CollNetChain without its base.
float collnet_chain(const Terms& t) {
  const float inside = 2.0F * static_cast<float>(t.job.ranks_per_node() - 1) * t.local();
  return t.since(18) ? inside + t.remote() : inside;
}

/// Returns the latency of NVLS without its base.
float nvls(const Terms& t) {
  const float inside = t.since(19) ? t.local() : 0.0F;
  return t.since(18) && t.job.nodes > 1 ? inside + t.remote() : inside;
}

/// Returns the latency of NVLSTree without its base.
float nvls_tree(const Terms& t) {
  if (!t.since(19)) return 2.0F * static_cast<float>(t.job.nodes - 1) * t.remote();
  return t.local() + 2.0F * static_cast<float>(floor_log2(t.job.nodes)) * t.remote();
}

/// Returns the latency of PAT without its base.
float pat(const Terms& t) {
  return static_cast<float>(static_cast<float>(floor_log2(t.job.nodes)) * (t.remote() / 3.5) +
                            t.job.ranks * 2.8);
}

}  // namespace

float latency_us(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol) {
  static constexpr std::array kSteps{tree, ring, collnet_direct, collnet_chain, nvls, nvls_tree, pat};
  const Terms terms{input.job, op, algorithm, protocol, graph_of(input, algorithm)};
  const float base = static_cast<float>(base_latency_us(input.job.version, algorithm, protocol));
  return base + kSteps[static_cast<std::size_t>(algorithm)](terms);
}

}  // namespace foretrain::nccl
