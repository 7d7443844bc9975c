// The bridge between algorithms (lanes of ranks) and machines (links), used only at chunk level.
//
// Every lane of the algorithm's schedule becomes a connection. Channels with equal paths are folded into one,
// as wide as all of them. This keeps the number of connections small, and the result is exact because such
// channels have equal rates at every moment.
#include "sim/collective/chunk_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "sim/collective/algorithms/catalog.hpp"
#include "sim/collective/nic_use.hpp"
#include "sim/collective/staging.hpp"

namespace foretrain {

namespace {

/// Least number of pieces of a send: sends to several peers take turns on a NIC.
constexpr double kLeastPieces = 16;

/// Builder of a plan. The graph and its capacities grow in `result_`.
class PlanBuilder {
 public:
  PlanBuilder(const Communicator& communicator, const CollectivePlan& plan)
      : communicator_(communicator),
        cluster_(communicator.cluster()),
        job_(communicator.job()),
        plan_(plan),
        nics_(communicator.cluster(), communicator.job()) {
    result_.capacities = cluster_.capacities();
    if (plan.algorithm == nccl::Algorithm::ring) slow_staging();
    result_.graph.ranks = communicator.size();
    places_.resize(static_cast<std::size_t>(communicator.size()));
    for (const nccl::JobNode& node : job_.nodes) {
      const std::vector<int>& gpus = job_.shapes[static_cast<std::size_t>(node.shape)].gpus;
      for (std::size_t i = 0; i < gpus.size(); ++i)
        places_[static_cast<std::size_t>(job_.ranks_of(node)[i])] = {node.node, gpus[i]};
    }
    for (std::size_t n = 0; n < job_.nodes.size(); ++n) node_index_[job_.nodes[n].node] = n;
    step_.protocol = plan.protocol;
    step_.nvlink = communicator.nvlink();
    if (!plan.algorithm) step_.relayed = communicator.send_relay();
    step_.network = communicator.nodes() > 1 ? &cluster_.spec().fabric.link : nullptr;
    step_.costs = &communicator.costs();
    step_.bytes = static_cast<double>(plan.size.count);
    step_.ranks_per_node = static_cast<int>(job_.shapes.front().gpus.size());
    step_.run.channels = std::max(1, plan.channels);
    step_.chunk = plan.chunk;
  }

  ChunkPlan build() {
    if (job_.hosts > 1) {
      result_.problem = "an NVLink domain of several nodes exists as flows only";
    } else if (job_.settings.isolation != nccl::Isolation::none) {
      result_.problem = "ranks that are nodes of their own exist as flows only";
    } else if (!plan_.algorithm) {
      build_peers();
    } else if (*plan_.algorithm == nccl::Algorithm::ring) {
      build_on(nccl::Pattern::ring, AlgorithmFamily::ring);
    } else if (*plan_.algorithm == nccl::Algorithm::tree) {
      build_on(nccl::Pattern::balanced_tree, AlgorithmFamily::double_binary_tree);
    } else if (*plan_.algorithm == nccl::Algorithm::nvls) {
      build_multicast();
    } else {
      result_.problem = fmt::format("{} exists as flows only", plan_.algorithm_name());
    }
    return std::move(result_);
  }

 private:
  /// Reduces the rate of staging links (links of GPUs to themselves) by what both directions share.
  void slow_staging() {
    const double both = both_ways(plan_.op, communicator_.size(), cluster_.spec().node.gpu.staging_share);
    for (std::size_t link = 0; link < result_.capacities.size(); ++link)
      if (cluster_.links()[link].from == cluster_.links()[link].to)
        result_.capacities[link].per_second /= both;
  }

  /// A group of channels on one path per node.
  struct Channel {
    std::size_t path = 0;
    nccl::Pattern pattern = nccl::Pattern::ring;
    /// Share of the message that this group carries.
    double share = 1;
  };

