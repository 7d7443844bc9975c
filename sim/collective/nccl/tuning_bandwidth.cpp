// The bandwidth of a cell has three factors: the bandwidth of the graph's channels together, the share that
// algorithm and protocol leave of it, and the bytes on that bus per byte of message
// (docs/sources/nccl_tuning.md 1.1). Values are rounded to float where NCCL does so, so that the printed
// digits agree.
#include <algorithm>

#include "sim/collective/nccl/tuning.hpp"
#include "sim/collective/nccl/tuning_graph.hpp"
#include "sim/collective/nccl/tuning_tables.hpp"

namespace foretrain::nccl {

namespace {

float smaller(double a, double b) { return static_cast<float>(std::min(a, b)); }
float scaled(float value, double factor) { return static_cast<float>(value * factor); }

/// A cell of the table with the facts that its bandwidth depends on.
struct Cell {
  const TuningInput& input;
  CollectiveOp op;
  Algorithm algorithm;
  Protocol protocol;
  const GraphResult& graph;

  const JobFacts& job() const { return input.job; }
  bool since(int minor, int patch = 0) const { return job().version >= Version{2, minor, patch}; }
  bool before(int minor, int patch = 0) const { return !since(minor, patch); }
  bool is_gather_or_scatter() const {
    return op == CollectiveOp::all_gather || op == CollectiveOp::reduce_scatter;
  }
  bool is_nvls() const { return algorithm == Algorithm::nvls || algorithm == Algorithm::nvls_tree; }
  bool is_collnet() const {
    return algorithm == Algorithm::collnet_direct || algorithm == Algorithm::collnet_chain;
  }
  GpuClass gpu() const { return gpu_class(job().version, job().min_compute_capability); }
  double local_ranks() const { return job().ranks_per_node(); }
  /// Returns the steps of a ring by which NCCL divides.
  int ring_steps() const {
    if (op == CollectiveOp::all_reduce) return 2 * (job().ranks - 1);
    return is_gather_or_scatter() ? job().ranks - 1 : job().ranks;
  }
};

/// Returns the speed of an NVLS channel in 2.28 and later. One channel's worth is lost to the head, and the
/// switch reaches only a share of the rate.
double nvls_channel_since_228(const Cell& c) {
  if (c.graph.channels < 2) return 0;
  const double reached = c.gpu() == GpuClass::blackwell ? 0.74 : 0.85;
  const double work = c.op == CollectiveOp::all_reduce ? 2 : (c.local_ranks() - 1) / c.local_ranks();
  const double intra = c.graph.bw_intra * reached * (c.graph.channels - 1) / c.graph.channels * work;
  const bool doubled = c.job().nodes <= 2 && c.algorithm == Algorithm::nvls_tree;
  const double inter = c.job().nodes == 1 ? intra : c.graph.bw_inter * (doubled ? 2 : 1);
  const double channel = std::min(intra, inter);
  if (c.algorithm == Algorithm::nvls) return channel;
  return std::min(channel, nvls_tree_channel_cap(c.job().version, c.gpu(), c.job().nodes));
}

/// Returns the speed of an NVLS channel in 2.19 to 2.27.
double nvls_channel(const Cell& c) {
  const double intra = c.graph.bw_intra, inter = c.graph.bw_inter;
  if (c.since(27) && c.is_gather_or_scatter()) {
    return std::min(intra * (c.local_ranks() - 1) / c.local_ranks(),
                    c.job().nodes == 1 ? intra : 0.9 * inter);
  }
  if (c.algorithm == Algorithm::nvls) return std::min(intra, inter);
  return std::min(intra, c.job().nodes <= 2 ? inter : inter / 2);
}

/// Returns the speed of one channel in GB/s.
float channel_speed(const Cell& c) {
  if (c.is_nvls() && c.since(28)) return static_cast<float>(nvls_channel_since_228(c));
  if (c.is_nvls() && c.since(19)) return static_cast<float>(nvls_channel(c));
  return static_cast<float>(c.job().nodes <= 2 || c.is_collnet() ? c.graph.bw_intra : c.graph.bw_inter);
}

/// Limits the bus bandwidth of early versions, which assume that NVSwitch is slower than its links.
float within_gpu_limit(const Cell& c, float bus) {
  const bool a100 = c.job().min_compute_capability == 80;
  if (a100 && c.since(7) && c.before(7, 8)) return scaled(bus, .92);
  if (a100 && c.since(7, 8) && c.before(18)) return smaller(bus, 235);
  if (c.job().min_compute_capability == 90 && c.since(17) && c.before(18)) return smaller(bus, 370);
  return bus;
}

/// Returns what a ring leaves of the bus bandwidth with the protocol.
float ring_bus(const Cell& c, float bus) {
  const JobFacts& job = c.job();
  if (c.protocol == Protocol::ll) {
    const bool quarter = job.nodes > 1 || c.op == CollectiveOp::all_reduce || c.op == CollectiveOp::reduce;
    const double share = c.since(21) ? 0.5 : quarter ? 1.0 / 4.0 : 1.0 / 3.0;
    return smaller(ll_cap(job.version, c.gpu(), job.cpu == CpuVendor::amd, job.nodes), bus * share);
  }
  if (c.protocol == Protocol::ll128) {
    const bool one_per_node = job.ranks_per_node() < 2 && c.since(7) && c.before(23);
    return smaller(bus * (one_per_node ? 0.7 : 0.92),
                   ring_ll128_cap(job.version, c.gpu(), c.op, job.nodes, c.graph.channels));
  }
  return bus;
}

/// Returns what a tree leaves of the bus bandwidth with the protocol.
float tree_bus(const Cell& c, float bus) {
  const JobFacts& job = c.job();
  const bool ll128_on_a100 = job.min_compute_capability == 80 && c.protocol == Protocol::ll128;
  bus = smaller(bus * (c.since(8) ? .92 : .9),
                tree_cap(job.version, c.gpu(), job.nodes, c.graph.channels, ll128_on_a100));
  if (c.protocol == Protocol::ll) {
    bus = smaller(bus * 1.0 / 3.8, ll_cap(job.version, c.gpu(), job.cpu == CpuVendor::amd, job.nodes));
  }
  if (c.protocol == Protocol::ll128) {
    bus = smaller(bus * (job.nodes == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                  tree_ll128_cap(job.version, c.gpu(), c.op, job.nodes, c.graph.channels));
  }
  return c.since(18, 3) && c.graph.pattern == Pattern::tree ? scaled(bus, .85) : bus;
}

/// Returns what CollNetDirect leaves of the bus bandwidth. It has the full speed only if every GPU has a NIC
/// of its own.
float collnet_direct_bus(const Cell& c, float bus) {
  if (c.since(20) && c.is_gather_or_scatter()) {
    if (c.since(27))
      return static_cast<float>(c.local_ranks() * std::min(c.graph.bw_intra, 0.9 * c.graph.bw_inter));
    const double w = (c.local_ranks() - 1) / 7;
    return static_cast<float>(c.local_ranks() * c.graph.bw_intra * (w * 0.85 + (1 - w) * 0.95));
  }
  const double shared = c.local_ranks() / c.graph.channels;
  bus = scaled(bus, 1 / (shared - (shared - 1) / 2));
  return c.since(18) && c.job().min_compute_capability >= 90 ? scaled(bus, .85) : bus;
}

/// Returns what CollNet leaves of the bus bandwidth.
float collnet_bus(const Cell& c, float bus) {
  if (c.before(14)) {
    if (c.protocol == Protocol::ll128) return 0;
    bus = scaled(bus, .9);
    return c.protocol == Protocol::ll ? scaled(bus, 1.0 / 6.0) : bus;
  }
  if (c.protocol != Protocol::simple) return 0;
  if (c.algorithm == Algorithm::collnet_direct) return collnet_direct_bus(c, bus);
  return c.before(18) ? scaled(bus, .75) : bus;
}

/// Returns what the algorithm leaves of the bus bandwidth.
float algorithm_bus(const Cell& c, float bus) {
  switch (c.algorithm) {
    case Algorithm::ring:
      return ring_bus(c, bus);
    case Algorithm::tree:
      return tree_bus(c, bus);
    case Algorithm::collnet_direct:
    case Algorithm::collnet_chain:
      return collnet_bus(c, bus);
    case Algorithm::pat:
      return scaled(bus, c.since(24) ? .75 : .85);
    case Algorithm::nvls:
    case Algorithm::nvls_tree:
      return bus;
  }
  return bus;
}

/// Returns the message size per byte on the bus for NVLS.
float nvls_ratio(const Cell& c) {
  if (c.since(28)) return static_cast<float>(1.0 * c.job().ranks / c.ring_steps());
  if (c.since(18, 3)) return static_cast<float>(5.0 / 6.0);
  if (c.algorithm == Algorithm::nvls) return .75F;
  return c.job().nodes > 1 ? static_cast<float>(.70 * c.job().nodes / (2 * (c.job().nodes - 1))) : 0.0F;
}

/// Returns the message size per byte on the bus.
float ratio(const Cell& c) {
  if (c.algorithm == Algorithm::ring) return static_cast<float>((1.0 * c.job().ranks) / c.ring_steps());
  if (c.is_nvls()) return nvls_ratio(c);
  if (c.is_gather_or_scatter() && (c.since(23) || c.algorithm == Algorithm::collnet_direct)) return 1;
  return .5F;
}

/// Returns whether the table has a bandwidth for the cell. NCCL 2.7 gave CollNet one wherever its search
/// found channels.
bool has_bandwidth(const Cell& c) {
  const JobFacts& job = c.job();
  if (c.graph.channels == 0) return false;
  if (c.is_collnet() && c.before(8)) return true;
  switch (c.algorithm) {
    case Algorithm::ring:
    case Algorithm::tree:
    case Algorithm::pat:
      return true;
    case Algorithm::collnet_direct:
      return job.collnet && job.nodes > 1 && (job.nvswitch || c.before(14));
    case Algorithm::collnet_chain:
      return job.collnet && job.nodes > 1;
    case Algorithm::nvls:
      return job.min_compute_capability >= 90 && job.nvswitch && (job.nodes == 1 || job.collnet);
    case Algorithm::nvls_tree:
      return job.min_compute_capability >= 90 && job.nvswitch && job.nodes > 1;
  }
  return false;
}

}  // namespace

bool ll128_is_safe(const TuningInput& input, CollectiveOp op, Algorithm algorithm) {
  const JobFacts& job = input.job;
  const GraphResult& graph = graph_of(input, algorithm);
  const auto since = [&](int minor, int patch = 0) { return job.version >= Version{2, minor, patch}; };
  const int cc = job.min_compute_capability;
  if (cc != job.max_compute_capability) return false;
  if (graph.type_intra > (since(18, 3) ? PathClass::nvb : PathClass::nvl)) return false;
  if (graph.type_inter > (since(17) && cc >= 90 ? PathClass::pxn : PathClass::pxb)) return false;
  if (cc == 90 && job.cuda_11_8 && algorithm == Algorithm::ring && op == CollectiveOp::all_reduce &&
      job.ranks == 2)
    return false;
  if (since(27)) return cc >= 70;
  return cc == 70 || cc == 80 || (cc == 90 && since(15)) || ((cc == 100 || cc == 120) && since(25));
}

float algorithm_bandwidth(const TuningInput& input, CollectiveOp op, Algorithm algorithm, Protocol protocol) {
  const Cell cell{input, op, algorithm, protocol, graph_of(input, algorithm)};
  if (!has_bandwidth(cell)) return 0;
  if (protocol == Protocol::ll128 && !ll128_is_safe(input, op, algorithm)) return 0;
  const float bus = within_gpu_limit(cell, static_cast<float>(cell.graph.channels) * channel_speed(cell));
  return algorithm_bus(cell, bus) * ratio(cell);
}

}  // namespace foretrain::nccl