  /// Returns the path of a group of channels in a node.
  const SharedPath& path_in(const Channel& channel, std::size_t node) const {
    const bool ring = channel.pattern == nccl::Pattern::ring;
    const std::size_t path =
        ring ? static_cast<std::size_t>(job_.ring_on(static_cast<int>(channel.path), node)) : channel.path;
    return communicator_.paths(channel.pattern)[static_cast<std::size_t>(job_.nodes[node].shape)][path];
  }

  /// Adds a link for the thread blocks of so many channels. A thread block moves only a given amount of its
  /// channels' data per second, however many edges it has.
  LinkId add_blocks(double channels) {
    const double rate = channels * of(communicator_.costs().channel_rate, plan_.protocol).per_second;
    result_.capacities.push_back({std::max(1.0, rate)});
    return static_cast<LinkId>(result_.capacities.size()) - 1;
  }

  /// Returns the rank on a GPU of a node.
  int rank_at(std::size_t node, int gpu) const {
    const nccl::JobNode& place = job_.nodes[node];
    const std::vector<int>& gpus = job_.shapes[static_cast<std::size_t>(place.shape)].gpus;
    return job_.ranks_of(place)[static_cast<std::size_t>(std::ranges::find(gpus, gpu) - gpus.begin())];
  }

  /// Builds the lanes of the algorithm on each distinct path of the pattern.
  void build_on(nccl::Pattern pattern, AlgorithmFamily family) {
    const Algorithm* algorithm = find_algorithm(plan_.op, family);
    if (algorithm == nullptr)
      return static_cast<void>(result_.problem =
                                   fmt::format("no {} for {}", name_of(family), name_of(plan_.op)));
    const std::size_t paths = communicator_.paths(pattern).front().size();
    for (std::size_t p = 0; p < paths && result_.problem.empty(); ++p) {
      add_channel({p, pattern, communicator_.paths(pattern).front()[p].share}, *algorithm);
    }
  }

  /// Adds the lanes of one group of channels. The order of ranks is that of the path through all nodes.
  void add_channel(const Channel& channel, const Algorithm& algorithm) {
    std::vector<int> order, groups;
    for (std::size_t n = 0; n < job_.nodes.size(); ++n) {
      const std::vector<int>& gpus = path_in(channel, n).path.gpus;
      for (const int gpu : gpus) order.push_back(rank_at(n, gpu));
      groups.push_back(static_cast<int>(gpus.size()));
    }
    // Bytes that this group of channels carries.
    const double data = step_.bytes * channel.share;
    const bool ring_of_parts =
        algorithm.family == AlgorithmFamily::ring && !is_chain(plan_.op);  // cut by ranks, not into pieces
    const double unit = forwarding_unit(step_) * std::max(1, plan_.channels) * channel.share;
    const int pieces =
        ring_of_parts ? 1
                      : static_cast<int>(std::clamp(
                            std::ceil(data / std::max(1.0, unit) / (is_tree(algorithm) ? 2 : 1)), 1.0, 1e6));
    const Lanes lanes = lanes_of(algorithm, {order, 0, pieces, groups});
    add_lanes(lanes, channel, is_tree(algorithm));
  }

  static bool is_tree(const Algorithm& algorithm) {
    return algorithm.family == AlgorithmFamily::double_binary_tree;
  }

  /// Adds a connection for each lane, with its latency and its bytes on the wire.
  void add_lanes(const Lanes& lanes, const Channel& channel, bool tree) {
    if (result_.graph.connections.size() + lanes.lanes.size() > kMostLanes) {
      result_.problem = fmt::format("more than {} lanes", kMostLanes);
      return;
    }
    const std::uint32_t first = static_cast<std::uint32_t>(result_.graph.connections.size());
    for (const Lane& lane : lanes.lanes) {
      const Route route = route_of(lane, channel);
      Connection connection;
      connection.from = static_cast<std::uint32_t>(lane.from),
      connection.to = static_cast<std::uint32_t>(lane.to);
      connection.transfers = static_cast<std::uint32_t>(lane.messages);
      const double data = lanes.message_share(lane) * step_.bytes * channel.share;
      connection.bytes = data * communicator_.wire_bytes(plan_, route);
      const double message =
          data / (channel.share * plan_.channels / (tree ? 2 : 1));  // a channel runs on one of the trees
      connection.latency =
          route.crosses_network ? network_step(step_, message) + route.latency : inner_step(step_, tree);
      add(connection, route, channel, connection.bytes / std::max(1e-9, data),
          std::span(lanes.needs).subspan(lane.first_need, lane.needs), first);
    }
  }

  /// Adds a connection with its links and needs. `wire` is the number of bytes on the wire per byte of data,
  /// because thread blocks count data. `first` is the connection of lane 0.
  void add(const Connection& connection, const Route& route, const Channel& channel, double wire,
           std::span<const LaneNeed> needs, std::uint32_t first) {
    std::vector<Need> after;
    for (const LaneNeed& need : needs) after.push_back({first + need.lane, need.lag});
    std::vector<LinkId> links = route.links;
    const double trees =
        channel.pattern == nccl::Pattern::ring ? 1 : 2;  // half of the channels run on each tree
    links.push_back(add_blocks(channel.share * plan_.channels / trees * wire));
    result_.graph.add(connection, links, after);
  }

  /// Returns the route of a lane. Between nodes its latency is that of the relay alone, because
  /// network_step() contains the proxies and adapters.
  Route route_of(const Lane& lane, const Channel& channel) const {
    const GpuPlace from = places_[static_cast<std::size_t>(lane.from)],
                   to = places_[static_cast<std::size_t>(lane.to)];
    const VertexId a = cluster_.gpu(from.node, from.gpu), b = cluster_.gpu(to.node, to.gpu);
    if (from.node == to.node) return cluster_.route(a, b);
    const nccl::ChannelPath& out = path_in(channel, node_index_.at(from.node)).path;
    const nccl::ChannelPath& in = path_in(channel, node_index_.at(to.node)).path;
    const bool ring = channel.pattern == nccl::Pattern::ring;
    const int leaves_by = std::max(0, ring ? out.nic_out : nic_at(out, from.gpu));
    const NodeExit exit = nics_.of_channel(from, leaves_by);
    Route route = cluster_.route_between_nodes(a, b, leaves_by, std::max(0, nic_at(in, to.gpu)), exit);
    route.latency = exit.relay < 0 ? Time::zero()
                                   : cluster_.route_in_node(a, cluster_.gpu(from.node, exit.relay)).latency;
    return route;
  }

  /// Returns the NIC of a GPU on a path. The second GPU of a tree uses the NIC by which rings leave the node.
  static int nic_at(const nccl::ChannelPath& path, int gpu) {
    return path.gpus.size() > 1 && gpu == path.gpus[1] && path.nic_out >= 0 && gpu != path.gpus.front()
               ? path.nic_out
               : path.nic_in;
  }

  /// Builds the lanes of NVLS on the first node, with the NVSwitch as the place of both switches.
  void build_multicast() {
    const Algorithm* algorithm = find_algorithm(plan_.op, AlgorithmFamily::nvls);
    if (algorithm == nullptr)
      return static_cast<void>(result_.problem = "NVLS has no schedule for this operation");
    const std::span<const int> first = job_.ranks_of(job_.nodes.front());
    const std::vector<int> order(first.begin(), first.end());
    const int pieces = multicast_pieces(step_);
    const Lanes lanes = lanes_of(*algorithm, {order, 0, pieces, {}});
    const VertexId hub = cluster_.nvswitch(job_.nodes.front().node);
    result_.graph.ranks = lanes.ranks + lanes.switches;
    const auto vertex = [&](int rank) {
      return rank >= lanes.ranks ? hub
                                 : cluster_.gpu(places_[static_cast<std::size_t>(rank)].node,
                                                places_[static_cast<std::size_t>(rank)].gpu);
    };
    for (const Lane& lane : lanes.lanes) {
      const Route route = cluster_.route(vertex(lane.from), vertex(lane.to));
      Connection connection;
      connection.from = static_cast<std::uint32_t>(lane.from),
      connection.to = static_cast<std::uint32_t>(lane.to);
      connection.transfers = static_cast<std::uint32_t>(lane.messages);
      connection.bytes = lanes.message_share(lane) * step_.bytes /
                         communicator_.costs().multicast_efficiency / route.collective_efficiency;
      std::vector<Need> after;
      for (const LaneNeed& need : std::span(lanes.needs).subspan(lane.first_need, lane.needs))
        after.push_back({need.lane, need.lag});
      result_.graph.add(connection, route.links, after);
    }
  }

  /// Builds the lanes of sends and receives between peers, nearest receivers first.
  void build_peers() {
    const Algorithm* algorithm = find_algorithm(
        plan_.op, plan_.op == CollectiveOp::sendrecv ? AlgorithmFamily::shift : AlgorithmFamily::direct);
    const std::size_t n = places_.size(), lanes_needed = plan_.op == CollectiveOp::alltoall ? n * (n - 1) : n;
    if (algorithm == nullptr || lanes_needed > kMostLanes)
      return static_cast<void>(result_.problem = fmt::format("more than {} lanes", kMostLanes));
    std::vector<int> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<int>(i);
    const Lanes lanes = lanes_of(*algorithm, {order, 0, 1, {}});
    // NCCL starts with the next rank and not with rank 0.
    std::vector<Lane> turn(lanes.lanes);
    std::ranges::stable_sort(
        turn, {}, [&](const Lane& lane) { return (lane.to - lane.from + lanes.ranks) % lanes.ranks; });
    for (const Lane& lane : turn) add_peer(lane, lanes.message_share(lane) * step_.bytes);
  }

  /// Returns the route of a send to a GPU on another node, by the NICs that NCCL uses for sends.
  Route route_to_peer(GpuPlace from, GpuPlace to) const {
    const NicUse::Send send = nics_.of_send(from, to.gpu);
    return cluster_.route_between_nodes(cluster_.gpu(from.node, from.gpu), cluster_.gpu(to.node, to.gpu),
                                        send.nic, nics_.own_nic(to), send.exit);
  }

  /// Adds the connection of one send. It is cut into pieces, so that sends share the links in turns.
  void add_peer(const Lane& lane, double data) {
    const GpuPlace from = places_[static_cast<std::size_t>(lane.from)],
                   to = places_[static_cast<std::size_t>(lane.to)];
    const VertexId a = cluster_.gpu(from.node, from.gpu), b = cluster_.gpu(to.node, to.gpu);
    const Route route = from.node == to.node ? cluster_.route(a, b) : route_to_peer(from, to);
    Connection connection;
    connection.from = static_cast<std::uint32_t>(lane.from),
    connection.to = static_cast<std::uint32_t>(lane.to);
    const double wire = communicator_.wire_bytes(plan_, route);
    const double pieces =
        std::clamp(std::ceil(data / (route.nvlink_only ? 524288.0 : 131072.0)), kLeastPieces, 1024.0);
    connection.transfers = static_cast<std::uint32_t>(pieces);
    connection.bytes = data * wire / pieces;
    connection.latency =
        plan_.timing.fill + (route.crosses_network ? peer_step(step_, plan_.send) : inner_step(step_, false));
    std::vector<LinkId> links = route.links;
    result_.capacities.push_back({peer_rate(communicator_.costs(), plan_.send).per_second * wire});
    links.push_back(static_cast<LinkId>(result_.capacities.size()) - 1);
    result_.graph.add(connection, links, {});
  }

  const Communicator& communicator_;
  const Cluster& cluster_;
  const nccl::Job& job_;
  const CollectivePlan& plan_;
  NicUse nics_;
  ChunkPlan result_;
  /// GPU of each rank.
  std::vector<GpuPlace> places_;
  /// Index in job_.nodes by number of the node in the cluster.
  std::map<int, std::size_t> node_index_;
  TimingInput step_;
};

}  // namespace

ChunkPlan chunk_plan(const Communicator& communicator, const CollectivePlan& plan) {
  return PlanBuilder(communicator, plan).build();
}

}  // namespace foretrain
